"""The way to a virtual disk: what it costs on this machine, measured once a run for all its disks."""

import math
import mmap
import os
import random
import statistics
import time
from functools import cache
from pathlib import Path

from diskproof import disk
from diskproof.storage.virtual import Wanted, attach
from diskproof.system.journal import Journal

PROBE = "probe"
PROBE_BYTES = 64 * 2**20
PROBE_BLOCK_BYTES = 4096
PROBE_S = 0.3
PROBE_ROUND = 20
"""Reads a round: less than a millisecond, so that many rounds go by undisturbed on a busy machine too."""

PROBE_TRIES = 6

PATIENT_TRIES = 18
"""So many where what was found cannot be: before a run is refused, a quiet moment is waited for."""

PLAUSIBLE = 3.0
"""A loop device less than trebles the way to the file below it. Where it seems to, other work was in the
way, and another try may find a quieter moment."""

LIKELY_US = 100.0
"""A way that is no longer than this is believed: six processes wake each other on it, each within 10 us or so
where cores are awake, and twice that where they sleep. A floor may have been measured in a luckier moment."""

LONGEST_US = 250.0
"""No machine at rest needs longer, whatever its floor was found to be: that had the same work in its way."""


def path_us(journal: Journal, *, below_floor: bool = False) -> float:
    """Return what the way to a virtual disk costs here, in microseconds: measured once a run.

    DiskError where what was found cannot be: it would be taken off every latency. With `below_floor`, for who
    takes figures that are not the disk's own, no more than can be is taken off.
    """
    found_us, floor_us = _way(journal)
    if not below_floor:
        check_plausible(found_us, floor_us)
    return min(found_us, longest_us(floor_us))


@cache
def _way(journal: Journal) -> tuple[float, float]:
    """Return what the way to a virtual disk was found to cost, and the program's part of it.

    The median of 4 KiB reads at depth 1 through the loop device of a disk that takes no time itself. Of
    many short rounds, one of the quickest: other work slows a round down, and never speeds one up.
    """
    probe = Wanted("null", PROBE, size_bytes=PROBE_BYTES, path_us=0.0, below_floor=True, timing=True)
    attached = attach(probe, journal)
    try:
        floor_us = float(attached.served.ready["floor_us"])
        found = math.inf
        for tried in range(PATIENT_TRIES):
            found = min(found, _read_us(attached.block))
            enough = PLAUSIBLE * floor_us if tried < PROBE_TRIES - 1 else longest_us(floor_us)
            if found <= enough:
                break
        return found, floor_us
    finally:
        attached.detach()


def longest_us(floor_us: float) -> float:
    """Return the longest way that is believed where the program's part of it was found to be `floor_us`."""
    return min(max(PLAUSIBLE * floor_us, LIKELY_US), LONGEST_US)


def check_plausible(found_us: float, floor_us: float) -> None:
    """Refuse a measured way that a machine at rest cannot have; DiskError says what to do."""
    if found_us > longest_us(floor_us):
        raise disk.DiskError(
            f"the way to a virtual disk seems to take {found_us:.0f} us here, and no more than "
            f"{longest_us(floor_us):.0f} us are believed: other work was in the way for as long as it was "
            "measured, and what was found would be taken off every latency; end what keeps this machine busy "
            "(see `uptime`), and try again"
        )


def _read_us(block: Path) -> float:
    """Return the first decile of the rounds' medians, in microseconds."""
    medians: list[float] = []
    descriptor = os.open(block, os.O_RDONLY | os.O_DIRECT)
    try:
        until = time.perf_counter() + PROBE_S
        while not medians or time.perf_counter() < until:
            medians.append(statistics.median(_reads_ns(descriptor)))
    finally:
        os.close(descriptor)
    return round(sorted(medians)[len(medians) // 10] / 1000, 1)


def _reads_ns(descriptor: int) -> list[int]:
    """Return what the random reads of a round took, one after the other."""
    buffer = mmap.mmap(-1, PROBE_BLOCK_BYTES)  # on a page of its own, as direct I/O asks
    draw = random.Random(1)  # noqa: S311 - offsets of a probe
    taken = []
    for _ in range(PROBE_ROUND):
        offset = draw.randrange(PROBE_BYTES // PROBE_BLOCK_BYTES) * PROBE_BLOCK_BYTES
        began = time.perf_counter_ns()
        os.preadv(descriptor, [buffer], offset)
        taken.append(time.perf_counter_ns() - began)
    return taken
