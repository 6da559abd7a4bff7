"""Loop devices: a file as a block device.

`rq_affinity` and `nomerges` of its queue did not shorten what 64 readers waited in the kernel: they waited in
the queue of FUSE.
"""

from pathlib import Path

from diskproof.storage.disks import use
from diskproof.storage.kinds.base import StorageError, command
from diskproof.system.journal import Journal
from diskproof.system.loops import lies_on, wait_until_free

LARGEST_REQUEST_KIB = 1024
"""The largest request of FUSE: max_write of diskproof-disk, and 256 pages in the kernel."""

SECTOR_BYTES = 512


def attach(file: Path, journal: Journal, *, sector_bytes: int = SECTOR_BYTES) -> Path:
    """Give a file a loop device and return its path; the file is in the journal first.

    `sector_bytes`: its logical and its physical sector, which are equal on a loop device. Direct I/O bypasses
    the page cache, which the study does not know.
    """
    journal.looped(file)
    return attach_again(file, sector_bytes=sector_bytes)


def attach_again(file: Path, *, sector_bytes: int = SECTOR_BYTES) -> Path:
    """Give a file a loop device, possibly another one; the file is in the journal already."""
    sectors = ["--sector-size", str(sector_bytes)] if sector_bytes != SECTOR_BYTES else []
    return Path(command(["losetup", "--find", "--show", "--direct-io=on", *sectors, str(file)]).strip())


def set_largest_request(device: Path) -> None:
    """Limit a loop device over a virtual disk to requests that FUSE passes on whole.

    A larger request would reach the disk as two, and model and kernel would count different requests. It
    lasts until the device is detached.
    """
    Path(f"/sys/block/{device.name}/queue/max_sectors_kb").write_text(str(LARGEST_REQUEST_KIB))


def set_rotational(device: Path, *, turns: bool) -> None:
    """Mark a loop device as spinning or not, like its disk: servers and file systems read that.

    MariaDB then writes a page's neighbours with it. It lasts until the device is detached.
    """
    Path(f"/sys/block/{device.name}/queue/rotational").write_text("1" if turns else "0")


def detach(device: Path, backing_file: Path) -> None:
    """Detach a loop device from its file, and wait until it has released it.

    StorageError if it is in use. That is checked first: the kernel would detach a busy device later, when its
    number may be another file's. A device that lies on another file by now is left alone.
    """
    if not lies_on(device, backing_file):
        return
    if used := use(device):
        raise StorageError(f"{device} is in use: {used}")
    command(["losetup", "--detach", str(device)])
    if not wait_until_free(device, backing_file):
        raise StorageError(f"{device} is still in use: unmount what lies on it (`findmnt {device}`)")
