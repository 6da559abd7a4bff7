"""Copies data sets: by reflink if the file system can, and cold in the page cache afterwards."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from diskproof.storage.kinds.base import StorageError, command
from diskproof.system.own_folder import opened, through

PIECE_BYTES = 2**20


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
    result = subprocess.run(
        ["cp", "--archive", "--reflink=auto", f"{source}/.", f"{target}/."],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        why = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        for path in (source, target):
            why = why.replace(f"{path}/.", str(path.readlink()))
        names = f"from {source.readlink()} to {target.readlink()}"
        raise StorageError(f"the data set could not be copied {names}: {why}")
    return how


def settle(folders: list[Path]) -> None:
    """Write copied files to the disk and drop them from the page cache.

    Otherwise the copy's write-back would fall into the measurement, and a server that uses the page cache
    would take its first reads from memory.
    """
    for device_folder in {folder.stat().st_dev: folder for folder in folders}.values():
        subprocess.run(["sync", "--file-system", str(device_folder)], check=True)
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                _forget(path)


def apparent_bytes(folder: Path) -> int:
    """Return the size of the files below a folder, whatever the file system stores of them."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _forget(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def _clones(source: Path, target: Path) -> bool:
    """Clone one real file as a test: only the file system itself knows whether it can."""
    probe = next((path for path in source.rglob("*") if path.is_file() and path.stat().st_size), None)
    if probe is None:
        return False
    clone = target / ".diskproof-clone"
    tried = subprocess.run(
        ["cp", "--reflink=always", str(probe), str(clone)], capture_output=True, check=False
    )
    clone.unlink(missing_ok=True)
    return tried.returncode == 0


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
