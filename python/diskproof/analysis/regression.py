"""Conditions that the second of two runs must keep to, for scripts and continuous integration."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from diskproof.analysis.answers import Analysis, CellComparison, FailedCondition, Unkept
from diskproof.analysis.safety.shapes import CutComparison, LossOutcome
from diskproof.analysis.thresholds import failed_thresholds, is_within
from diskproof.study.threshold import Threshold, ThresholdFigure

Regression = Literal["slower", "losing-more"]

WORSE: tuple[LossOutcome, ...] = ("suffers more often", "damaged more often")


@dataclass(frozen=True)
class Condition:
    """One condition.

    A regression fails if it is shown. A bound fails unless the whole interval is shown to keep to it, as
    that of a study's threshold.
    """

    words: str
    """As the user gave it: ``--fail-if slower=5%``."""
    about: Regression | ThresholdFigure
    """``ratio`` is the speed of each cell of the second run over that of the first; other figures are those
    of the second run's cells."""
    at_least: float | None = None
    """``slower`` fails if the whole interval of the ratio is below this; None: if it is a cell's outcome."""
    at_most: float | None = None


def failed_conditions(
    conditions: Sequence[Condition],
    cells: Sequence[CellComparison],
    cuts: Sequence[CutComparison],
    second: Analysis,
) -> Iterator[FailedCondition]:
    """Yield each condition with each cell that fails it; what cannot be compared fails."""
    for one in conditions:
        match one.about:
            case "slower" | "ratio":
                yield from _failing_cells(one, cells)
            case "losing-more":
                yield from _failing_cuts(one, cuts)
            case figure:
                claim = Threshold(figure=figure, at_least=one.at_least, at_most=one.at_most)
                for failed in failed_thresholds([claim], second):
                    why: Unkept = "no such cell" if failed.cell is None else "not observed"
                    yield FailedCondition(
                        condition=one.words,
                        cell=failed.cell,
                        why=why if failed.found is None else "beyond",
                        found=failed.found,
                    )


def _failing_cells(one: Condition, cells: Sequence[CellComparison]) -> Iterator[FailedCondition]:
    if not cells:
        yield FailedCondition(condition=one.words, cell=None, why="no such cell")
    for cell in cells:
        why: Unkept | None = None
        if cell.ratio is None:
            why = "not comparable"
        elif _is_beyond(one, cell):
            why = "beyond"
        if why:
            yield FailedCondition(condition=one.words, cell=cell.cell.id, why=why, found=cell.ratio)


def _is_beyond(one: Condition, cell: CellComparison) -> bool:
    if one.about == "ratio":
        return not is_within(cell.ratio, one.at_least, one.at_most)
    if one.at_least is None or cell.outcome != "slower":
        return cell.outcome == "slower"
    assert cell.ratio is not None  # it is slower
    return cell.ratio.high is not None and cell.ratio.high < one.at_least


def _failing_cuts(one: Condition, cuts: Sequence[CutComparison]) -> Iterator[FailedCondition]:
    if not cuts:
        yield FailedCondition(condition=one.words, cell=None, why="no such cell")
    for cut in cuts:
        if cut.outcome in WORSE or cut.outcome == "not comparable":
            yield FailedCondition(condition=one.words, cell=f"{cut.cell.id}, {cut.way}", why=cut.outcome)
