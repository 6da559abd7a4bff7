"""How limits, signals, troubles and proofs are worded: the same in every report."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.limits.shapes import (
    CellLimit,
    Limits,
    Part,
    PartName,
    ProofAnswer,
    Signal,
    Split,
    Sweep,
    Trouble,
)
from diskproof.analysis.limits.words import plain, share
from diskproof.analysis.words import cell_words, listed, subject
from diskproof.report import words
from diskproof.results.factor import Factor

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

OUTCOME_MARKS: dict[str, str] = {"as predicted": "=", "not as predicted": "✕", "open": "?"}
PLAIN_OUTCOME_MARKS: dict[str, str] = {**OUTCOME_MARKS, "not as predicted": "x"}

NOTE = (
    "A limit is named only where two instruments speak for it, each by its own means, and fewer against it; "
    "otherwise it is not established. Bound: the busiest part could serve no more a second. What a change "
    "would do is predicted, not measured."
)

SPLIT_NOTE = (
    "The parts of the mean time, in ms and as shares; empty: none was found. Unexplained: what is left of "
    "the latency; below 0 the parts overlap."
)

SWEEP_NOTE = (
    "Cells that differ in nothing but their clients. Knee: where more clients begin to wait for each other, "
    "the bound times the smallest latency."
)

LAW_NOTE = (
    " One client, contention, coherency, and the number of clients with the most throughput: the Universal "
    "Scalability Law (Gunther 2007), fitted to the throughputs, with its intervals; residual: how far they "
    "lie from it, relatively."
)

PROOF_NOTE = (
    "To prove a limit, one thing was changed that it says will matter, and each changed trial held against "
    "one of the cell as it is. The prediction was made before either was run."
)

MOST_SENTENCES_OPEN = 8
"""A page with more sentences than these folds them away: the table says the same."""

MOST_PARTS = 3
"""Parts of a transaction's time that are named where there is a line for them."""

SMALL_SHARE = 0.01


# ---------------------------------------------------------------- under a verdict


@dataclass(frozen=True)
class HeldBack:
    """A cell of a verdict, by the level that tells it from the other, and its limit."""

    name: str
    limit: CellLimit


def of_verdict(analysis: Analysis, verdict: Verdict) -> list[HeldBack]:
    """Return what holds the two cells of a verdict back; a cell of which nothing is said is left out."""
    if analysis.limits is None:
        return []
    by_cell = {one.cell.id: one for one in analysis.limits.cells}
    sides = ((verdict.level, verdict.cell), (verdict.baseline, verdict.baseline_cell))
    return [
        HeldBack(subject(verdict.factor, level), by_cell[cell]) for level, cell in sides if cell in by_cell
    ]


def under_verdict(analysis: Analysis, verdict: Verdict) -> list[str]:
    """Return a sentence a cell of a verdict: ``disk: bound by the redo log's flush: each commit …``."""
    return [f"{one.name}: {one.limit.sentence}" for one in of_verdict(analysis, verdict)]


Evidence = Literal["all", "of limits", "none"]
"""What a short sentence gives evidence of: of all cells, of those whose limit is named, of none."""


def in_short(analysis: Analysis, verdict: Verdict, evidence: Evidence = "all") -> str:
    """Return what holds both cells of a verdict back in one sentence.

    Nothing where no limit of theirs is established: why not is told elsewhere.
    """
    held = of_verdict(analysis, verdict)
    limits = {one.limit.limit for one in held}
    if limits <= {None}:
        return ""
    if len(limits) == 1 and len(held) > 1:
        return f"Held back: both by {by(held[0].limit)}{_of_both(held) if evidence != 'none' else ''}."
    return f"Held back: {'; '.join(_held(one, evidence) for one in held)}."


def _held(one: HeldBack, evidence: Evidence) -> str:
    if one.limit.limit is None:
        return f"{one.name}: {NOT_ESTABLISHED}{_missing(one.limit) if evidence == 'all' else ''}"
    return f"{one.name} by {by(one.limit)}{_evidence(one.limit) if evidence != 'none' else ''}"


def _missing(cell: CellLimit) -> str:
    why = missing(cell)
    return f": {why}" if why else ""


def unsaid(analysis: Analysis, limits: Limits) -> list[CellLimit]:
    """Return the cells whose sentence stands under no verdict: all of them where there is none."""
    verdicts = analysis.verdicts if words.has_verdict(analysis) else []
    told = {cell for one in verdicts for cell in (one.cell, one.baseline_cell)}
    return [one for one in limits.cells if one.cell.id not in told]


def by(cell: CellLimit) -> str:
    """Return what a cell is held back by, in words that stand in a sentence."""
    return plain(cell.limit) if cell.limit else NOT_ESTABLISHED


def _of_both(held: Sequence[HeldBack]) -> str:
    """Return the evidence of cells with the same limit: once where they have the same."""
    told = {_evidence(one.limit) for one in held}
    if len(told) == 1:
        return told.pop()
    return f": {'; '.join(f'{one.name}{_evidence(one.limit)}' for one in held)}"


def _evidence(cell: CellLimit) -> str:
    """Return a cell's first signal in brackets: others stand in the tables."""
    first = next(iter(cell.supporting), None)
    return f" ({first.says})" if first else ""


# ---------------------------------------------------------------- cells


SIGNALS = 2
"""It takes two instruments to name a limit."""


def named_by(cell: CellLimit) -> str:
    """Return the signals that name a cell's limit, with who says them; nothing where there is none."""
    return "; ".join(signal(one) for one in cell.supporting[:SIGNALS]) if cell.limit else ""


def missing(cell: CellLimit) -> str:
    """Return why a limit is not established, as its sentence says it."""
    return cell.sentence.removeprefix(NOT_ESTABLISHED).removeprefix(": ").removesuffix(".")


def signal(one: Signal) -> str:
    """Return a signal with who says it: ``clients: COMMIT takes 8.1 of 8.7 ms``."""
    return f"{one.instrument}: {one.says}"


def open_cells(limits: Limits) -> list[CellLimit]:
    """Return the cells whose limit is not established."""
    return [one for one in limits.cells if one.limit is None]


def split_title(analysis: Analysis) -> str:
    """Return the heading of all that splits time: a load on bare files has requests, no transactions."""
    return f"Where the time of a {words.work(analysis.plan)} goes"


def parts(split: Split) -> list[tuple[str, float]]:
    """Return the parts of a transaction's time in µs, what is unexplained last."""
    return [*((part.name, part.mean_us) for part in split.parts), (UNEXPLAINED, unexplained_us(split))]


def unexplained_us(split: Split) -> float:
    """Return what no part explains, rounding left aside; below 0 the parts overlap."""
    left = split.unexplained_us
    return 0.0 if abs(left) <= ROUNDING * split.latency_us else left


def main_parts(split: Split | None) -> str:
    """Return the largest parts of a transaction's time: ``log flush 93%, CPU 4%``."""
    if split is None or split.latency_us <= 0:
        return words.NOT_OBSERVED
    shares = [(name, time_us / split.latency_us) for name, time_us in parts(split)]
    largest = sorted((one for one in shares if one[1] >= SMALL_SHARE), key=lambda one: -one[1])
    return ", ".join(f"{name} {share(part)}" for name, part in largest[:MOST_PARTS]) or words.NOT_OBSERVED


def part_names(cells: Sequence[CellLimit]) -> list[PartName]:
    """Return the parts that any of the cells has, in the order in which they are shown."""
    found = {part.name for one in cells if one.split for part in one.split.parts}
    return [name for name in PARTS if name in found]


def part(split: Split, name: str) -> Part | None:
    """Return a part of a transaction's time; None where the cell has none of that name."""
    return next((one for one in split.parts if one.name == name), None)


# ---------------------------------------------------------------- troubles, sweeps, proofs


@dataclass(frozen=True)
class KnownTrouble:
    """A shape of trouble, and what was seen of it in each cell that has it."""

    trouble: Trouble
    seen: tuple[tuple[str, str], ...]
    """Cell in words, and what was seen there."""


def troubles(analysis: Analysis, limits: Limits) -> list[KnownTrouble]:
    """Return each trouble with the cells that have it: the remedy of many cells is said once."""
    grouped: dict[tuple[str, str], list[tuple[CellLimit, Trouble]]] = {}
    for cell in limits.cells:
        for one in cell.troubles:
            grouped.setdefault((one.name, one.remedy), []).append((cell, one))
    return [
        KnownTrouble(found[0][1], tuple((name(analysis, cell), one.says) for cell, one in found))
        for found in grouped.values()
    ]


def where(trouble: KnownTrouble, most: int = 3) -> str:
    """Return the cells that have a trouble."""
    return "; ".join([*(cell for cell, _ in trouble.seen[:most]), *_more(len(trouble.seen) - most)])


def _more(count: int) -> list[str]:
    return [f"{count} more"] if count > 0 else []


def name(analysis: Analysis, cell: CellLimit) -> str:
    """Return a cell in words."""
    return cell_words(cell.cell, analysis.varying)


def sweep_name(analysis: Analysis, sweep: Sweep) -> str:
    """Return what the cells of a sweep have in common."""
    rest: list[Factor] = [factor for factor in analysis.varying if factor != "clients"]
    return cell_words(analysis.plan.cell(sweep.cells[0]), rest)


def proof_name(analysis: Analysis, proof: ProofAnswer) -> str:
    """Return the cell that a proof is about."""
    return cell_words(analysis.plan.cell(proof.cell), analysis.varying)


def predicted(proof: ProofAnswer) -> str:
    """Return a predicted ratio with the band that it was given."""
    band = f"{words.number(proof.predicted_low)} to {words.number(proof.predicted_high)}"
    return f"{words.number(proof.predicted_ratio)} ({band})"


def summary(limits: Limits) -> str:
    """Return how many cells have a limit: ``log flush in 4 cells, CPU in 3; not established in 1``."""
    counted: dict[str, int] = {}
    for one in limits.cells:
        if one.limit:
            counted[one.limit] = counted.get(one.limit, 0) + 1
    told = [f"{limit} in {words.count(number, 'cell')}" for limit, number in counted.items()]
    missing = len(open_cells(limits))
    rest = [f"{NOT_ESTABLISHED} in {words.count(missing, 'cell')}"] if missing else []
    return "; ".join([*([listed(told, len(told))] if told else []), *rest])


def demands_note(analysis: Analysis) -> str:
    """Say what the table of demands holds."""
    return (
        f"What a {words.work(analysis.plan)} keeps each centre busy for (Denning and Buzen 1978), how busy "
        "one of its servers was, and what it could serve; n/a: its demand shrinks with load, as that of a "
        "flush which commits share."
    )


def sweep_note(limits: Limits) -> str:
    """Say what the table of sweeps holds."""
    return SWEEP_NOTE + (LAW_NOTE if any(one.scaling for one in limits.sweeps) else "")
