"""Checks of throughput over time: stalls that an average hides, and measuring before it had settled."""

import statistics
from collections.abc import Iterator, Sequence

from diskproof.audit.check import Evidence, NothingToCheckError, Said, Untold, check, note, warning
from diskproof.results.record import recorded
from diskproof.stats.series import batch_mean, mser5
from diskproof.wording import per_s, say, seconds, share

SERIES_BINS = 20
"""What MSER-5 needs: four batches of five."""

FEWEST_INTERVALS = 5
"""Of fewer, the worst and the scatter say nothing. A judgement."""

FEWEST_EACH = 20
"""Of fewer transactions an interval, chance alone makes some intervals poor (Poisson, 1/sqrt(20) = 22 %)."""

SCATTER = 0.3
"""Coefficient of variation above which the mean describes few of the intervals. A judgement: of a normal
distribution a third is then more than 30% away from it."""

WORST = 0.5
"""Share of the median below which the worst interval is named. A judgement, and only a note."""

BRIEF_S = 30.0
"""Linux writes a page back 30 s after it was changed (vm.dirty_expire_centisecs): a shorter run may
never have waited for the disk."""


@check(
    "steady",
    reason="The mean of a series that still rises or falls depends on when it was measured.",
    remedy="a longer `warm_up_s`, then a longer `measure_s`, in `[design]` or the workload's own table",
    source="White, Cobb and Spratt, WSC 2000 (MSER-5); Barrett et al., OOPSLA 2017",
    elsewhere="warm up for longer and do not count it, then measure for longer",
)
def steady(evidence: Evidence) -> Iterator[Said]:
    """Find throughput that had not settled when the measured phase began, or never did."""
    load, series = evidence.steady_load, evidence.throughputs_per_s
    if len(series) < SERIES_BINS:
        yield untold_intervals(series, SERIES_BINS)
        return
    cut = mser5(series)
    # MSER-5 always cuts somewhere; what counts is whether the two sides of the cut really differ.
    at = cut.cut_bins if cut.steady else len(series) // 2
    if at < 2:
        return
    before, after = statistics.fmean(series[:at]), statistics.fmean(series[at:])
    if before <= 0 or after <= 0:
        return
    change, usual = after / before - 1, (load.transactions_per_s or before) if cut.steady else before
    if abs(after / usual - 1) <= evidence.plan.same_within or not _apart(series[:at], series[at:]):
        return
    if cut.steady:
        bin_s = evidence.interval_s or load.known_seconds / len(series)
        yield warning(
            "the warm-up was {time} too short: throughput changes by {change:+.0f} after the first {time} of "
            "the measured phase",
            say(
                "`warm_up_s = {least:most}` or more in `{table}`",
                least=evidence.plan.phases_of(evidence.cell).warm_up_s + at * bin_s,
                table=evidence.table,
            ),
            time=seconds(at * bin_s),
            change=share(change),
        )
    else:
        yield warning(
            "throughput never became steady: it changes by {change:+.0f} from the first half of the measured "
            "phase to the second",
            change=share(change),
        )


def _apart(before: Sequence[float], after: Sequence[float]) -> bool:
    """Tell whether two parts of a series differ by more than their scatter."""
    one, other = batch_mean(before), batch_mean(after)
    return abs(other.mean - one.mean) > one.half_width + other.half_width


def untold_intervals(series: Sequence[float], needed: int) -> Untold:
    """Return what is missing of a course over time: all of it, or more intervals than there are."""
    if not series:
        return Untold("throughput in intervals")
    return Untold(
        "{needed} intervals of throughput (there {there:is|are} {there})", needed=needed, there=len(series)
    )


@check(
    "stalls",
    reason="An average over stalls describes no service that a user saw: most of the time it was faster, and "
    "sometimes it stood still.",
    remedy="show the intervals and the worst of them beside the mean; look for checkpoints, flushes of a "
    "full cache, garbage collection of the disk",
    source="Callaghan's worst interval; Schwartz, on throughput stalls in InnoDB; coefficient of variation",
)
def stalls(evidence: Evidence) -> Iterator[Said]:
    """Find intervals of nothing or of little."""
    load = evidence.steady_load
    series = evidence.throughputs_per_s
    if len(series) < FEWEST_INTERVALS:
        yield untold_intervals(series, FEWEST_INTERVALS)
        return
    mean, median = statistics.fmean(series), statistics.median(series)
    interval_s = evidence.interval_s or load.known_seconds / len(series)
    if mean * interval_s < FEWEST_EACH:
        raise NothingToCheckError("too few transactions an interval to tell a stall from chance")
    scatter, nothing = statistics.pstdev(series) / mean, sum(rate == 0 for rate in series)
    if nothing:
        yield warning(
            "in {none} of {intervals} intervals of {each} nothing completed, at a mean of {mean}",
            none=nothing,
            intervals=len(series),
            each=seconds(interval_s),
            mean=per_s(mean),
        )
    if scatter > SCATTER:
        yield warning(
            "the intervals scatter by {share} of their mean ({mean}): from {low} to {high}",
            share=share(scatter),
            mean=per_s(mean),
            low=per_s(min(series)),
            high=per_s(max(series)),
        )
    elif not nothing and min(series) < WORST * median:
        yield note(
            "the worst of {intervals} intervals had {worst}, the median {median}",
            intervals=len(series),
            worst=per_s(min(series)),
            median=per_s(median),
        )


@check(
    "warm-up",
    reason="A measurement from the start includes reading the data and filling the caches, which ends sooner "
    "on the faster disk.",
    remedy="a warm-up that is not counted, or interval lines that show when throughput settled, and a "
    "measurement several times as long",
    source="Barrett et al., Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017",
)
def warm_up(evidence: Evidence) -> Iterator[Said]:
    """Find a short measurement without a warm-up."""
    load = evidence.steady_load
    if not evidence.imported:
        if not evidence.plan.phases_of(evidence.cell).warm_up_s:
            yield note("no warm-up was asked for")
        return
    if evidence.result and evidence.result.warm_up_s:
        return
    measured_s = recorded(load.seconds, "a warm-up")
    if measured_s < BRIEF_S:
        yield warning("{time} were measured, and no warm-up is recorded", time=seconds(measured_s))
    elif len(evidence.throughputs_per_s) < SERIES_BINS:  # else `steady` tells
        yield Untold("a warm-up")
