"""Loop devices, as the kernel lists them."""

import fcntl
import os
import time
from pathlib import Path

from diskproof.reading import closed_at_end

BLOCKS = Path("/sys/block")

LOOP_GET_STATUS64 = 0x4C05
STATUS_BYTES = 232
NAME_FIELD = slice(56, 120)
"""From linux/loop.h: `struct loop_info64`, and in it the name by which a file was attached."""

NAME_BYTES_MAX = 63
"""Longer names were cut, and two files may have the same beginning."""

RELEASE_S = 5.0
"""How long a loop device may take to release its file: udev looks at each that changes."""


def loops_on(backing_file: Path) -> list[Path]:
    """Return the loop devices on a file, which need not be readable any more."""
    return [Path("/dev") / folder.name for folder in BLOCKS.glob("loop*") if _lies_on(folder, backing_file)]


def lies_on(device: Path, backing_file: Path) -> bool:
    """Return whether a loop device lies on a file; its number may have been reused."""
    return _lies_on(BLOCKS / device.name, backing_file)


def backing_file_of(device: Path) -> str | None:
    """Return the file that a loop device lies on; None for any other device."""
    return _backing(BLOCKS / device.name)


def wait_until_free(device: Path, backing_file: Path) -> bool:
    """Wait until a detached loop device has released its file; False if it does not."""
    until = time.monotonic() + RELEASE_S
    while _lies_on(BLOCKS / device.name, backing_file):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def _lies_on(folder: Path, backing_file: Path) -> bool:
    """Return whether a loop device lies on a file, even if the file's mount is gone.

    A disk's program that ends removes its mount under the loop device. The kernel's path of the file then
    begins where the mount was.
    """
    backing = _backing(folder)
    name = os.fsencode(backing_file)
    if backing == f"/{backing_file.name}" != str(backing_file) and len(name) < NAME_BYTES_MAX:
        return _attached_as(Path("/dev") / folder.name) == name
    return backing == str(backing_file)


def _attached_as(device: Path) -> bytes | None:
    status = bytearray(STATUS_BYTES)
    try:
        with closed_at_end(os.open(device, os.O_RDONLY)) as descriptor:
            fcntl.ioctl(descriptor, LOOP_GET_STATUS64, status)
    except OSError:
        return None
    return bytes(status[NAME_FIELD]).split(b"\0")[0]


def _backing(folder: Path) -> str | None:
    try:
        return (folder / "loop/backing_file").read_text().rstrip("\n")
    except OSError:
        return None
