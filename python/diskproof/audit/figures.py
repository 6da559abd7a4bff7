"""Checks of arithmetic: that the figures of one result can all be true at once."""

import itertools
from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.results.load import Derived, Iterations, Latency
from diskproof.results.record import format_figure, recorded

RATE_TOLERANCE = 0.02
"""Tools round seconds and rates, and some leave out of one the time of connecting that the other has."""

TOLD: dict[Derived, str] = {
    "transactions": "the number of transactions",
    "seconds": "how long it was measured",
    "transactions_per_s": "the rate, as the tool itself worked it out",
}
"""What was not recorded where a figure had to be worked out of the two others."""

COUNT_TOLERANCE = 0.001
"""Counts are exact; a transaction of each client may be under way at the end. A judgement."""

PERCENTILE_TOLERANCE = 0.02
"""sysbench's percentiles are the upper ends of buckets that are 1.8 % wide."""

READS_TOLERANCE = 0.02
"""Share by which reads may miss a whole number a transaction. A judgement: one in fifty, begun again."""

ALIKE = 0.5
"""Share of the mean by which the slowest iteration of a job may exceed the fastest. A judgement: what
scatters more is described by no average."""

ESTIMATED_SHARE = 0.1
"""Share of a job's seconds that may be extrapolated. A judgement: more is no detail of the sum."""


@check(
    "rate-arithmetic",
    reason="What was counted, the time that it took and the rate are three figures of which any two make the "
    "third: where they do not, one of them is of another run.",
    remedy="look for a summary that was put together from two runs; divide the count by the seconds",
    source="arithmetic: rate = count / seconds",
)
def rate_arithmetic(evidence: Evidence) -> Iterator[Said]:
    """Find a rate that is not what was counted over the time, by more than rounding."""
    load = evidence.load
    if evidence.metric == "seconds":
        yield Apart("a job has no rate of its own")
        return
    counted, seconds = load.known_transactions, load.known_seconds
    if load.derived:
        # A figure that was worked out of the two others cannot contradict them.
        yield Untold(" and ".join(TOLD[name] for name in load.derived))
        return
    if seconds <= 0 or counted == 0 or load.transactions_per_s <= 0:
        yield Apart("nothing was counted")
        return
    rate_per_s = counted / seconds
    off = load.transactions_per_s / rate_per_s - 1
    # A rate of 0.07/s is printed with two decimals: it may be off by half of the last, and so may a count.
    tolerance = RATE_TOLERANCE + 0.005 / load.transactions_per_s + 1 / counted
    if abs(off) > tolerance:
        yield Problem(
            "invalid",
            f"{counted:,} {evidence.work} in {format_figure(seconds, 6)} s are "
            f"{format_figure(rate_per_s, 5)}/s, and "
            f"{format_figure(load.transactions_per_s, 6)}/s is told: {off:+.1%}",
        )


@check(
    "statement-arithmetic",
    reason="Statements are reads, writes and others: a sum that does not come out is a count of something "
    "else.",
    remedy="take the counts from one and the same summary; errors and retries belong to them",
    source="arithmetic; sysbench's OLTP transaction always has the same statements",
)
def statement_arithmetic(evidence: Evidence) -> Iterator[Said]:
    """Find statements that are not the sum of their kinds, and transactions of a broken number of reads."""
    load = evidence.load
    if not evidence.cell.has_server:
        yield Apart("no statements, but requests for files")
        return
    total, reads, writes = load.known_statements, recorded(load.reads, "the number of reads"), load.writes
    if writes is None or load.others is None:
        yield Untold("reads, writes and other statements apart")
    else:
        parts = reads + writes + load.others
        if abs(total - parts) > COUNT_TOLERANCE * max(total, parts):
            yield Problem(
                "invalid",
                f"{reads:,} reads, {writes:,} writes and {load.others:,} others are {parts:,} statements, "
                f"and {total:,} are told",
            )
    if not is_fixed_mix(evidence) or not load.transactions:
        return
    begun = load.transactions + (load.failed_transactions or 0) + (load.retries or 0)
    each = reads / begun
    edge = (load.clients or 1) * max(each, 1.0) / begun
    off = abs(each - round(each))
    if off > READS_TOLERANCE * max(each, 1.0) + edge:
        yield Problem(
            "warning",
            f"{reads:,} reads in {begun:,} transactions are {each:.3f} each; every transaction of "
            "sysbench's has the same whole number of them: some were not counted as transactions, or as "
            "errors",
        )


def is_fixed_mix(evidence: Evidence) -> bool:
    """Whether each transaction has the same statements; known of sysbench's own alone."""
    told = evidence.trial.imported
    return told is not None and "sysbench" in told.format.lower() and not evidence.load.file_requests


@check(
    "latency-order",
    reason="A minimum is no larger than a mean, a percentile no larger than the maximum: where that is not "
    "so, the figures are of different runs or in different units.",
    remedy="look at the units (us, ms, s), and whether minimum, mean and percentile are of one summary",
    source="arithmetic: min <= percentiles in their order <= max, min <= mean <= max; sd^2 <= "
    "(max - mean)(mean - min) (Bhatia and Davis, American Mathematical Monthly 107, 2000)",
)
def latency_order(evidence: Evidence) -> Iterator[Said]:
    """Find latencies that cannot be of the same requests."""
    if evidence.metric == "seconds" and evidence.load.latency_us is None:
        yield Apart("a job is told in seconds")
        return
    latency = recorded(evidence.load.latency_us, "the mean latency")
    marks = _marks(latency)
    if not marks and latency.stdev is None:
        yield Untold("minimum, maximum and percentiles of the latency")
        return
    for (low_name, low_us), (high_name, high_us) in itertools.pairwise(marks):
        if low_us > high_us * (1 + PERCENTILE_TOLERANCE):
            yield Problem(
                "invalid", f"the {low_name} is {_ms(low_us)}, and the {high_name} only {_ms(high_us)}"
            )
    if latency.min is not None and latency.mean < latency.min:
        yield Problem("invalid", f"the mean is {_ms(latency.mean)}, and the minimum {_ms(latency.min)}")
    if latency.max is not None and latency.mean > latency.max:
        yield Problem("invalid", f"the mean is {_ms(latency.mean)}, and the maximum only {_ms(latency.max)}")
    yield from _impossible_scatter(latency)


@check(
    "mean-bounds",
    reason="Between a mean and the percentiles there is arithmetic: nineteen in twenty lie at or below the "
    "95th, and the others cannot be slower than the slowest.",
    remedy="see that mean, percentile and maximum are of one run and in one unit",
    source="arithmetic: q min + (1 - q) p <= mean <= q p + (1 - q) max, with q = 0.95 for the 95th "
    "percentile p",
)
def mean_bounds(evidence: Evidence) -> Iterator[Said]:
    """Find a mean latency that its own percentiles and extremes rule out."""
    if evidence.metric == "seconds":
        yield Apart("a job is told in seconds")
        return
    latency = recorded(evidence.load.latency_us, "the mean latency")
    if not latency.percentiles:
        yield Untold("a percentile of the latency")
        return
    if latency.max is None or latency.min is None:
        yield Untold("the shortest and the longest latency")
    for name, at_us in latency.percentiles.items():
        q = float(name) / 100
        if not 0 < q < 1:
            continue
        most_us = None if latency.max is None else q * at_us + (1 - q) * latency.max
        least_us = None if latency.min is None else q * latency.min + (1 - q) * at_us
        if most_us is not None and latency.mean > most_us * (1 + PERCENTILE_TOLERANCE):
            yield Problem(
                "invalid",
                f"with p{name} at {_ms(at_us)} and a maximum of {_ms(latency.max or 0)} the mean is at most "
                f"{q:,.10g} x {at_us / 1000:.4g} + {1 - q:.3g} x {(latency.max or 0) / 1000:.4g} = "
                f"{_ms(most_us)}, and {_ms(latency.mean)} is told",
            )
        elif least_us is not None and latency.mean < least_us * (1 - PERCENTILE_TOLERANCE):
            yield Problem(
                "invalid",
                f"with p{name} at {_ms(at_us)} and a minimum of {_ms(latency.min or 0)} the mean is at least "
                f"{_ms(least_us)}, and {_ms(latency.mean)} is told",
            )


@check(
    "iterations",
    reason="An average of few iterations tells nothing of their scatter, and one iteration has none.",
    remedy="more iterations (`--iterations=10`), and all their times, not the average alone",
    source="arithmetic; mysqlslap prints average, minimum and maximum of its iterations",
)
def iterations(evidence: Evidence) -> Iterator[Said]:
    """Find a job's average outside of its extremes, a single iteration, and extremes that lie far apart."""
    told = evidence.load.iterations
    if told is None:
        yield Apart("no job that is done again and again")
        return
    if not told.min_s <= told.max_s or not _within(told):
        yield Problem(
            "invalid",
            f"the average is {told.mean_s:,.10g} s, and the iterations took {told.min_s:,.10g} to "
            f"{told.max_s:,.10g} s",
        )
    elif evidence.imported and (told.count == 1 or (told.count is None and told.min_s == told.max_s)):
        yield Problem(
            "warning",
            f"minimum, average and maximum are all {told.mean_s:,.10g} s: it was done once, and its "
            f"scatter is "
            "not known",
        )
    elif told.mean_s > 0 and (told.max_s - told.min_s) / told.mean_s > ALIKE:
        yield Problem(
            "note" if not evidence.imported else "warning",
            f"the iterations took {told.min_s:,.10g} to {told.max_s:,.10g} s, ({told.max_s:,.10g} - "
            f"{told.min_s:,.10g}) / "
            f"{told.mean_s:,.10g} = {(told.max_s - told.min_s) / told.mean_s:.0%} of their average",
        )


@check(
    "estimates",
    reason="A sum of seconds of which many were never measured is a forecast; a test that was skipped is in "
    "no sum, and the sums of two servers are then of different work.",
    remedy="a higher time limit (`--time-limit`), and compare operation by operation, without the estimated "
    "and the skipped ones",
    source="sql-bench's README: estimated times are marked with +, and grow with what was left undone",
)
def estimates(evidence: Evidence) -> Iterator[Said]:
    """Find a job's seconds that rest on extrapolation, and parts that are in none."""
    parts = evidence.load.operations
    if not parts:
        yield Apart("no job of several parts")
        return
    whole_s = sum(part.whole_s or 0.0 for part in parts)
    estimated_s = sum(part.whole_s or 0.0 for part in parts if part.estimated)
    if whole_s > 0 and estimated_s / whole_s > ESTIMATED_SHARE:
        count = sum(part.estimated for part in parts)
        yield Problem(
            "warning",
            f"{count} of {len(parts)} parts were cut short: {estimated_s:,.4g} of {whole_s:,.4g} s, "
            f"{estimated_s / whole_s:.0%}, are extrapolated",
        )
    if skipped := [part.key for part in parts if part.skipped]:
        named = ", ".join(dict.fromkeys(skipped[:6]))
        yield Problem(
            "warning", f"{len(skipped)} of {len(parts)} parts were skipped, and are in no sum: {named}"
        )


def _within(told: Iterations) -> bool:
    """Whether the average lies between the extremes, which are printed with three decimals."""
    return told.min_s - 0.001 <= told.mean_s <= told.max_s + 0.001


def _marks(latency: Latency) -> list[tuple[str, float]]:
    """Return what must come in this order, as far as it is told."""
    found = [("minimum", latency.min)] if latency.min is not None else []
    found += [(f"p{name}", latency.percentiles[name]) for name in sorted(latency.percentiles, key=float)]
    found += [("maximum", latency.max)] if latency.max is not None else []
    return [(name, value) for name, value in found if value is not None]


def _impossible_scatter(latency: Latency) -> Iterator[Problem]:
    """Hold the standard deviation against the widest that the extremes allow."""
    if latency.stdev is None or latency.min is None or latency.max is None:
        return
    most_us = max((latency.max - latency.mean) * (latency.mean - latency.min), 0.0) ** 0.5
    if latency.count > 1:  # that of a sample, as fio tells it, is divided by one less
        most_us *= (latency.count / (latency.count - 1)) ** 0.5
    if (
        latency.min <= latency.mean <= latency.max
        and latency.stdev > most_us * (1 + PERCENTILE_TOLERANCE) + 1
    ):
        yield Problem(
            "invalid",
            f"a standard deviation of {_ms(latency.stdev)} is more than any requests between "
            f"{_ms(latency.min)} and {_ms(latency.max)} with a mean of {_ms(latency.mean)} can have: "
            f"{_ms(most_us)}",
        )


def _ms(microseconds: float) -> str:
    return f"{format_figure(microseconds / 1000)} ms"
