"""How a limit is said: under a verdict, in a cell, in a split of time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.limits.records import CellLimit, Limits, Part, PartName, Signal, Split, Sweep
from diskproof.report.compose.head import work
from diskproof.report.compose.verdict_words import cell_words, subject
from diskproof.report.document import Line
from diskproof.results.factor import Factor
from diskproof.results.limit import IN_WORDS
from diskproof.wording.numbers import NOT_OBSERVED, count, listed, whole_percent

TITLE = "What holds it back"

NOT_ESTABLISHED = "not established"

UNEXPLAINED = "unexplained"

PARTS: tuple[PartName, ...] = (
    "log flush",
    "data reads",
    "page writes",
    "locks",
    "CPU",
    "waiting for a CPU",
    "load generator",
)
"""In the order in which they are shown: what is waited for, then what is computed."""

ROUNDING = 1e-6
"""Of a latency: parts that differ from it by less add up to it."""

MOST_PARTS = 3
"""Parts of a transaction's time that are named on one line."""

SMALL_SHARE = 0.01

SIGNALS = 2
"""It takes two instruments to name a limit."""


# ---------------------------------------------------------------- under a verdict


@dataclass(frozen=True)
class HeldBack:
    """A cell of a verdict, by the level that tells it from the other, and its limit."""

    name: str
    limit: CellLimit


def under_verdict(analysis: Analysis, verdict: Verdict) -> list[Line]:
    """Return what holds the two cells of a verdict back: a line each, or one line for both on a terminal."""
    held = of_verdict(analysis, verdict)
    lines = [Line(one.limit.sentence.text, lead=one.name, style="plain", only="full") for one in held]
    said = in_short(held)
    return [*lines, *([Line(said, style="plain", only="short")] if said else [])]


def of_verdict(analysis: Analysis, verdict: Verdict) -> list[HeldBack]:
    """Return what holds the two cells of a verdict back; a cell of which nothing is said is left out."""
    if analysis.limits is None:
        return []
    by_cell = {one.cell.id: one for one in analysis.limits.cells}
    sides = ((verdict.level, verdict.cell), (verdict.baseline, verdict.baseline_cell))
    return [
        HeldBack(subject(verdict.factor, level), by_cell[cell]) for level, cell in sides if cell in by_cell
    ]


def in_short(held: Sequence[HeldBack]) -> str:
    """Return what holds both cells of a verdict back in one sentence; empty if no limit is established."""
    said = held_by(held)
    return f"Held back: {said}." if said else ""


def held_by(held: Sequence[HeldBack]) -> str:
    """Return the limits of both cells of a verdict; empty if none is established."""
    limits = {one.limit.limit for one in held}
    if limits <= {None}:
        return ""
    return _both(held) if len(limits) == 1 and len(held) > 1 else "; ".join(map(_held, held))


def _held(one: HeldBack) -> str:
    if one.limit.limit is None:
        why = one.limit.missing.text
        return f"{one.name}: {NOT_ESTABLISHED}{f': {why}' if why else ''}"
    return f"{one.name} by {_by(one.limit)}{_evidence(one.limit)}"


def _by(cell: CellLimit) -> str:
    return IN_WORDS[cell.limit] if cell.limit else NOT_ESTABLISHED


def _both(held: Sequence[HeldBack]) -> str:
    """Return the limit that both cells have, with their evidence: once if they have the same."""
    limit, evidence = _by(held[0].limit), {_evidence(one.limit) for one in held}
    if len(evidence) == 1:
        return f"both by {limit}{evidence.pop()}"
    return f"{' and '.join(f'{one.name}{_evidence(one.limit)}' for one in held)}, both by {limit}"


def _evidence(cell: CellLimit) -> str:
    """Return a cell's first signal in brackets: the tables show the others."""
    first = next(iter(cell.supporting), None)
    return f" ({first.says.text})" if first else ""


# ---------------------------------------------------------------- cells


def summary(limits: Limits) -> str:
    """Return how many cells have which limit: ``log flush in 4 cells; not established in 1 cell``."""
    counted = Counter(one.limit for one in limits.cells if one.limit)
    named = [f"{limit} in {count(number, 'cell')}" for limit, number in counted.items()]
    without = sum(one.limit is None for one in limits.cells)
    rest = [f"{NOT_ESTABLISHED} in {count(without, 'cell')}"] if without else []
    return "; ".join([*([listed(named, len(named))] if named else []), *rest])


def named_by(cell: CellLimit) -> str:
    """Return the signals that name a cell's limit, each with its instrument; empty if there is none."""
    return "; ".join(signal(one) for one in cell.supporting[:SIGNALS]) if cell.limit else ""


def signal(one: Signal) -> str:
    """Return a signal with its instrument: ``clients: COMMIT takes 8.1 of 8.7 ms``."""
    return f"{one.instrument}: {one.says.text}"


def name(analysis: Analysis, cell: CellLimit) -> str:
    """Return a cell in words."""
    return cell_words(cell.cell, analysis.varying)


def sweep_name(analysis: Analysis, sweep: Sweep) -> str:
    """Return what the cells of a sweep have in common."""
    rest: list[Factor] = [factor for factor in analysis.varying if factor != "clients"]
    return cell_words(analysis.plan.cell(sweep.cells[0]), rest)


# ---------------------------------------------------------------- time in parts


def split_title(analysis: Analysis) -> str:
    """Return the heading of all that splits time: a load on bare files has requests, no transactions."""
    return f"Where the time of a {work(analysis.plan)} goes"


def parts(split: Split) -> list[tuple[str, float]]:
    """Return the parts of a transaction's time in µs, what is unexplained last."""
    return [*((part.name, part.mean_us) for part in split.parts), (UNEXPLAINED, unexplained_us(split))]


def unexplained_us(split: Split) -> float:
    """Return what no part explains, without rounding errors; below 0 the parts overlap."""
    left = split.unexplained_us
    return 0.0 if abs(left) <= ROUNDING * split.latency_us else left


def main_parts(split: Split | None) -> str:
    """Return the largest parts of a transaction's time: ``log flush 93%, CPU 4%``."""
    if split is None or split.latency_us <= 0:
        return NOT_OBSERVED
    shares = [(name, time_us / split.latency_us) for name, time_us in parts(split)]
    largest = sorted((one for one in shares if one[1] >= SMALL_SHARE), key=lambda one: -one[1])
    return ", ".join(f"{name} {whole_percent(part)}" for name, part in largest[:MOST_PARTS]) or NOT_OBSERVED


def part_names(cells: Sequence[CellLimit]) -> list[PartName]:
    """Return the parts that any of the cells has, in the order in which they are shown."""
    found = {part.name for one in cells if one.split for part in one.split.parts}
    return [name for name in PARTS if name in found]


def part(split: Split, name: str) -> Part | None:
    """Return a part of a transaction's time; None if the cell has none of that name."""
    return next((one for one in split.parts if one.name == name), None)
