"""Checks of figures against what a device can do: cached reads, syncs that never waited."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.audit.files import NO_FILES
from diskproof.audit.storage import FASTEST_SPINDLE_RPM
from diskproof.results.load import FileRequests, Latency
from diskproof.results.record import recorded

FASTEST_READ_US = 8.0
"""No disk answers sooner than about this: 3D XPoint over PCIe takes 8 to 10 us, flash 50 and more."""

SATA_READ_US = 45.0
"""A command, a page of flash and 4 KiB over a bus of 6 Gbit/s; a spinning disk's own cache is no faster."""

MEMORY_MB_PER_S = 14_000.0
"""Four lanes of PCIe 5.0 carry less than 16,000 MB/s, and no disk sold fills them wholly."""

SPINNING_MB_PER_S = 300.0
"""The outer tracks of the fastest."""


@check(
    "cached-reads",
    reason="A read that the system's page cache answers costs microseconds, whatever disk lies below: a mean "
    "over such reads tells how much was cached, and not how fast the disk is.",
    remedy="`--file-extra-flags=direct` of sysbench, `--direct=1` of fio, or files several times as large as "
    "the memory, and caches dropped before",
    source="latency floors: Intel Optane P4800X 10 us, NAND flash 50 us (tR) and more, SATA 600 MB/s",
)
def cached_reads(evidence: Evidence) -> Iterator[Said]:
    """Find reads of files that were sooner or faster than a disk's, and those that may have been cached."""
    moved = evidence.load.file_requests
    if moved is None:
        yield NO_FILES
        return
    if moved.copied_bytes is None and moved.read_bytes == 0:
        yield Apart("nothing was read")
        return
    place = evidence.place("data")
    if place and (place.in_memory or place.pool):
        yield Apart("memory answers by design: the files lay in it, or in a pool with a cache of its own")
        return
    yield from _too_fast(evidence)
    latency = _read_latency(evidence)
    floor_us, whose = _floor(evidence)
    if latency is not None and latency.min is not None and 0 < latency.min < floor_us:
        yield _quick_minimum(evidence, latency, latency.min, floor_us, whose)
    elif latency is not None and latency.min is None and (share := _share_below(latency, floor_us)):
        yield Problem(
            "warning",
            f"{share:,.10g} % of the requests took {latency.percentiles[f'{share:g}'] / 1000:.3g} ms or "
            f"less, "
            f"and {whose} takes {floor_us / 1000:.3g} ms or more: memory answered them"
            f"{_not_apart(evidence, latency)}",
        )
    if moved.direct is None:
        yield Untold("whether the page cache was passed by")
    elif not moved.direct and not place:
        yield Untold("the memory beside the size of the files")


def _quick_minimum(
    evidence: Evidence, latency: Latency, min_us: float, floor_us: float, whose: str
) -> Problem:
    share = _share_below(latency, floor_us)
    many = f", and {share:,.10g} % took less than that" if share else ""
    which = _not_apart(evidence, latency)
    return Problem(
        "warning",
        f"the quickest request took {min_us / 1000:.3g} ms, and {whose} takes {floor_us / 1000:.3g} ms or "
        f"more{many}: memory answered, at least in part{which}. The mean of {latency.mean / 1000:.4g} ms is "
        "of both",
    )


def _share_below(latency: Latency, floor_us: float) -> float | None:
    """Return the highest percentile below a floor; a tool may have rounded the minimum away."""
    return max(
        (float(name) for name, at_us in latency.percentiles.items() if 0 < at_us < floor_us), default=None
    )


def _not_apart(evidence: Evidence, latency: Latency) -> str:
    moved = evidence.load.file_requests
    mixed = latency is evidence.load.latency_us and moved is not None and moved.written_bytes != 0
    return "; reads and writes are not told apart" if mixed else ""


def _read_latency(evidence: Evidence) -> Latency | None:
    """Return the latency of reads where it is told apart, else that of all requests."""
    reads = [one.latency_us for one in evidence.load.statement_types if one.kind == "read"]
    return next((one for one in reads if one), evidence.load.latency_us)


def _floor(evidence: Evidence) -> tuple[float, str]:
    """Return the least latency of a disk such as lies below, and its name."""
    place = evidence.place("data")
    if place and place.device and place.device.rotational:
        return SATA_READ_US, "a spinning disk"
    if evidence.imported and _is_unbuffered(evidence.load.file_requests):
        return FASTEST_READ_US, "the fastest disk"
    return (SATA_READ_US, "flash behind SATA") if evidence.imported else (FASTEST_READ_US, "the fastest disk")


def _is_unbuffered(moved: FileRequests | None) -> bool:
    return bool(moved and moved.direct)


def _too_fast(evidence: Evidence) -> Iterator[Problem]:
    """Hold the bytes that were moved in a second against what a bus can carry."""
    rate, place = evidence.load.megabytes_per_s, evidence.place("data")
    spins = bool(place and place.device and place.device.rotational and not place.virtual)
    most = SPINNING_MB_PER_S if spins else MEMORY_MB_PER_S
    if rate is not None and rate > most:
        what = "a spinning disk" if spins else "any disk"
        yield Problem(
            "warning", f"{rate:,.0f} MB/s were moved, and {what} moves at most {most:,.0f}: memory did"
        )


@check(
    "synced-writes",
    reason="A write that waits for a spinning disk waits for its turn: faster ones were answered by a cache, "
    "and a power cut may take them.",
    remedy="switch the disk's write cache off or prove it safe, mount with barriers, and measure again",
    source="one write to the same place a rotation: rpm/60 a second and serial writer; 15,000 rpm: 250",
)
def synced_writes(evidence: Evidence) -> Iterator[Said]:
    """Find more syncs a second and thread than a spinning disk can turn for; where such a disk is told."""
    moved, load = evidence.load.file_requests, evidence.load
    if moved is None:
        yield NO_FILES
        return
    syncs = recorded(moved.syncs, "the number of syncs")
    if not syncs or not moved.written_bytes:
        yield Apart("nothing was written and synced")
        return
    place = recorded(evidence.place("data"), "what kind of device it was")
    if place.device is None or not place.device.rotational or place.virtual or place.pool:
        yield Apart("no spinning disk of its own below the files")
        return
    each_per_s = syncs / load.known_seconds / load.known_clients
    # Of a round of syncs only the files that were written since the last one cost a turn.
    bound_per_s = FASTEST_SPINDLE_RPM / 60 * max(moved.files or 1, 1)
    if each_per_s > bound_per_s:
        yield Problem(
            "warning",
            f"{each_per_s:,.0f} syncs a second and thread, and a spinning disk of 15,000 rpm turns for at "
            f"most {bound_per_s:,.0f}: a cache answered",
        )
