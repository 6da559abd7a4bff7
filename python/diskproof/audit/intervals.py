"""Checks of a course over time: stalls that an average hides, and what was measured before it had settled."""

import statistics
from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.audit.load import NO_STEADY_LOAD, untold_intervals
from diskproof.results.record import format_figure, recorded

FEWEST_INTERVALS = 5
"""Of fewer, a worst one and a scatter tell nothing. A judgement."""

FEWEST_EACH = 20
"""Of fewer transactions an interval, chance alone makes some intervals poor (Poisson, 1/sqrt(20) = 22 %)."""

SCATTER = 0.3
"""Coefficient of variation from which the mean of the intervals describes few of them. A judgement: of a
normal distribution a third then lies farther than 30 % from it."""

STALL_US = 100_000.0
"""What is over sooner is slow, and no stall that a user would notice (Nielsen, Usability Engineering, 1993:
0.1 s is felt as at once)."""

WORST = 0.5
"""Share of the median below which the worst interval is named. A judgement; it is a note alone."""

FAR_TAIL = 50.0
"""Times the 95th percentile from which the slowest transaction stands for a stall. A judgement: an
exponential distribution reaches it once in e^150."""

WHOLE = 0.9
"""Share of the measured time that interval lines must cover to be held against the summary. A judgement."""

SUMMARY_TOLERANCE = 0.05
"""Share by which their mean may differ from the summary's: first and last line are cut. A judgement."""

BRIEF_S = 60.0
"""Caches fill, checkpoints begin and disks' write caches run full in minutes: what is shorter, and not warmed
up, is mostly a beginning."""


@check(
    "stalls",
    reason="An average over stalls describes a service that nobody met: it was faster most of the time, and "
    "stood still in between.",
    remedy="show the intervals and the worst of them beside the mean; look for checkpoints, flushes of a "
    "full cache, garbage collection of the disk",
    source="Callaghan's worst interval; Schwartz, on throughput stalls in InnoDB; coefficient of variation",
)
def stalls(evidence: Evidence) -> Iterator[Said]:
    """Find intervals of nothing or of little; without intervals, a maximum far beyond the percentiles."""
    if evidence.metric == "seconds" or evidence.one_pass:
        yield NO_STEADY_LOAD
        return
    series = evidence.throughputs_per_s
    if len(series) < FEWEST_INTERVALS:
        yield from _far_tail(evidence)
        yield untold_intervals(series, FEWEST_INTERVALS)
        return
    mean, median = statistics.fmean(series), statistics.median(series)
    interval_s = evidence.interval_s or evidence.load.known_seconds / len(series)
    if mean * interval_s < FEWEST_EACH:
        yield Apart("too few transactions an interval to tell a stall from chance")
        return
    scatter, nothing = statistics.pstdev(series) / mean, sum(rate == 0 for rate in series)
    if nothing:
        yield Problem(
            "warning",
            f"in {nothing} of {len(series)} intervals of {interval_s:.3g} s nothing completed, at a mean of "
            f"{format_figure(mean)}/s",
        )
    if scatter > SCATTER:
        yield Problem(
            "warning",
            f"the intervals scatter by {scatter:.0%} of their mean ({format_figure(mean)}/s): from "
            f"{format_figure(min(series))} to {format_figure(max(series))}/s",
        )
    elif not nothing and min(series) < WORST * median:
        yield Problem(
            "note",
            f"the worst of {len(series)} intervals had {format_figure(min(series))}/s, the "
            f"median {format_figure(median)}/s",
        )


def _far_tail(evidence: Evidence) -> Iterator[Problem]:
    latency = evidence.load.latency_us
    p95 = latency.percentiles.get("95") if latency else None
    if latency and p95 and latency.max is not None and latency.max > max(FAR_TAIL * p95, STALL_US):
        yield Problem(
            "warning",
            f"the slowest took {format_figure(latency.max / 1000)} ms, {latency.max / p95:.0f} times the "
            f"95th "
            f"percentile ({format_figure(p95 / 1000)} ms): for that long a client stood still",
        )


@check(
    "interval-sum",
    reason="The lines of the intervals and the summary tell of the same run: where their means differ, one "
    "of them is of another.",
    remedy="take both from one run; count the intervals of the warm-up to neither or to both",
    source="arithmetic: the mean of equal intervals is that of the whole",
)
def interval_sum(evidence: Evidence) -> Iterator[Said]:
    """Find interval lines whose mean is not the summary's, where they cover nearly all of it."""
    if evidence.metric == "seconds":
        yield NO_STEADY_LOAD
        return
    series, load = evidence.throughputs_per_s, evidence.load
    if load.file_requests and not evidence.imported:
        yield Apart("the lines of fio's own log are of unequal intervals")
        return
    if len(series) < FEWEST_INTERVALS:
        yield untold_intervals(series, FEWEST_INTERVALS)
        return
    seconds = load.known_seconds
    interval_s = evidence.interval_s or seconds / len(series)
    covered = len(series) * interval_s / seconds if seconds > 0 else 0.0
    if not WHOLE <= covered <= 2 - WHOLE:
        yield Apart("the intervals are of a part of the run, or of more than it")
        return
    mean = statistics.fmean(series)
    off = mean / load.transactions_per_s - 1 if load.transactions_per_s else 0.0
    if abs(off) > SUMMARY_TOLERANCE + abs(1 - covered):
        yield Problem(
            "warning",
            f"{len(series)} intervals of {interval_s:.3g} s have a mean of {format_figure(mean)}/s, and the "
            f"summary {format_figure(load.transactions_per_s)}/s: {off:+.1%}",
        )


@check(
    "warm-up",
    reason="What is measured from the start holds the reading of the data and the filling of caches, which "
    "end sooner on the faster disk.",
    remedy="a warm-up that is not counted, or interval lines that show when it had settled, and a "
    "measurement several times as long",
    source="Barrett et al., Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017",
)
def warm_up(evidence: Evidence) -> Iterator[Said]:
    """Find a short measurement without a warm-up, and a beginning unlike the rest in few intervals."""
    if evidence.metric == "seconds" or evidence.one_pass:
        yield NO_STEADY_LOAD
        return
    if not evidence.imported:
        if not evidence.plan.phases_of(evidence.cell).warm_up_s:
            yield Problem("note", "no warm-up was asked for")
        return
    if evidence.result and evidence.result.warm_up_s:
        return
    yield from _slow_beginning(evidence)
    seconds = recorded(evidence.load.seconds, "a warm-up")
    if seconds < BRIEF_S:
        yield Problem(
            "warning", f"{format_figure(seconds)} s were measured, and nothing tells of a warm-up before them"
        )
    elif len(evidence.throughputs_per_s) < FEWEST_INTERVALS:
        yield Untold("a warm-up")


def _slow_beginning(evidence: Evidence) -> Iterator[Problem]:
    """Compare the first quarter of the intervals with the rest; `steady` does it better where many are."""
    series = evidence.throughputs_per_s
    quarter = len(series) // 4
    if len(series) < FEWEST_INTERVALS or quarter == 0:
        return
    first, rest = statistics.fmean(series[:quarter]), series[quarter:]
    error = statistics.stdev(rest) / len(rest) ** 0.5 if len(rest) > 1 else 0.0
    typical = statistics.fmean(rest)
    if typical > 0 and abs(first - typical) > 3 * error + 0.1 * typical:
        yield Problem(
            "warning",
            f"the first {quarter} of {len(series)} intervals have a mean of {format_figure(first)}/s, the "
            f"others {format_figure(typical)}/s: {first / typical - 1:+.0%}, and nothing tells of a warm-up "
            "before them",
        )
