"""From fio's JSON to a cell of a profile."""

from collections import Counter
from typing import Any

from diskproof.profile.fio import Result
from diskproof.results.profile import Probe, ProfileCell, Stream
from diskproof.stats.quantiles import known_percentiles

PERCENTILES = ("50", "90", "95", "99", "99.9")
"""Taken from fio's histogram, which is true to 1 % (1/2^7, stat.h)."""

_SYNCED = ("synced-write", "synced-append", "dsync-append")

_FLUSHED = ("synced-write", "synced-append", "fileio")
"""Patterns with flushes of their own: O_DSYNC has them in its writes."""

FEW_REQUESTS = 100
"""From fewer, a mean is off by a tenth easily: latencies scatter about as much as they last."""

LONG_SHARE = 1 / 3
"""A request that took this share of its cell or more is not one of many: the cell shows that moment."""


def to_cell(probe: Probe, job: str, result: Result) -> ProfileCell:
    """Turn what fio said of one job into a cell."""
    if result["error"]:
        return ProfileCell(probe=probe, job=job, error=f"fio reports error {result['error']}")
    seconds = max(result["read"]["runtime"], result["write"]["runtime"]) / 1000
    reads = _direction(result["read"], probe.block_bytes)
    writes = _direction(result["write"], probe.block_bytes)
    flushes = _stream(_flushes(result), seconds, keep_bins=True)
    requests = _stream(_merged(reads, writes), seconds, keep_bins=False)
    keep = probe.pattern in _SYNCED
    return ProfileCell(
        probe=probe,
        job=job,
        seconds=seconds,
        requests=requests,
        reads=_stream(reads, seconds, keep_bins=False),
        writes=_stream(writes, seconds, keep_bins=keep),
        flushes=flushes,
        cpu_share=(result["usr_cpu"] + result["sys_cpu"]) / 100,
        doubt=_doubt(probe, requests, seconds),
        error=_error(probe, requests, flushes),
    )


def _error(probe: Probe, requests: Stream | None, flushes: Stream | None) -> str | None:
    if requests is None:
        return "not one request was answered"
    if probe.pattern in _FLUSHED and flushes is None:
        return "not one flush was answered in the measured time; measure longer, with --seconds"
    return None


def _doubt(probe: Probe, requests: Stream | None, seconds: float) -> str | None:
    """Say why a cell shows a moment rather than the disk; a pass touches all there is, and is no sample."""
    if requests is None or probe.pattern.startswith("pass-"):
        return None
    if requests.requests < FEW_REQUESTS:
        return f"{requests.requests} requests alone"
    longest_s = requests.max_us / 1e6
    if longest_s > LONG_SHARE * seconds:
        return f"one request took {longest_s:.3g} s of its {seconds:.3g} s"
    return None


def _direction(told: dict[str, Any], block_bytes: int) -> dict[str, Any]:
    # `total_ios` counts what was answered within the measured time, the histogram and `io_bytes` also what
    # was under way at its end: at depth on a slow disk a good part of all.
    requests = told["total_ios"]
    return {**_latency(told["lat_ns"]), "requests": requests, "bytes": requests * block_bytes}


def _flushes(result: Result) -> dict[str, Any]:
    # fio resets its own counter of syncs after a ramp to nothing, but not the histogram's.
    latency = _latency(result["sync"]["lat_ns"])
    return {**latency, "requests": latency["count"], "bytes": 0}


def _latency(told: dict[str, Any]) -> dict[str, Any]:
    bins = Counter({int(ns): int(count) for ns, count in told.get("bins", {}).items()})
    return {
        "count": told["N"],
        "sum_ns": told["mean"] * told["N"],
        "min_ns": told["min"],
        "max_ns": told["max"],
        "bins": bins,
    }


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Put two kinds of request together; either may be empty."""
    minima = [part["min_ns"] for part in (one, other) if part["count"]]
    return {
        "count": one["count"] + other["count"],
        "sum_ns": one["sum_ns"] + other["sum_ns"],
        "min_ns": min(minima, default=0),
        "max_ns": max(one["max_ns"], other["max_ns"]),
        "bins": one["bins"] + other["bins"],
        "requests": one["requests"] + other["requests"],
        "bytes": one["bytes"] + other["bytes"],
    }


def _stream(told: dict[str, Any], seconds: float, *, keep_bins: bool) -> Stream | None:
    if not told["count"] or not seconds:
        return None
    bins = sorted(told["bins"].items())
    names = known_percentiles(told["count"], PERCENTILES)
    return Stream(
        requests=told["requests"],
        bytes=told["bytes"],
        per_s=told["requests"] / seconds,
        megabytes_per_s=told["bytes"] / 1e6 / seconds,
        mean_us=told["sum_ns"] / told["count"] / 1000,
        min_us=told["min_ns"] / 1000,
        max_us=told["max_ns"] / 1000,
        percentiles_us={name: _percentile(bins, float(name), told["max_ns"]) for name in names},
        bins_us=[(ns / 1000, count) for ns, count in bins] if keep_bins else [],
    )


def _percentile(bins: list[tuple[int, int]], percentile: float, max_ns: int) -> float:
    """Return a percentile of a histogram in microseconds: the bin in which it lies, at most the largest."""
    wanted = sum(count for _, count in bins) * percentile / 100
    seen = 0
    for ns, count in bins:
        seen += count
        if seen >= wanted:
            return min(ns, max_ns) / 1000
    return max_ns / 1000
