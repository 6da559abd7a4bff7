"""Checks of figures against what a device can do: cached reads, syncs that never waited."""

from collections.abc import Iterator

from diskproof.audit.check import Evidence, NothingToCheckError, Problem, Said, Untold, check, warning
from diskproof.audit.storage import FASTEST_SPINDLE_RPM
from diskproof.results.load import Latency
from diskproof.results.record import recorded
from diskproof.wording import NOTHING, ms, printed, say

FASTEST_READ_US = 8.0
"""No disk answers faster: 3D XPoint over PCIe takes 8 to 10 us, flash 50 and more."""

FLASH_READ_US = 45.0
"""A page of flash (tR) and its way to the CPU; over SATA more, and a spinning disk's own cache is no faster.
A disk reads what it has just written faster, from its own memory: only held against reads through the page
cache."""

MEMORY_MB_PER_S = 14_000.0
"""Four lanes of PCIe 5.0 carry less than 16,000 MB/s, and no disk sold fills them."""

SPINNING_MB_PER_S = 300.0
"""The outer tracks of the fastest."""


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
    place = evidence.place("data")
    if place and (place.in_memory or place.pool):
        raise NothingToCheckError("the files lay in memory, or in a pool with a cache of its own")
    yield from _too_fast(evidence)
    latency = _read_latency(evidence)
    floor_us, whose = _floor(evidence)
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
    elif not moved.direct and not place:
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


def _floor(evidence: Evidence) -> tuple[float, str]:
    """Return the least latency of a disk of the kind below, and its name."""
    place = evidence.place("data")
    if place and place.device and place.device.rotational:
        return FLASH_READ_US, "a spinning disk"
    if evidence.imported and evidence.bare_files.direct is False:
        return FLASH_READ_US, "flash"
    return FASTEST_READ_US, "the fastest disk"


def _too_fast(evidence: Evidence) -> Iterator[Problem]:
    """Compare the bytes moved in a second with what a bus can carry."""
    rate, place = evidence.load.megabytes_per_s, evidence.place("data")
    spins = bool(place and place.device and place.device.rotational and not place.virtual)
    most = SPINNING_MB_PER_S if spins else MEMORY_MB_PER_S
    if rate is not None and rate > most:
        yield warning(
            "{rate} MB/s were moved, but {disk} moves at most {most}: memory answered",
            rate=rate,
            disk="a spinning disk" if spins else "any disk",
            most=most,
        )


@check(
    "synced-writes",
    reason="A write to a spinning disk waits for its rotation. A cache answered faster ones, and a power cut "
    "may lose them.",
    remedy="switch the disk's write cache off or prove it safe, mount with barriers, and measure again",
    source="one write to the same place a rotation: rpm/60 a second and serial writer; 15,000 rpm: 250",
)
def synced_writes(evidence: Evidence) -> Iterator[Said]:
    """Find more syncs a second and thread than a spinning disk has rotations, if the disk is known."""
    moved, load = evidence.bare_files, evidence.load
    syncs = recorded(moved.syncs, "the number of syncs")
    if not syncs or not moved.written_bytes:
        raise NothingToCheckError("nothing was written and synced")
    place = recorded(evidence.place("data"), "what kind of device it was")
    if place.device is None or not place.device.rotational or place.virtual or place.pool:
        raise NothingToCheckError("no spinning disk of its own below the files")
    each_per_s = syncs / load.known_seconds / load.known_clients
    # In a round of syncs, only the files written since the last round cost a rotation.
    bound_per_s = FASTEST_SPINDLE_RPM / 60 * max(moved.files or 1, 1)
    if each_per_s > bound_per_s:
        yield warning(
            "{each} syncs a second and thread, but a spinning disk of 15,000 rpm makes at most {bound}: a "
            "cache answered",
            each=each_per_s,
            bound=bound_per_s,
        )
