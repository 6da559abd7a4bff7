"""Keeping idle cores quick to wake."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LATENCY = Path("/dev/cpu_dma_latency")


def may_keep_cores_awake() -> bool:
    """Return whether this user may ask the kernel for it."""
    try:
        with LATENCY.open("r+b", buffering=0):
            return True
    except OSError:
        return False


@contextmanager
def cores_awake() -> Iterator[int | None]:
    """Keep every idle core so lightly asleep that waking it takes no longer than 0 us.

    The request lives as long as the file is open (Documentation/power/pm_qos_interface.rst of the Linux
    kernel), so there is nothing to undo, even after a kill. Yields the microseconds, or None if the kernel
    has no such file or this user may not write it.
    """
    try:
        file = LATENCY.open("r+b", buffering=0)
    except OSError:
        yield None
        return
    with file:
        file.write(struct.pack("i", 0))
        yield 0
