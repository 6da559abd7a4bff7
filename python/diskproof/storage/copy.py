"""Copies data sets: by reflink if the file system can, and cold in the page cache afterwards."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from diskproof.reading import closed_at_end
from diskproof.storage.kinds.base import CommandFailedError, StorageError, command
from diskproof.system.own_folder import opened, through
from diskproof.system.undoing import COMMAND_LIMIT_S

PIECE_BYTES = 2**20

SLOWEST_BYTES_PER_S = 1e6
"""The slowest pace of a copy; slower means that it hangs."""


def copy_tree(source: Path, target: Path) -> Literal["reflink", "copy"]:
    """Copy the contents of `source` into the existing directory `target`, with their owners.

    GNU cp clones if source and target share a file system that can. It keeps holes, and otherwise copies in
    the kernel. Returns which of the two it was.
    """
    with opened(source) as held_source, opened(target) as held_target:
        if any(through(held_target).iterdir()):
            raise StorageError(f"{target} is not empty, so no data set is copied to it")
        return _copy(through(held_source), through(held_target))


def _copy(source: Path, target: Path) -> Literal["reflink", "copy"]:
    how: Literal["reflink", "copy"] = "reflink" if _clones(source, target) else "copy"
    try:
        command(
            ["cp", "--archive", "--reflink=auto", f"{source}/.", f"{target}/."],
            limit_s=_limit_s(apparent_bytes(source)),
        )
    except CommandFailedError as error:
        why = error.last_line
        for path in (source, target):
            why = why.replace(f"{path}/.", str(path.readlink()))
        names = f"from {source.readlink()} to {target.readlink()}"
        raise StorageError(f"the data set could not be copied {names}: {why}") from None
    return how


def settle(folders: list[Path]) -> None:
    """Write copied files to the disk and drop them from the page cache.

    Otherwise the copy's write-back would fall into the measurement, and a server that uses the page cache
    would take its first reads from memory.
    """
    for device_folder in {folder.stat().st_dev: folder for folder in folders}.values():
        sync(device_folder, sum(map(apparent_bytes, folders)))
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                _forget(path)


def sync(folder: Path, size_bytes: int) -> None:
    """Write out the file system of a folder that holds so many new bytes."""
    command(["sync", "--file-system", str(folder)], limit_s=_limit_s(size_bytes))


def apparent_bytes(folder: Path) -> int:
    """Return the size of the files below a folder, whatever the file system stores of them."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _limit_s(size_bytes: int) -> float:
    return COMMAND_LIMIT_S + size_bytes / SLOWEST_BYTES_PER_S


def _forget(path: Path) -> None:
    with closed_at_end(os.open(path, os.O_RDONLY | os.O_NOFOLLOW)) as descriptor:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _clones(source: Path, target: Path) -> bool:
    """Clone one real file as a test: only the file system itself knows whether it can."""
    probe = next((path for path in source.rglob("*") if path.is_file() and path.stat().st_size), None)
    if probe is None:
        return False
    clone = target / ".diskproof-clone"
    try:
        command(["cp", "--reflink=always", str(probe), str(clone)])
    except CommandFailedError:
        return False
    finally:
        clone.unlink(missing_ok=True)
    return True


def fill(device: Path, image: Path) -> None:
    """Give an unused block device the bytes of a file; holes read as zeroes on it too."""
    command(["blkdiscard", "--force", str(device)])
    with image.open("rb") as source, device.open("r+b") as target:
        for offset, end in _data(source.fileno()):
            for at in range(offset, end, PIECE_BYTES):
                source.seek(at)
                target.seek(at)
                target.write(source.read(min(PIECE_BYTES, end - at)))
        target.flush()
        os.fsync(target.fileno())


def _data(descriptor: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a sparse file that have bytes: start and end."""
    end = 0
    size = os.fstat(descriptor).st_size
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole up to the end
                return
            raise
        end = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, end
