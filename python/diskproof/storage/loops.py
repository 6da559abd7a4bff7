"""Loop devices: a file, or a stretch of one, as a block device."""

from pathlib import Path

from diskproof.storage.disks import use
from diskproof.storage.kinds.base import StorageError, command
from diskproof.system.journal import Journal
from diskproof.system.loops import lies_on, wait_until_free

LARGEST_REQUEST_KIB = 1024
"""The largest request of FUSE: max_write of diskproof-disk, and 256 pages in the kernel."""

SECTOR_BYTES = 512


def attach(
    file: Path,
    journal: Journal,
    *,
    offset_bytes: int = 0,
    size_bytes: int | None = None,
    sector_bytes: int = SECTOR_BYTES,
) -> Path:
    """Give a file a loop device and return its path; the journal has it first.

    `sector_bytes`: its logical and its physical sector, which a loop device cannot tell apart.

    With direct I/O: requests go past the page cache to the file, or the disk behind it would be seen
    through a cache that the study knows nothing of.
    """
    journal.looped(file)
    return attach_again(file, offset_bytes=offset_bytes, size_bytes=size_bytes, sector_bytes=sector_bytes)


def attach_again(
    file: Path, *, offset_bytes: int = 0, size_bytes: int | None = None, sector_bytes: int = SECTOR_BYTES
) -> Path:
    """Give a file a loop device, maybe another than it had, where the journal has the file already."""
    stretch = ["--offset", str(offset_bytes)] if offset_bytes else []
    if size_bytes is not None:
        stretch += ["--sizelimit", str(size_bytes)]
    if sector_bytes != SECTOR_BYTES:
        stretch += ["--sector-size", str(sector_bytes)]
    return Path(command(["losetup", "--find", "--show", "--direct-io=on", *stretch, str(file)]).strip())


def set_largest_request(device: Path) -> None:
    """Let a loop device over a virtual disk send no more at once than FUSE passes on whole.

    A larger request would become two to the disk: its model would have other requests than the kernel
    counts. It lasts until the device is detached.
    """
    Path(f"/sys/block/{device.name}/queue/max_sectors_kb").write_text(str(LARGEST_REQUEST_KIB))


def set_rotational(device: Path, *, turns: bool) -> None:
    """Let a loop device tell of the disk that it stands for: servers and file systems ask whether it turns.

    MariaDB writes a page's neighbours with it only where they do. It lasts until the device is detached.
    """
    Path(f"/sys/block/{device.name}/queue/rotational").write_text("1" if turns else "0")


def detach(device: Path, backing_file: Path) -> None:
    """Take a loop device off its file, and wait until it has let go of it.

    StorageError where it is in use. That is looked at first: the kernel takes the wish to detach a device
    that is in use for later, when its number may soon be another file's. One that lies on another
    file by now has let go of ours, and is left alone.
    """
    if not lies_on(device, backing_file):
        return
    if used := use(device):
        raise StorageError(f"{device} is in use: {used}")
    command(["losetup", "--detach", str(device)])
    if not wait_until_free(device, backing_file):
        raise StorageError(f"{device} is still in use: unmount what lies on it (`findmnt {device}`)")
