"""Faults of a study as diskproof-disk takes them, and the one that is the file system's: no room."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from diskproof.disk import Facts
from diskproof.reading import closed_at_end
from diskproof.results.fault import Fault, FaultKind

OF_DISK: dict[FaultKind, str] = {
    "stall": "stall",
    "slow": "slow",
    "error": "error",
    "read-only": "error",
    "thin-full": "no-space",
    "flip": "corrupt",
    "lost-write": "lost",
    "torn-write": "torn",
    "lying-flush": "ignored",
}
"""What diskproof-disk calls each kind."""

LEAST_BYTES = 4096
"""Smaller pieces are not worth a file system's trouble."""


def schedule_of(fault: Fault) -> list[Facts]:
    """Return the schedule of a fault, in the disk's own time; empty if it is none of a disk's."""
    return list(_entries(fault)) if fault.kind in OF_DISK else []


def _entries(fault: Fault) -> Iterator[Facts]:
    on: list[str | None] = [fault.on]
    if fault.kind == "read-only":
        on = ["write", "discard"]
    elif fault.kind == "flip":
        on = [fault.on or "write"]
    limits = {
        "factor": fault.factor,
        "add_us": None if fault.add_ms is None else fault.add_ms * 1000,
        "times": fault.times,
    }
    for start_s, end_s in fault.windows_s:
        for kind in on:
            entry: Facts = {
                "fault": OF_DISK[fault.kind],
                "on": kind,
                "after_us": round(start_s * 1e6),
                "for_us": None if end_s is None else round((end_s - start_s) * 1e6),
                "after_requests": fault.after_requests,
                "chance": fault.chance,
                **limits,
            }
            yield {name: value for name, value in entry.items() if value is not None}


def fill_up(file: Path, leave_bytes: int) -> None:
    """Reserve all room of a file's file system, also root's, but for so many bytes."""
    with closed_at_end(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600)) as descriptor:
        at, piece = 0, 1 << 40
        while piece >= LEAST_BYTES:
            told = os.statvfs(file)
            piece = min(piece, max(told.f_bfree * told.f_frsize - leave_bytes, 0))
            if piece < LEAST_BYTES:
                break
            try:
                os.posix_fallocate(descriptor, at, piece)
                at += piece
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                piece //= 2  # the file system needs some of it for itself
