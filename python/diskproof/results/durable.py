"""Files that are on the disk before the lab continues: a kill never leaves half a file."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from diskproof.reading import closed_at_end
from diskproof.refusal import NotWrittenError, why_not_written


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Put in words what the system says against writing a path: NotWrittenError says what to do.

    That something is there already stays what it is: who makes anew has an answer of their own.
    """
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise NotWrittenError(why_not_written(path, error)) from error


def make_folder(path: Path) -> None:
    """Make a new folder with all that is missing above it; FileExistsError if it exists."""
    for one in (path, *path.parents):
        if one.is_symlink() and not one.exists():
            why = f"{one} is a link to {one.readlink()}, which does not exist"
            raise NotWrittenError(f"{why}; remove the link, or name another folder")
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    path.mkdir(parents=True)
    for folder in missing:
        sync_folder(folder)
    sync_folder((missing[-1] if missing else path.absolute()).parent)


def write_whole(path: Path, text: str) -> None:
    """Write a whole file in UTF-8, or none of it; what is no file, such as /dev/stdout, is written to.

    NotWrittenError says why not, and what to do.
    """
    with writing(path):
        if path.exists() and not path.is_file():
            path.write_bytes(text.encode())
            return
        scratch = path.with_name(path.name + ".partial")
        try:
            scratch.write_bytes(text.encode())
            sync(scratch)
            scratch.rename(path)
        except OSError:
            scratch.unlink(missing_ok=True)  # on a full disk half a file would take what room there is
            raise
        sync_folder(path.parent)


def write_pieces(path: Path, pieces: Iterable[tuple[int, bytes]], size_bytes: int) -> None:
    """Write a whole file from pieces, each with its offset, or none of it if they break off.

    What is between them becomes a hole.
    """
    scratch = path.with_name(path.name + ".partial")
    try:
        with scratch.open("wb") as file:
            for offset, piece in pieces:
                file.seek(offset)
                file.write(piece)
            file.truncate(size_bytes)
        sync(scratch)
        scratch.rename(path)
    finally:
        scratch.unlink(missing_ok=True)
    sync_folder(path.parent)


def append_line(path: Path, line: str, *, mode: int = 0o666) -> None:
    """Append one line in UTF-8, or nothing of it; the first one makes the file."""
    is_new = not path.exists()
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    with closed_at_end(os.open(path, flags, mode)) as descriptor:
        before = os.fstat(descriptor).st_size
        try:
            _write_all(descriptor, line.encode() + b"\n")
            os.fsync(descriptor)
        except OSError:  # a full disk, for instance: the next line must not continue a broken one
            os.ftruncate(descriptor, before)
            raise
    if is_new:
        sync_folder(path.parent)


def _write_all(descriptor: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


def sync(path: Path) -> None:
    """Have a file's content on the disk."""
    _fsync(path, os.O_RDONLY)


def sync_folder(path: Path) -> None:
    """Have a folder's names on the disk: a file that was synced has none there before (fsync(2))."""
    _fsync(path, os.O_RDONLY | os.O_DIRECTORY)


def _fsync(path: Path, flags: int) -> None:
    with closed_at_end(os.open(path, flags)) as descriptor:
        os.fsync(descriptor)


def begin_passing(path: Path) -> TextIO:
    """Begin a file of lines that nobody misses: each is passed on at once, and nothing waits for the disk."""
    return path.open("w", buffering=1, encoding="utf-8")
