"""Checks of arithmetic: that all figures of one result can be true at once."""

import itertools
from collections.abc import Iterator

from diskproof.audit.check import Evidence, NothingToCheckError, Said, Untold, check, invalid, warning
from diskproof.audit.load import PERCENTILE_TOLERANCE
from diskproof.results.load import Derived, Latency
from diskproof.results.record import NotRecordedError, recorded
from diskproof.wording import ms, per_s, printed, seconds, share

RATE_TOLERANCE = 0.02
"""Tools round seconds and rates, and some count the time of connecting in only one of them."""

CLOCKS_S = 0.02
"""sysbench reads its clock once for the time and once for the rate. A judgement: a busy machine's delay."""

TOLD: dict[Derived, str] = {
    "transactions": "the number of transactions",
    "seconds": "how long it was measured",
    "transactions_per_s": "the rate, as the tool itself computed it",
}
"""What was not recorded if a figure was computed from the two others."""

COUNT_TOLERANCE = 0.001
"""Counts are exact; a transaction of each client may be under way at the end. A judgement."""

READS_TOLERANCE = 0.02
"""Share by which reads may miss a whole number a transaction. A judgement: one in fifty, repeated."""

BEYOND = "the mean ({mean}) is {end} ({at})"


@check(
    "rate-arithmetic",
    reason="Count, time and rate: any two of them give the third. If they do not, one of them is of another "
    "run.",
    remedy="look for a summary that was put together from two runs; divide the count by the seconds",
    source="arithmetic: rate = count / seconds",
)
def rate_arithmetic(evidence: Evidence) -> Iterator[Said]:
    """Find a rate that differs from the count divided by the time, by more than rounding."""
    load = evidence.load
    if evidence.metric == "seconds":
        raise NothingToCheckError("a job has no rate of its own")
    counted, took_s = load.known_transactions, load.known_seconds
    if load.derived:  # a figure that was computed from the two others cannot contradict them
        raise NotRecordedError(" and ".join(TOLD[name] for name in load.derived))
    if took_s <= 0 or counted == 0 or load.transactions_per_s <= 0:
        raise NothingToCheckError("nothing was counted")
    rate_per_s = counted / took_s
    off = load.transactions_per_s / rate_per_s - 1
    # A rate of 0.07/s is printed with two decimals: it may be off by half of the last, and so may a count.
    clocks_s = CLOCKS_S if _is_sysbench(evidence) else 0
    tolerance = RATE_TOLERANCE + clocks_s / took_s + 0.005 / load.transactions_per_s + 1 / counted
    if abs(off) > tolerance:
        yield invalid(
            "{number} {work} in {time:.6g} are {rate}, but the output says {printed}: {off:+.1f}",
            number=counted,
            work=evidence.work,
            time=seconds(took_s),
            rate=per_s(rate_per_s),
            printed=per_s(load.transactions_per_s),
            off=share(off),
        )


@check(
    "statement-arithmetic",
    reason="Statements are reads, writes and others. If they do not add up, something else was counted.",
    remedy="take all counts from one summary, errors and retries included",
    source="arithmetic; sysbench's OLTP transaction always has the same statements",
)
def statement_arithmetic(evidence: Evidence) -> Iterator[Said]:
    """Find statements that are not the sum of their kinds, and a fractional number of reads a transaction."""
    load = evidence.load
    evidence.needs_server("no statements, but requests for files")
    total, reads, writes = load.known_statements, recorded(load.reads, "the number of reads"), load.writes
    if writes is None or load.others is None:
        yield Untold("reads, writes and other statements apart")
    else:
        parts = reads + writes + load.others
        if abs(total - parts) > COUNT_TOLERANCE * max(total, parts):
            yield invalid(
                "{reads} reads, {writes} writes and {others} others are {sum} statements, but the output "
                "says {total}",
                reads=printed(reads),
                writes=printed(writes),
                others=printed(load.others),
                sum=printed(parts),
                total=printed(total),
            )
    if not is_fixed_mix(evidence) or not load.transactions:
        return
    begun = load.transactions + (load.failed_transactions or 0) + (load.retries or 0)
    each = reads / begun
    edge = (load.clients or 1) * max(each, 1.0) / begun
    off = abs(each - round(each))
    if off > READS_TOLERANCE * max(each, 1.0) + edge:
        if load.mix is None:  # a script of the user's own may read as it likes
            yield Untold("the script that sysbench ran")
            return
        yield warning(
            "{reads} reads in {begun} transactions are {each:.3f} each. Every transaction of sysbench has "
            "the same whole number of reads: some were not counted as transactions, or as errors",
            reads=printed(reads),
            begun=printed(begun),
            each=each,
        )


def is_fixed_mix(evidence: Evidence) -> bool:
    """Whether each transaction has the same statements; known only of sysbench's own tests."""
    return _is_sysbench(evidence) and not evidence.load.file_requests


def _is_sysbench(evidence: Evidence) -> bool:
    told = evidence.trial.imported
    return told is not None and "sysbench" in told.format.lower()


@check(
    "latency-order",
    reason="A minimum cannot exceed a mean, nor a percentile the maximum. If one does, the figures are of "
    "different runs or in different units.",
    remedy="look at the units (us, ms, s), and whether minimum, mean and percentile are of one summary",
    source="arithmetic: min <= percentiles in their order <= max, min <= mean <= max",
)
def latency_order(evidence: Evidence) -> Iterator[Said]:
    """Find latencies that cannot be of the same requests."""
    if evidence.metric == "seconds" and evidence.load.latency_us is None:
        raise NothingToCheckError("a job reports seconds")
    latency = recorded(evidence.load.latency_us, "the mean latency")
    marks = _marks(latency)
    if not marks:
        raise NotRecordedError("minimum, maximum and percentiles of the latency")
    for (low_name, low_us), (high_name, high_us) in itertools.pairwise(marks):
        if low_us > high_us * (1 + PERCENTILE_TOLERANCE) + latency.percentile_digit:
            yield invalid(
                "the {low} ({at}) is above the {high} ({below})",
                low=low_name,
                at=ms(low_us),
                high=high_name,
                below=ms(high_us),
            )
    if latency.min is not None and latency.mean * (1 + PERCENTILE_TOLERANCE) < latency.min:
        yield invalid(BEYOND, mean=ms(latency.mean), end="below the minimum", at=ms(latency.min))
    if latency.max is not None and latency.mean > latency.max:
        yield invalid(BEYOND, mean=ms(latency.mean), end="above the maximum", at=ms(latency.max))


@check(
    "mean-bounds",
    reason="Percentiles limit the mean: nineteen in twenty are at or below the 95th, and none is slower than "
    "the slowest.",
    remedy="check that mean, percentile and maximum are of one run and in one unit",
    source="arithmetic: q min + (1 - q) p <= mean <= q p + (1 - q) max, with q = 0.95 for the 95th "
    "percentile p",
)
def mean_bounds(evidence: Evidence) -> Iterator[Said]:
    """Find a mean latency that its own percentiles and extremes rule out."""
    if evidence.metric == "seconds":
        raise NothingToCheckError("a job reports seconds")
    latency = recorded(evidence.load.latency_us, "the mean latency")
    if not latency.percentiles:
        raise NotRecordedError("a percentile of the latency")
    if latency.max is None or latency.min is None:
        yield Untold("the shortest and the longest latency")
    for name, at_us in latency.percentiles.items():
        q = float(name) / 100
        if not 0 < q < 1:
            continue
        digit_us = latency.percentile_digit
        most_us = None if latency.max is None else q * (at_us + digit_us) + (1 - q) * latency.max
        if latency.is_bound(name):
            most_us = None  # the percentile itself may be any above the histogram's end
        least_us = None if latency.min is None else q * latency.min + (1 - q) * (at_us - digit_us)
        if most_us is not None and latency.mean > most_us * (1 + PERCENTILE_TOLERANCE):
            yield invalid(
                "with p{name} at {p} and a maximum of {max} the mean is at most {q:.10g} x {p} + {rest:.3g} "
                "x {max} = "
                "{most}, but the output says {mean}",
                name=name,
                p=ms(at_us),
                max=ms(latency.max or 0),
                q=q,
                rest=1 - q,
                most=ms(most_us),
                mean=ms(latency.mean),
            )
        elif least_us is not None and latency.mean < least_us * (1 - PERCENTILE_TOLERANCE):
            yield invalid(
                "with p{name} at {p} and a minimum of {min} the mean is at least {least}, but the output "
                "says {mean}",
                name=name,
                p=ms(at_us),
                min=ms(latency.min or 0),
                least=ms(least_us),
                mean=ms(latency.mean),
            )


def _marks(latency: Latency) -> list[tuple[str, float]]:
    """Return the latencies that must come in this order, as far as they are known."""
    percentiles = [(f"p{name}", latency.percentiles[name]) for name in sorted(latency.percentiles, key=float)]
    found = [("minimum", latency.min), *percentiles, ("maximum", latency.max)]
    return [(name, value) for name, value in found if value is not None]
