"""Files that are on the disk before the lab goes on: what was written is whole, whenever a kill falls."""

import os
from pathlib import Path


def make_folder(path: Path) -> None:
    """Make a new folder with all that is missing above it; FileExistsError where it is there already."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    path.mkdir(parents=True)
    for folder in missing:
        sync_folder(folder)
    sync_folder((missing[-1] if missing else path.absolute()).parent)


def write_whole(path: Path, text: str) -> None:
    """Write a whole file in UTF-8, or none of it."""
    scratch = path.with_name(path.name + ".partial")
    scratch.write_bytes(text.encode())
    sync(scratch)
    scratch.rename(path)
    sync_folder(path.parent)


def append_line(path: Path, line: str) -> None:
    """Append one line in UTF-8; the first one makes the file."""
    is_new = not path.exists()
    with path.open("ab") as file:
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        sync_folder(path.parent)


def sync(path: Path) -> None:
    """Have a file's content on the disk."""
    _fsync(path, os.O_RDONLY)


def sync_folder(path: Path) -> None:
    """Have a folder's names on the disk: a file that was synced has none there before (fsync(2))."""
    _fsync(path, os.O_RDONLY | os.O_DIRECTORY)


def _fsync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
