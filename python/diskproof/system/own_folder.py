"""Directories of ours: each holds its run's mark, and is changed only through a descriptor.

If others can rename what is on a path, it may lead elsewhere at the next moment. A descriptor cannot.
"""

import errno
import os
import pwd
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from diskproof.reading import closed_at_end
from diskproof.refusal import RefusalError, why_refused

OWNED = ".diskproof-owned"
"""File inside each directory that diskproof made and may remove; it holds the run's mark."""

LONGEST_MARK = 64

LONGEST_PATH_BYTES = 400
"""SQLite and the MySQL family take paths of 512 bytes; a run's own folders and files need about 100."""

REMEDY = ": put the run's own directory back, or remove what is there now"

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NotOursError(RefusalError):
    """A directory that is not, or no longer, the one that a run made."""


@dataclass(frozen=True)
class OwnFolder:
    """A directory that diskproof made."""

    path: Path
    mark: str | None = None
    """None: of any run."""
    identity: tuple[int, int] | None = None
    """Its device and inode; None if another process made it."""

    @classmethod
    def make(cls, path: Path, mark: str) -> "OwnFolder":
        """Make a directory and mark it; FileExistsError if it exists."""
        path.mkdir(mode=0o755)
        with opened(path) as folder:
            file = os.open(OWNED, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=folder)
            with os.fdopen(file, "w") as owned:
                owned.write(mark)
            return cls(path, mark, _identity(folder))

    @contextmanager
    def held(self) -> Iterator[int]:
        """Yield a descriptor of the directory; NotOursError if another is at its path, or has no mark."""
        with opened(self.path) as folder:
            if self.identity not in (None, _identity(folder)):
                raise NotOursError(
                    f"{self.path} was replaced by another directory, which stays as it is{REMEDY}"
                )
            if not self._is_marked(folder):
                raise NotOursError(f"{self.path} has no mark of this run, so it stays as it is{REMEDY}")
            yield folder

    @property
    def is_ours(self) -> bool:
        """Whether the directory is there, and ours."""
        try:
            with self.held():
                return True
        except (OSError, RefusalError):
            return False

    def clear(self, names: Iterable[str]) -> None:
        """Remove some of what is in the directory; OSError says why it cannot."""
        with self.held() as folder:
            for name in names:
                _remove(name, folder)

    def fresh(self, names: Iterable[str]) -> None:
        """Make empty directories in it, in the place of what has their names."""
        with self.held() as folder:
            for name in names:
                _remove(name, folder)
                os.mkdir(name, dir_fd=folder)

    def remove(self) -> None:
        """Remove the directory, its mark last: an attempt that fails can be repeated. OSError says why."""
        with self.held() as folder:
            for name in {*_names(folder)} - {OWNED}:
                _remove(name, folder)
            _remove(OWNED, folder)
        self.path.rmdir()

    def _is_marked(self, folder: int) -> bool:
        """Return whether a directory holds the mark, or was to get it or lost it when a kill came.

        Such a directory is empty, and has the mark in its name.
        """
        mark = _read_mark(folder)
        if mark and self.mark in (None, mark):
            return True
        return bool(self.mark) and str(self.mark) in self.path.name and not {*_names(folder)} - {OWNED}


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Yield a descriptor of a directory; NotOursError if a link or a file is there."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise NotOursError(f"{path} is no directory any more, so it stays as it is{REMEDY}") from None
        raise
    with closed_at_end(folder):
        yield folder


def renamed_first(made: Path, name: Path) -> bool:
    """Give a directory its name; return False if another program has put a directory there meanwhile."""
    try:
        made.rename(name)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def through(descriptor: int) -> Path:
    """Return a path to a directory that is held, for programs that this one starts and waits for."""
    return Path(f"/proc/{os.getpid()}/fd/{descriptor}")


def expanded(given: Path) -> Path:
    """Return a path with the home folder that `~` or `~user` means; RefusalError if nobody has it."""
    try:
        return given.expanduser()
    except RuntimeError:
        raise RefusalError(f"{given.parts[0]} is nobody's home: give the whole path") from None


def real_path(given: Path) -> Path:
    """Return the path of a directory without links and `..`; it need not exist. RefusalError if none can."""
    try:
        path = expanded(given).absolute()
        for link in (path, *path.parents):
            if link.is_symlink() and not link.exists():
                raise RefusalError(f"{link} is a link to nothing; make what it leads to, or name a directory")
        real = path.resolve()
    except OSError as error:
        raise RefusalError(f"{given!s:.60}… cannot be used: {why_refused(error)}") from None
    except RuntimeError as error:  # its links lead to each other
        raise RefusalError(f"{given} cannot be used: {error}") from None
    if len(os.fsencode(real)) > LONGEST_PATH_BYTES:
        raise RefusalError(
            f"{given!s:.60}… has {len(os.fsencode(real))} bytes, more than the {LONGEST_PATH_BYTES} that "
            "leave room for the files of every server; name a shorter path"
        )
    return real


def why_replaceable(path: Path) -> str | None:
    """Return why others could put another directory in the place of one that exists, for root to refuse it.

    They can rename it, or a folder above it, if they own the folder around it, or may write to that. In a
    sticky folder, such as /tmp, only owners rename. Who became root by sudo is trusted.
    """
    trusted = {"0", str(os.geteuid()), os.environ.get("SUDO_UID")}
    for folder in (path, *path.parents):
        found = folder.stat()
        if str(found.st_uid) not in trusted:
            return f"{folder} belongs to {_user(found.st_uid)}"
        if found.st_mode & OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
            return f"others may write to {folder} (mode {stat.S_IMODE(found.st_mode):o})"
    return None


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _names(folder: int) -> list[str]:
    return os.listdir(folder)


def _read_mark(folder: int) -> str:
    """Return the mark in a directory; nothing if there is none."""
    try:
        file = os.open(OWNED, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return ""
    with closed_at_end(file):
        is_file = stat.S_ISREG(os.fstat(file).st_mode)
        return os.read(file, LONGEST_MARK).decode(errors="replace") if is_file else ""


def _remove(name: str, folder: int) -> None:
    """Remove a file, a link, or a directory with all in it; nothing if it is not there."""
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            shutil.rmtree(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)
