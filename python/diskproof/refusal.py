"""Errors that the user can correct: a message without a traceback, and exit code 2."""

import errno
import os
from pathlib import Path

CORRECTABLE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EMFILE}
)
"""Errors that are the user's to correct wherever they occur; for others that depends on where."""

REMEDIES = {
    errno.ENOSPC: "its disk is full: make room there",
    errno.EDQUOT: "your quota there is used up: make room there",
    errno.EROFS: "its file system is read-only: name another folder, or mount it writable",
    errno.EACCES: "you have no permission: change its permissions, or name another",
    errno.EPERM: "you have no permission: change its permissions, or name another",
    errno.ENAMETOOLONG: "the name is too long: choose a shorter one",
    errno.ENOTDIR: "a part of its path is a file, not a folder: name another",
    errno.EISDIR: "it is a folder: name a file",
    errno.EEXIST: "a file of that name exists: name another",
    errno.ENOENT: "its folder does not exist: make it first, or name another",
    errno.EFBIG: "the file would be too large for its file system or your limit: name another folder",
    errno.EMFILE: "too many files are open: raise `ulimit -n`",
}
"""What to do if the system refuses to write or to read."""

NAMELESS_REMEDIES = {
    errno.ENOSPC: "a disk is full: `df -h` shows which",
    errno.EDQUOT: "one of your quotas is used up: `quota` shows which",
    errno.EACCES: "you have no permission: `diskproof doctor` reports what you may do",
    errno.EPERM: "you have no permission: `diskproof doctor` reports what you may do",
}
"""The same if the system names no file, as for a write, a signal or the start of a process."""


class RefusalError(Exception):
    """Something cannot be done as asked: the message says what is wrong, where, and what to do."""


class NotWrittenError(RefusalError):
    """A record could not be written."""


def refusal_of(error: OSError) -> str | None:
    """Return what the system refused and what to do; None if the user cannot correct it."""
    if error.errno not in CORRECTABLE:
        return None
    if isinstance(error.filename, str | os.PathLike):
        return f"{error.filename}: {error.strerror}: {REMEDIES[error.errno]}"
    return f"{error.strerror}: {NAMELESS_REMEDIES.get(error.errno) or REMEDIES[error.errno]}"


def why_refused(error: OSError) -> str:
    """Return why the system refuses, and what to do if that is known."""
    return REMEDIES.get(error.errno or 0) or error.strerror or str(error)


def why_not_written(path: Path, error: OSError) -> str:
    """Return what could not be written, why, and what to do."""
    return f"{path} cannot be written: {why_refused(error)}"


def check_writable(record: Path | None, folder: Path | None) -> None:
    """Refuse, before anything is measured, a file or folder that could not be written afterwards."""
    if record and not record.absolute().parent.is_dir():
        raise RefusalError(f"there is no folder {record.absolute().parent} for {record.name}; make it first")
    if record and record.is_dir():
        raise RefusalError(f"{record} is a folder; name a file")
    try:
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        for path in ([record] if record else []) + ([folder / "profile.json"] if folder else []):
            is_new = not path.exists()
            path.open("ab").close()
            if is_new:
                path.unlink()
    except OSError as error:
        raise RefusalError(why_not_written(folder or record or Path(), error)) from None
