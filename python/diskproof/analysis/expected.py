"""The time and the precision of a planned run, predicted from the scatter of an earlier one."""

import math
from collections.abc import Iterator

from diskproof.analysis.gather import Gathered
from diskproof.analysis.scatter import HARDLY_S, scatter_of_pair
from diskproof.audit.run import compared_pairs
from diskproof.results.plan import Cell, Plan
from diskproof.results.record import Record
from diskproof.stats.distributions import special
from diskproof.stats.intervals import CONFIDENCE, RatioTest
from diskproof.stats.scatter import Scatter
from diskproof.stats.sequential import blocks_for_precision, blocks_needed_at_any_time


class Expected(Record):
    """The prediction for a plan."""

    pairs: int
    """Pairs of cells that the earlier run has, too."""
    hopeless: int
    """Pairs that need more than 12 hours; the time leaves them out."""
    seconds: float
    """Time of all trials until the others are decided or precise; of a fixed plan, of its blocks."""
    precision: float
    """How well the ratio that scatters most is known with the first blocks: 0.04 is 4%, up or down."""


def expect(plan: Plan, earlier: Gathered) -> Expected | None:
    """Return what a plan will probably come to; None if the earlier run has no two cells of it."""
    planned = len(plan.blocks())
    blocks: dict[str, int] = {}
    costs: dict[str, float] = {}
    widest, pairs, hopeless = 0.0, 0, 0
    lengths = earlier.plan if plan.left_to_a_pilot else plan
    for pair, test, scatter in _known_pairs(plan, earlier):
        pairs += 1
        variance = sum(scatter.trial(lengths.phases_of(cell).measure_s) for cell in pair)
        widest = max(widest, _half_width(plan, math.sqrt(variance), planned))
        for cell in pair:
            costs[cell.id] = _trial_s(scatter, lengths, earlier.plan, cell)
            blocks.setdefault(cell.id, planned)
        needed = _needed(plan, test, math.sqrt(variance), len(compared_pairs(plan.cells)))
        if needed is None or needed * sum(costs[cell.id] for cell in pair) > HARDLY_S:
            hopeless += 1
            continue
        for cell in pair:
            blocks[cell.id] = max(blocks[cell.id], needed)
    if not pairs:
        return None
    seconds = sum(costs[cell] * count for cell, count in blocks.items())
    return Expected(pairs=pairs, hopeless=hopeless, seconds=seconds, precision=widest)


def _known_pairs(plan: Plan, earlier: Gathered) -> Iterator[tuple[tuple[Cell, Cell], RatioTest, Scatter]]:
    """Yield the pairs of the plan that the earlier run compared, with what it found."""
    known = {cell.id for cell in earlier.plan.cells}
    for _, baseline, cell in compared_pairs(plan.cells):
        if {baseline.id, cell.id} <= known:
            speeds = earlier.speeds(cell), earlier.speeds(baseline)
            test = earlier.ratio(*speeds, on_one_host=cell.host == baseline.host)
            scatter = scatter_of_pair(earlier, (baseline, cell), test) if test else None
            if test is not None and scatter is not None:
                yield (baseline, cell), test, scatter


def _needed(plan: Plan, test: RatioTest, log_deviation: float, comparisons: int) -> int | None:
    """Return the blocks after which the run probably ends for a pair; a fixed plan has its own."""
    if plan.at_most_s is None:
        return len(plan.blocks())
    if plan.precision is not None:
        return blocks_for_precision(log_deviation, plan.precision)
    return blocks_needed_at_any_time(test.interval.estimate, log_deviation, plan.same_within, comparisons)


def _half_width(plan: Plan, log_deviation: float, blocks: int) -> float:
    if plan.at_most_s is not None or blocks < 2:
        return 0.0
    t = float(special().stdtrit(blocks - 1, (1 + CONFIDENCE) / 2))
    return math.expm1(min(t * log_deviation / math.sqrt(blocks), 10.0))


def _trial_s(scatter: Scatter, lengths: Plan, earlier: Plan, cell: Cell) -> float:
    """Return what a trial takes, with the plan's own lengths."""
    phases, before = lengths.phases_of(cell), earlier.phases_of(cell)
    return max(scatter.start_s - before.warm_up_s, 0.0) + phases.warm_up_s + phases.measure_s
