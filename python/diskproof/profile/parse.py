"""From fio's JSON to a cell of a profile."""

from diskproof.fio.figures import Requests, reads_of, seconds_of, syncs_of, writes_of
from diskproof.fio.program import Result
from diskproof.results.profile import Probe, ProfileCell, Stream
from diskproof.stats.quantiles import known_percentiles
from diskproof.wording import Message, counted, say
from diskproof.wording import seconds as duration

PERCENTILES = ("50", "90", "95", "99", "99.9")

_SYNCED = ("synced-write", "synced-append", "dsync-append")

_FLUSHED = ("synced-write", "synced-append", "fileio")
"""Patterns with flushes of their own: O_DSYNC has them in its writes."""

FEW_REQUESTS = 100
"""With fewer, a mean is easily wrong by a tenth: latencies vary about as much as their mean."""

LONG_SHARE = 1 / 3
"""If one request took this share of its cell, the cell shows that moment."""


def to_cell(probe: Probe, job: str, result: Result) -> ProfileCell:
    """Turn fio's result of one job into a cell."""
    if result["error"]:
        return ProfileCell(probe=probe, job=job, error=f"fio reports error {result['error']}")
    seconds, block = seconds_of(result), probe.block_bytes
    reads, writes = reads_of(result), writes_of(result)
    flushes = _stream(syncs_of(result), 0, seconds, keep_bins=True)
    requests = _stream(reads.with_(writes), block, seconds)
    keep = probe.pattern in _SYNCED
    return ProfileCell(
        probe=probe,
        job=job,
        seconds=seconds,
        requests=requests,
        reads=_stream(reads, block, seconds),
        writes=_stream(writes, block, seconds, keep_bins=keep),
        flushes=flushes,
        cpu_share=(result["usr_cpu"] + result["sys_cpu"]) / 100,
        doubt=_doubt(probe, requests, seconds),
        error=_error(probe, requests, flushes),
    )


def _error(probe: Probe, requests: Stream | None, flushes: Stream | None) -> str | None:
    if requests is None:
        return "no request was answered"
    if probe.pattern in _FLUSHED and flushes is None:
        return "no flush was answered in the measured time; measure longer, with --seconds"
    return None


def _doubt(probe: Probe, requests: Stream | None, seconds: float) -> Message | None:
    """Return why a cell shows a moment rather than the disk; a pass reads everything, so it is no sample."""
    if requests is None or probe.pattern.startswith("pass-"):
        return None
    if requests.requests < FEW_REQUESTS:
        return say("only {requests}", requests=counted(requests.requests, "request"))
    longest_s = requests.max_us / 1e6
    if longest_s > LONG_SHARE * seconds:
        return say(
            "one request took {longest:.3g} of its {seconds:.3g}",
            longest=duration(longest_s),
            seconds=duration(seconds),
        )
    return None


def _stream(told: Requests, block_bytes: int, seconds: float, *, keep_bins: bool = False) -> Stream | None:
    if not told.count or not seconds:
        return None
    names = known_percentiles(told.count, PERCENTILES)
    moved_bytes = told.requests * block_bytes
    return Stream(
        requests=told.requests,
        bytes=moved_bytes,
        per_s=told.requests / seconds,
        megabytes_per_s=moved_bytes / 1e6 / seconds,
        mean_us=told.mean_ns / 1000,
        max_us=told.max_ns / 1000,
        percentiles_us={name: told.percentile_ns(float(name)) / 1000 for name in names},
        bins_us=[(ns / 1000, count) for ns, count in sorted(told.bins.items())] if keep_bins else [],
    )
