"""The check of figures against what a device can do: cached reads."""

from collections.abc import Iterator

from diskproof.audit.check import Evidence, NothingToCheckError, Said, Untold, check, warning
from diskproof.results.load import Latency
from diskproof.wording import NOTHING, ms, printed, say

FASTEST_READ_US = 8.0
"""No disk answers faster: 3D XPoint over PCIe takes 8 to 10 us, flash 50 and more."""

FLASH_READ_US = 45.0
"""A page of flash (tR) and its way to the CPU; over SATA more, and a spinning disk's own cache is no faster.
A disk reads what it has just written faster, from its own memory: only held against reads through the page
cache."""


@check(
    "cached-reads",
    reason="A read from the system's page cache takes microseconds on any disk. A mean over such reads shows "
    "how much was cached, not how fast the disk is.",
    remedy="`--file-extra-flags=direct` of sysbench, `--direct=1` of fio, or files several times as large as "
    "the memory, and caches dropped before",
    source="latency floors: Intel Optane P4800X 10 us, NAND flash 50 us (tR) and more, SATA 600 MB/s",
)
def cached_reads(evidence: Evidence) -> Iterator[Said]:
    """Find reads of files that were faster than any disk, and those that may have been cached."""
    moved = evidence.bare_files
    if moved.read_bytes == 0:
        raise NothingToCheckError("nothing was read")
    if not evidence.imported:
        raise NothingToCheckError("what reached the devices was counted")  # by `arrived`
    latency = _read_latency(evidence)
    through_cache = moved.direct is False
    floor_us, whose = (FLASH_READ_US, "flash") if through_cache else (FASTEST_READ_US, "the fastest disk")
    if latency is not None and latency.min is not None and 0 < latency.min < floor_us:
        below = _percent_below(latency, floor_us)
        yield warning(
            "the fastest request took {min}, but {disk} takes {floor} or more{below}: memory answered some "
            "of them. The mean of {mean} is of both",
            min=ms(latency.min),
            disk=whose,
            floor=ms(floor_us),
            below=say("; {percent}% took less than that", percent=printed(below)) if below else NOTHING,
            mean=ms(latency.mean),
        )
    elif latency is not None and latency.min is None and (below := _percent_below(latency, floor_us)):
        yield warning(
            "{percent}% of the requests took {most} or less, but {disk} takes {floor} or more: memory "
            "answered them",
            percent=printed(below),
            most=ms(latency.percentiles[f"{below:g}"]),
            disk=whose,
            floor=ms(floor_us),
        )
    if moved.direct is None:
        yield Untold("whether requests bypassed the page cache")
    elif not moved.direct:
        yield Untold("the memory beside the size of the files")


def _percent_below(latency: Latency, floor_us: float) -> float | None:
    """Return the highest percentile below a floor; a tool may have rounded the minimum away."""
    return max(
        (float(name) for name, at_us in latency.percentiles.items() if 0 < at_us < floor_us), default=None
    )


def _read_latency(evidence: Evidence) -> Latency | None:
    """Return the latency of reads; None if it is one with that of writes, which caches take by design."""
    reads = [one.latency_us for one in evidence.load.statement_types if one.kind == "read"]
    alone = evidence.load.latency_us if evidence.bare_files.written_bytes == 0 else None
    return next((one for one in reads if one), alone)
