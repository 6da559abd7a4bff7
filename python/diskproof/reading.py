"""Files from outside, read safely: regular files of bounded size, which are never waited for."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from diskproof.refusal import RefusalError, why_refused

MIB = 2**20

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class UnreadableError(RefusalError):
    """A file that cannot be read; the message names it and says what to do."""


class MissingFileError(UnreadableError):
    """A file that is not there."""


@contextmanager
def closed_at_end(descriptor: int) -> Iterator[int]:
    """Yield the descriptor of an open file, and close it at the end."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened(path: Path, most_bytes: int, within: Path | None = None) -> Iterator[BinaryIO]:
    """Open a regular file of at most so many bytes, in binary; UnreadableError for all else.

    A pipe or a device is not even waited for: a program could be stopped for ever by its own input. `within`
    is a folder without links in its path: what lies outside, however a link led there, is not read.
    """
    if "\n" in str(path) or "\r" in str(path):  # the rest of it could be taken for a line of output
        raise UnreadableError(f"{str(path)!r} has a line break in its name; rename it")
    try:
        # Without O_NONBLOCK, opening a pipe without a writer would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        if path.is_symlink():
            raise UnreadableError(
                f"{path} is a link to {path.readlink()}, which does not exist; mend or remove the link"
            ) from None
        raise MissingFileError(f"there is no file {path}") from None
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {why_refused(error)}") from None
    except ValueError:  # a NUL, or a character that no file name can have
        raise UnreadableError(f"{str(path)!r} is no name of a file; look at its path") from None
    refused = _why_unfit(path, os.fstat(descriptor), most_bytes)
    if refused is None and within is not None:
        refused = _why_outside(path, descriptor, within)
    if refused:
        os.close(descriptor)
        raise UnreadableError(refused)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def read_bytes(path: Path, most_bytes: int, within: Path | None = None) -> bytes:
    """Return the content of a regular file of at most so many bytes; UnreadableError for all else."""
    with opened(path, most_bytes, within) as file:
        content = bytearray()
        try:
            # All at once would take the memory of the largest file.
            while len(content) <= most_bytes and (piece := file.read(MIB)):
                content += piece
        except OSError as error:
            raise UnreadableError(f"{path} cannot be read: {why_refused(error)}") from None
    if len(content) > most_bytes:  # it grew, or its file system does not tell sizes
        raise UnreadableError(_too_large(path, most_bytes))
    return bytes(content)


def read_text(path: Path, most_bytes: int, within: Path | None = None) -> str:
    """Return a file's text, which must be UTF-8; a byte-order mark before it is left out."""
    content = read_bytes(path, most_bytes, within)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"{path} cannot be read: byte {error.start} is not UTF-8; if it is text, save it as UTF-8"
        ) from None


def _why_unfit(path: Path, facts: os.stat_result, most_bytes: int) -> str | None:
    if stat.S_ISDIR(facts.st_mode):
        return f"{path} cannot be read: it is a folder: name a file"
    if not stat.S_ISREG(facts.st_mode):
        kind = _KINDS.get(stat.S_IFMT(facts.st_mode), "something else")
        return f"{path} is {kind}, not a regular file; save what it holds to a file first"
    return _too_large(path, most_bytes) if facts.st_size > most_bytes else None


def _why_outside(path: Path, descriptor: int, within: Path) -> str | None:
    """Return why a file that is open is not read; its path is the one that the kernel has."""
    lies = Path(f"/proc/self/fd/{descriptor}").readlink()
    return None if lies.is_relative_to(within) else f"{path} is a link that leads out of {within}"


def _too_large(path: Path, most_bytes: int) -> str:
    limit = f"{most_bytes // MIB} MiB" if most_bytes >= MIB else f"{most_bytes:,} bytes"
    return f"{path} is larger than {limit}; is it the right file?"
