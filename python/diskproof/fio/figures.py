"""What fio reports about the requests of one kind: their number and their latencies."""

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import Any

from diskproof.fio.program import Result
from diskproof.results.load import Latency


@dataclass(frozen=True)
class Requests:
    """Requests of one kind, or of several together."""

    requests: int
    """Answered within the measured time."""
    count: int
    """Observed latencies: also those of requests that were under way at the end."""
    sum_ns: float
    squares_ns2: float
    """Sum of the squares."""
    min_ns: float
    max_ns: float
    bins: Counter[int]
    """fio's histogram, accurate to 1% (1/2^7, stat.h): observations by the upper end of their bin in ns."""

    @property
    def mean_ns(self) -> float:
        """Mean latency; only if there is an observation."""
        return self.sum_ns / self.count

    @property
    def stdev_ns(self) -> float:
        """Standard deviation of latency."""
        return sqrt(max(self.squares_ns2 / self.count - self.mean_ns**2, 0.0))

    def percentile_ns(self, percentile: float) -> float:
        """Return the upper end of a percentile's bin, at most the maximum."""
        wanted = self.count * percentile / 100
        seen = 0
        for ns, count in sorted(self.bins.items()):
            seen += count
            if seen >= wanted:
                return min(ns, self.max_ns)
        return self.max_ns

    def with_(self, other: "Requests") -> "Requests":
        """Return two kinds together; either may be empty."""
        minima = [one.min_ns for one in (self, other) if one.count]
        return Requests(
            requests=self.requests + other.requests,
            count=self.count + other.count,
            sum_ns=self.sum_ns + other.sum_ns,
            squares_ns2=self.squares_ns2 + other.squares_ns2,
            min_ns=min(minima, default=0.0),
            max_ns=max(self.max_ns, other.max_ns),
            bins=self.bins + other.bins,
        )


def as_latency(told: Requests, table_ns: dict[str, float]) -> Latency | None:
    """Return latencies in microseconds, with percentiles given in ns; None if there is no request."""
    if not told.count:
        return None
    return Latency(
        count=told.count,
        mean=told.mean_ns / 1000,
        stdev=told.stdev_ns / 1000,
        min=told.min_ns / 1000,
        max=told.max_ns / 1000,
        percentiles={name: ns / 1000 for name, ns in table_ns.items()},
    )


def reads_of(result: Result) -> Requests:
    """Return a job's reads."""
    return _direction(result["read"])


def writes_of(result: Result) -> Requests:
    """Return a job's writes."""
    return _direction(result["write"])


def syncs_of(result: Result) -> Requests:
    """Return a job's syncs."""
    # After a ramp fio resets its counter of syncs, but not the histogram's.
    told = result["sync"]["lat_ns"]
    return _requests(told, told["N"])


def seconds_of(result: Result) -> float:
    """Return the time of reads and writes."""
    return float(max(result["read"]["runtime"], result["write"]["runtime"])) / 1000


def _direction(told: dict[str, Any]) -> Requests:
    # `total_ios` counts answers within the measured time. The histogram and `io_bytes` also count requests
    # that were under way at its end: many, at depth on a slow disk.
    return _requests(told["lat_ns"], told["total_ios"])


def _requests(latency: dict[str, Any], requests: int) -> Requests:
    count, mean = latency["N"], latency["mean"]
    return Requests(
        requests=requests,
        count=count,
        sum_ns=mean * count,
        squares_ns2=count * (latency.get("stddev", 0.0) ** 2 + mean**2),
        min_ns=latency["min"],
        max_ns=latency["max"],
        bins=Counter({int(ns): int(seen) for ns, seen in latency.get("bins", {}).items()}),
    )
