"""The length of trials, chosen from the warm-up and the scatter of a pilot."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from diskproof.results.plan import THROUGHPUTS, Pilot, Plan
from diskproof.results.trial import Trial
from diskproof.stats.grouping import grouped
from diskproof.stats.scatter import Observed, Scatter, scatter_of, second_variance
from diskproof.stats.sequential import blocks_for_precision
from diskproof.stats.series import MSER_BATCH, batch_mean, mser5

LENGTHS_S = (2, 3, 4, 5, 7, 10, 15, 20, 30, 45, 60)
"""Lengths of a measurement to choose from. Longer ones are for effects that come late, and the user's."""

UNKNOWN_S = 10.0
"""A measurement if the scatter within trials is not known, as for a latency at a given rate."""

SHORTEST_WARM_UP_S = 1.0
"""Connections and caches need a moment, even if no series shows it."""

FEWEST_BLOCKS = 5


@dataclass(frozen=True)
class Settled:
    """One trial of the pilot from where its throughput has settled."""

    settled_s: float | None
    """Seconds of load before; None: it never settled."""
    rest: Sequence[float]
    rest_s: float


def settle(series: Sequence[float], load_s: float) -> Settled:
    """Return where a series settles: at MSER-5's cut, if both sides of it differ beyond chance."""
    if len(series) < 4 * MSER_BATCH:
        return Settled(0.0, series, load_s)
    # MSER-5 of 20 bins cuts at half at the latest: such a cut says that the rest may still change.
    at = min(mser5(series).cut_bins, len(series) // 2)
    if at < 2:
        return Settled(0.0, series, load_s)
    before, after = batch_mean(series[:at]), batch_mean(series[at:])
    if abs(after.mean - before.mean) <= before.half_width + after.half_width:
        return Settled(0.0, series, load_s)
    bin_s = load_s / len(series)
    return Settled(at * bin_s if at < len(series) // 2 else None, series[at:], load_s - at * bin_s)


def has_settled(trials: Sequence[Trial], series: Mapping[str, Sequence[float]]) -> bool:
    """Tell whether all finished trials settled while they were under load."""
    timed = [(trial, trial.timings.measure_s) for trial in trials if trial.timings]
    return all(settle(series.get(trial.id, ()), load_s).settled_s is not None for trial, load_s in timed)


def choose_lengths(plan: Plan, trials: Sequence[Trial], series: Mapping[str, Sequence[float]]) -> Pilot:
    """Return the lengths with which the plan's precision is probably reached soonest.

    The warm-up is that of the slowest cell, as the median over its trials. The measurement is the one of
    LENGTHS_S with which the needed blocks take least time. They follow from the nested model
    (`stats/scatter.py`) and the width of anytime-valid intervals.
    """
    settled = {
        trial.id: settle(series.get(trial.id, ()), trial.timings.measure_s)
        for trial in trials
        if trial.timings
    }
    load_s = max((trial.timings.measure_s for trial in trials if trial.timings), default=0.0)
    settled_s = _slowest([(trial.cell, settled[trial.id].settled_s) for trial in trials])
    warm_up_s = load_s if settled_s is None else math.ceil(settled_s * 2) / 2
    warm_up_s = max(warm_up_s, SHORTEST_WARM_UP_S)
    if "warm_up_s" not in plan.left_to_a_pilot:
        warm_up_s = plan.warm_up_s
    start_s = _mean([trial.timings.total_s - trial.timings.measure_s for trial in trials if trial.timings])
    scatter = scatter_of([_observed(plan, trial, settled[trial.id], start_s + warm_up_s) for trial in trials])
    left_s = (plan.at_most_s or math.inf) - sum(trial.took_s for trial in trials)
    measure_s = plan.measure_s
    if "measure_s" in plan.left_to_a_pilot:
        measure_s = _soonest(plan, scatter, start_s + warm_up_s, left_s)
    blocks = None if scatter is None else _blocks(plan, scatter, measure_s)
    return Pilot(
        trials=len(trials),
        load_s=load_s,
        settled_s=settled_s,
        start=math.sqrt(scatter.start) if scatter else 0.0,
        second=math.sqrt(scatter.second) if scatter and scatter.second is not None else None,
        start_s=start_s,
        warm_up_s=warm_up_s,
        measure_s=measure_s,
        blocks=blocks,
    )


def _soonest(plan: Plan, scatter: Scatter | None, start_s: float, left_s: float) -> float:
    """Return the length with which the precision takes least time, of those with which the blocks fit."""
    if scatter is None or scatter.second is None:
        return UNKNOWN_S
    fit = [one for one in LENGTHS_S if FEWEST_BLOCKS * len(plan.cells) * (start_s + one) <= left_s]

    def takes_s(measure_s: float) -> float:
        blocks = _blocks(plan, scatter, measure_s)
        return math.inf if blocks is None else blocks * (start_s + measure_s)

    # If none reaches it, the one that gets nearest: asymptotically the best of all lengths.
    best = min(fit, key=takes_s, default=float(LENGTHS_S[0]))
    if math.isinf(takes_s(best)) and fit:
        return float(min(fit, key=lambda one: scatter.trial(one) * (start_s + one)))
    return float(best)


def _blocks(plan: Plan, scatter: Scatter, measure_s: float) -> int | None:
    """Return the blocks that bring a ratio of two cells within the precision."""
    assert plan.precision is not None
    found = blocks_for_precision(math.sqrt(2 * scatter.trial(measure_s)), plan.precision)
    return None if found is None else max(found, FEWEST_BLOCKS)


def _observed(plan: Plan, trial: Trial, settled: Settled, start_s: float) -> Observed:
    assert trial.load is not None
    metric = plan.metric(plan.cell(trial.cell))
    is_rate = metric in THROUGHPUTS
    speed = _mean(settled.rest) if is_rate and settled.rest else trial.load.speed(metric)
    return Observed(
        cell=trial.cell,
        block=trial.block,
        speed=speed or 1.0,
        measure_s=settled.rest_s,
        start_s=start_s,
        second=second_variance(settled.rest, settled.rest_s) if is_rate else None,
    )


def _slowest(settled: Sequence[tuple[str, float | None]]) -> float | None:
    """Return when the slowest cell settles, each by its median; None if one does not."""
    times = [
        median(math.inf if one is None else one for _, one in of_cell)
        for of_cell in grouped(settled, lambda one: one[0]).values()
    ]
    slowest = max(times, default=0.0)
    return None if math.isinf(slowest) else slowest


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
