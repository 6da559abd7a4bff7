"""Conditions that the second of two runs must keep to, for scripts and continuous integration."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from diskproof.analysis.answers import Analysis, CellComparison, FailedCondition, Unkept
from diskproof.analysis.safety.shapes import CutComparison, LossOutcome
from diskproof.analysis.thresholds import figures_of
from diskproof.stats.intervals import Interval
from diskproof.study.condition import Condition

WORSE: tuple[LossOutcome, ...] = ("suffers more often", "damaged more often")


@dataclass(frozen=True)
class Demand:
    """What makes `compare` fail; `ratio` is each cell's speed in the second run over that in the first."""

    words: str
    """As the user gave it: ``--fail-if slower``."""
    about: Condition | Literal["slower", "losing-more"]
    must_hold: bool = False
    """True: it fails unless the condition is shown. False: it fails if it is shown."""


def failed_conditions(
    demands: Sequence[Demand],
    cells: Sequence[CellComparison],
    cuts: Sequence[CutComparison],
    second: Analysis,
) -> Iterator[FailedCondition]:
    """Yield each condition with each cell that fails it; what cannot be compared fails."""
    for one in demands:
        if one.about == "losing-more":
            yield from _failing_cuts(one, cuts)
            continue
        why: Unkept = "not comparable"
        if one.about == "slower" or one.about.figure == "ratio":
            found = _speeds(one, cells)
        else:
            why, known = "not observed", figures_of(one.about, second)
            found = [(cell, figure, one.about.is_shown(figure) != one.must_hold) for cell, figure in known]
        for cell, figure, fails in found:
            if figure is None:
                yield FailedCondition(condition=one.words, cell=cell, why=why)
            elif fails:
                yield FailedCondition(condition=one.words, cell=cell, why="beyond", found=figure)
        if not found:
            yield FailedCondition(condition=one.words, cell=None, why="no such cell")


def _speeds(one: Demand, cells: Sequence[CellComparison]) -> list[tuple[str, Interval | None, bool]]:
    """Return the id of each cell that is meant, its ratio, and whether that makes `compare` fail."""
    return [
        (
            cell.cell.id,
            cell.ratio,
            cell.outcome == "slower"
            if isinstance(one.about, str)
            else one.about.is_shown(cell.ratio) != one.must_hold,
        )
        for cell in cells
        if isinstance(one.about, str) or one.about.concerns(cell.cell)
    ]


def _failing_cuts(one: Demand, cuts: Sequence[CutComparison]) -> Iterator[FailedCondition]:
    if not cuts:
        yield FailedCondition(condition=one.words, cell=None, why="no such cell")
    for cut in cuts:
        if cut.outcome in WORSE or cut.outcome == "not comparable":
            yield FailedCondition(condition=one.words, cell=f"{cut.cell.id}, {cut.way}", why=cut.outcome)
