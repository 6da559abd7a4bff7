"""A run that is under way: what its trials say so far, from what is cheap to know of each.

A run's own analysis audits all trials at once, with their series, and takes seconds. This one runs beside
trials: each is looked at once, and the intervals are made of its figure.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Outcome
from diskproof.analysis.gather import ratio_of
from diskproof.analysis.verdicts import FEWEST_PAIRS, decide
from diskproof.audit.check import Evidence
from diskproof.audit.registry import all_findings
from diskproof.audit.run import compared_pairs
from diskproof.results.factor import Factor
from diskproof.results.machine import Machine
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Trial
from diskproof.stats.intervals import Interval, geometric_mean_interval
from diskproof.stats.multiple import adjusted


@dataclass(frozen=True)
class Looked:
    """What is known of one trial."""

    cell: str
    block: int
    figure: float | None
    """In the unit of its cell's metric; None if it is invalid."""
    speed: float | None
    took_s: float
    finished: bool


@dataclass(frozen=True)
class CellSoFar:
    """One cell."""

    cell: Cell
    figure: Interval | None
    made: int
    counting: int
    planned: int


@dataclass(frozen=True)
class PairSoFar:
    """Two cells that differ in one factor."""

    factor: Factor
    baseline: Cell
    cell: Cell
    ratio: Interval | None
    outcome: Outcome


def look(trial: Trial, plan: Plan, machine: Machine | None) -> Looked:
    """Look at one trial; its series is left alone, so no check that needs it says anything."""
    cell = plan.cell(trial.cell)
    found = all_findings(Evidence(trial, cell, plan, machine))
    counts = trial.finished and not any(one.severity == "invalid" for one in found)
    load, metric = trial.load if counts else None, plan.metric(cell)
    figure, speed = (load.figure(metric), load.speed(metric)) if load else (None, None)
    return Looked(trial.cell, trial.block, _positive(figure), _positive(speed), trial.took_s, trial.finished)


def cells(plan: Plan, looked: Iterable[Looked]) -> list[CellSoFar]:
    """Return each cell with its trials so far."""
    of_cell: dict[str, list[Looked]] = {cell.id: [] for cell in plan.cells}
    for one in looked:
        of_cell[one.cell].append(one)
    planned = [trial.cell for trial in plan.trials]
    return [
        CellSoFar(
            cell,
            geometric_mean_interval(known) if known else None,
            len(of_cell[cell.id]),
            len(known),
            planned.count(cell.id),
        )
        for cell in plan.cells
        for known in [[one.figure for one in of_cell[cell.id] if one.figure]]
    ]


def pairs(plan: Plan, looked: Sequence[Looked]) -> list[PairSoFar]:
    """Return the comparisons that the study asks for, as its verdicts would be if it ended now."""
    speeds: dict[str, dict[int, float]] = {cell.id: {} for cell in plan.cells}
    for one in looked:
        if one.speed:
            speeds[one.cell][one.block] = one.speed
    compared = compared_pairs(plan.cells)
    tests = [
        ratio_of(plan, speeds[cell.id], speeds[baseline.id], on_one_host=factor != "host")
        for factor, baseline, cell in compared
    ]
    found = []
    for (factor, baseline, cell), test, p in zip(compared, tests, adjusted(tests), strict=True):
        enough = test is not None and test.interval.n >= FEWEST_PAIRS
        outcome = decide(test.interval, p, plan.same_within) if test and enough else "inconclusive"
        found.append(PairSoFar(factor, baseline, cell, test.interval if test else None, outcome))
    return found


def _positive(value: float | None) -> float | None:
    """Return a figure that has a logarithm; a damaged record may hold any."""
    return value if value is not None and 0 < value < math.inf else None
