"""What the path to a virtual disk costs on this machine, measured once a run for all its disks."""

import math
import mmap
import os
import random
import statistics
import time
from functools import cache
from pathlib import Path

from diskproof import disk
from diskproof.reading import closed_at_end
from diskproof.storage.virtual import VirtualDisk, Wanted, attach
from diskproof.system.journal import Journal

PROBE = "probe"
PROBE_BYTES = 64 * 2**20
PROBE_BLOCK_BYTES = 4096
PROBE_S = 0.3
PROBE_ROUND = 20
"""Reads a round: under a millisecond, so that many rounds stay undisturbed on a busy machine too."""

PROBE_TRIES = 6

PATIENT_TRIES = 18
"""Tries if the result is implausible: before a run is refused, wait for a quiet moment."""

PLAUSIBLE = 3.0
"""A loop device less than trebles the path to the file below it. A higher result shows other work, and
another try may find a quieter moment."""

LIKELY_US = 100.0
"""A shorter path is plausible: six processes wake each other on it, each within about 10 us if cores are
awake, and twice that if they sleep. The floor may come from a luckier moment."""

LONGEST_US = 250.0
"""No idle machine needs longer, whatever its floor: that was measured beside the same other work."""


def path_us(journal: Journal, *, below_floor: bool = False) -> float:
    """Return what the path to a virtual disk costs here, in microseconds: measured once a run.

    DiskError if the result is implausible: it would be subtracted from every latency. With `below_floor`,
    where the user accepts figures that are not the disk's own, only a plausible cost is subtracted.
    """
    found_us, floor_us = _measured_us(journal)
    if not below_floor:
        check_plausible(found_us, floor_us)
    return min(found_us, longest_us(floor_us))


@cache
def _measured_us(journal: Journal) -> tuple[float, float]:
    """Return the measured cost of the path to a virtual disk, and the program's part of it.

    The median of 4 KiB reads at depth 1 through the loop device of a disk that takes no time itself. Of many
    short rounds, one of the quickest: other work slows a round down, and never speeds one up.
    """
    probe = Wanted("null", PROBE, size_bytes=PROBE_BYTES, path_us=0.0, below_floor=True, timing=True)
    attached = attach(probe, journal)
    try:
        floor_us = float(attached.served.ready["floor_us"])
        found = math.inf
        for tried in range(PATIENT_TRIES):
            found = min(found, _probe_us(attached))
            enough = PLAUSIBLE * floor_us if tried < PROBE_TRIES - 1 else longest_us(floor_us)
            if found <= enough:
                break
        return found, floor_us
    finally:
        attached.detach()


def longest_us(floor_us: float) -> float:
    """Return the longest plausible path if the program's part of it is `floor_us`."""
    return min(max(PLAUSIBLE * floor_us, LIKELY_US), LONGEST_US)


def check_plausible(found_us: float, floor_us: float) -> None:
    """Refuse a measured path that an idle machine cannot have; DiskError says what to do."""
    if found_us > longest_us(floor_us):
        raise disk.DiskError(
            f"the path to a virtual disk took {found_us:.0f} µs here, more than the plausible "
            f"{longest_us(floor_us):.0f} µs: other work disturbed the measurement, and this time would be "
            "subtracted from every latency; stop the other work (see `uptime`), and try again"
        )


def _probe_us(attached: VirtualDisk) -> float:
    """Return what one try measured; DiskError if the probe's disk fails."""
    try:
        return _read_us(attached.block)
    except OSError as error:
        how = attached.served.ended()
        raise disk.DiskError(
            "the path to a virtual disk could not be measured: its probe "
            + (how or f"failed ({error.strerror})")
            + "; try again"
        ) from None


def _read_us(block: Path) -> float:
    """Return the first decile of the rounds' medians, in microseconds."""
    medians: list[float] = []
    with closed_at_end(os.open(block, os.O_RDONLY | os.O_DIRECT)) as descriptor:
        until = time.perf_counter() + PROBE_S
        while not medians or time.perf_counter() < until:
            medians.append(statistics.median(_reads_ns(descriptor)))
    return round(sorted(medians)[len(medians) // 10] / 1000, 1)


def _reads_ns(descriptor: int) -> list[int]:
    """Return the times of a round's random reads, one after another."""
    buffer = mmap.mmap(-1, PROBE_BLOCK_BYTES)  # page-aligned, as direct I/O needs
    draw = random.Random(1)  # noqa: S311 - offsets of a probe
    taken = []
    for _ in range(PROBE_ROUND):
        offset = draw.randrange(PROBE_BYTES // PROBE_BLOCK_BYTES) * PROBE_BLOCK_BYTES
        began = time.perf_counter_ns()
        os.preadv(descriptor, [buffer], offset)
        taken.append(time.perf_counter_ns() - began)
    return taken
