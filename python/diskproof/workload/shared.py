"""A load that several machines share: who does what of it, and what all of them measured together."""

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from math import sqrt
from operator import attrgetter
from typing import Any, TypeVar

from diskproof.results.load import ClientAccount, Latency, LoadError, LoadResult, Rate, StatementType
from diskproof.stats import hdr
from diskproof.stats.grouping import grouped
from diskproof.study.loads.base import Load

SEEDS_APART = 1_000_003
"""Between the seeds of two machines: blocks have seeds of their own, one apart."""


Event = dict[str, Any]

Number = TypeVar("Number", int, float)


def shared(workload: Load, clients: int, machines: int) -> list[tuple[Load, int]]:
    """Return the part of each machine that gets a client: the workload at its rate, and its clients."""
    each, more = divmod(clients, machines)
    parts = [each + (number < more) for number in range(machines)]
    rate = getattr(workload, "rate", None)

    def at_rate(own: int) -> Load:
        return workload if rate is None else workload.model_copy(update={"rate": rate * own / clients})

    return [(at_rate(own), own) for own in parts if own]


# ---------------------------------------------------------------- what was measured together


def together(results: Sequence[LoadResult]) -> LoadResult:
    """Return what machines measured over one phase that all of them began at the same moment.

    Counts are sums, and histograms are added up exactly. Rates are sums, each over its machine's own phase.
    Percentiles of single statements are left out: their histograms are not reported.
    """
    if len(results) == 1:
        return results[0]
    first = results[0]
    return first.model_copy(
        update={
            "clients": _sum(results, lambda one: one.clients),
            "seconds": max(one.known_seconds for one in results),
            "transactions": _sum(results, lambda one: one.transactions),
            "transactions_per_s": sum(one.transactions_per_s for one in results),
            "latency_us": _latency([one.latency_us for one in results]),
            "statement_types": _statements(results),
            "errors": _errors(results),
            "client": _client([one.client for one in results if one.client]),
            "rate": _rate([one.rate for one in results if one.rate]),
            "guards": tuple(map(sum, zip(*(one.guards for one in results if one.guards), strict=True)))
            or None,
            **{name: _sum(results, attrgetter(name)) for name in COUNTS},
        }
    )


COUNTS = ("statements", "reads", "writes", "others", "failed_transactions", "retries", "reconnects")


def _sum(parts: Sequence[Any], figure: Callable[[Any], Number | None]) -> Number | None:
    """Return a sum; None if it is not known of a part."""
    figures = [figure(part) for part in parts]
    known = [one for one in figures if one is not None]
    return sum(known[1:], known[0]) if known and len(known) == len(figures) else None


def _latency(parts: Sequence[Latency | None]) -> Latency | None:
    known = [one for one in parts if one is not None and one.count]
    if len(known) < 2:
        return known[0] if known else None
    count = sum(one.known_count for one in known)
    mean = sum(one.known_count * one.mean for one in known) / count
    histograms = [one.histogram for one in known if one.histogram is not None]
    joined: dict[str, Any] = {"percentiles": {}, "stdev": _stdev(known, count, mean)}
    if len(histograms) == len(known):
        added = hdr.added([hdr.decode(one) for one in histograms])
        joined = {
            "percentiles": {name: added.percentile(float(name)) / 1e3 for name in known[0].percentiles},
            "stdev": added.stdev / 1e3,
            "histogram": hdr.encode(added),
        }
    least = [one.min for one in known if one.min is not None]
    most = [one.max for one in known if one.max is not None]
    return Latency(
        count=count, mean=mean, min=min(least, default=None), max=max(most, default=None), **joined
    )


def _stdev(parts: Sequence[Latency], count: int, mean: float) -> float | None:
    """Return the standard deviation of all values, from those of the parts and their means."""
    squares = [
        one.known_count * (one.stdev**2 + (one.mean - mean) ** 2) for one in parts if one.stdev is not None
    ]
    return sqrt(sum(squares) / count) if len(squares) == len(parts) else None


def _statements(results: Sequence[LoadResult]) -> list[StatementType]:
    by_name = grouped((one for result in results for one in result.statement_types), lambda one: one.name)
    return [
        parts[0].model_copy(
            update={
                **{name: sum(getattr(one, name) for one in parts) for name in STATEMENT_COUNTS},
                "latency_us": _latency([one.latency_us for one in parts]),
            }
        )
        for parts in by_name.values()
    ]


STATEMENT_COUNTS = ("count", "rows", "affected", "errors")


def _errors(results: Sequence[LoadResult]) -> list[LoadError]:
    errors = (one for result in results for one in result.errors)
    alike = grouped(errors, lambda one: (one.code, one.statement))
    return [
        parts[0].model_copy(update={"count": sum(one.count for one in parts)}) for parts in alike.values()
    ]


def _client(parts: Sequence[ClientAccount]) -> ClientAccount | None:
    """Return the cost of all, as of one program; a mean delay is that of the machine with the longest."""
    if not parts:
        return None
    delays = [one.delay_mean_us for one in parts if one.delay_mean_us is not None]
    longest = [one.delay_max_us for one in parts if one.delay_max_us is not None]
    return ClientAccount(
        workers=sum(one.workers for one in parts),
        cpu_user_s=sum(one.cpu_user_s for one in parts),
        cpu_system_s=sum(one.cpu_system_s for one in parts),
        max_rss_bytes=_sum(parts, lambda one: one.max_rss_bytes),
        delay_mean_us=max(delays, default=None),
        delay_max_us=max(longest, default=None),
        waited_for_cpu_s=_sum(parts, lambda one: one.waited_for_cpu_s),
    )


def _rate(parts: Sequence[Rate]) -> Rate | None:
    """Return the rate of all: each machine has a queue of its own, and the worst of them counts."""
    if not parts:
        return None
    delays = [one.start_delay_mean_us for one in parts if one.start_delay_mean_us is not None]
    return Rate(
        asked_per_s=sum(one.asked_per_s for one in parts),
        arrivals=parts[0].arrivals,
        achieved_per_s=sum(one.achieved_per_s for one in parts),
        arrived=sum(one.arrived for one in parts),
        waiting=sum(one.waiting for one in parts),
        behind_s=max(one.behind_s for one in parts),
        most_waiting=max(one.most_waiting for one in parts),
        most_behind_s=max(one.most_behind_s for one in parts),
        held=all(one.held for one in parts),
        start_delay_mean_us=max(delays, default=None),
    )


def together_in_intervals(parts: Sequence[Sequence[Event]]) -> Iterator[Event]:
    """Yield the intervals of all machines, each those of one window together.

    All begin at the same moment and have the same length. Percentiles are left out if there are several
    machines: the histograms of intervals are not reported.
    """
    if len(parts) == 1:
        yield from parts[0]
        return
    for window in zip_longest(*parts):
        known = [one for one in window if one is not None]
        counts = {name: sum(one[name] for one in known) for name in INTERVAL_COUNTS}
        yield {**known[0], **counts, "latency_us": _of_interval(known), "backlog": _backlog(known)}


INTERVAL_COUNTS = ("transactions", "reads", "writes", "others", "errors", "retries", "reconnects")


def _of_interval(parts: Sequence[Event]) -> Event | None:
    known = [one["latency_us"] for one in parts if one["latency_us"]]
    count = sum(one["count"] for one in known)
    if not count:
        return None
    return {"mean": sum(one["count"] * one["mean"] for one in known) / count, "percentiles": {}}


def _backlog(parts: Sequence[Event]) -> Event | None:
    known = [one["backlog"] for one in parts if one.get("backlog")]
    if not known:
        return None
    return {
        "waiting": sum(one["waiting"] for one in known),
        "behind_s": max(one["behind_s"] for one in known),
    }
