"""Keeping idle cores quick to wake."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LATENCY = Path("/dev/cpu_dma_latency")


def may_keep_cores_awake() -> bool:
    """Tell whether this user may ask the kernel for it."""
    try:
        with LATENCY.open("r+b", buffering=0):
            return True
    except OSError:
        return False


@contextmanager
def cores_awake() -> Iterator[int | None]:
    """Let no idle core sleep so deep that waking it takes longer than this many microseconds: 0.

    The request lives as long as the file is open (Documentation/power/pm_qos_interface.rst of the
    Linux kernel): there is nothing to undo, even after a kill. Yields the microseconds asked for, or
    None where the kernel has no such file or this user may not write it.
    """
    try:
        file = LATENCY.open("r+b", buffering=0)
    except OSError:
        yield None
        return
    with file:
        file.write(struct.pack("i", 0))
        yield 0
