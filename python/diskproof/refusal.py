"""What a user can mend: said in words, without a traceback, and answered with exit code 2."""

import errno
import os
from pathlib import Path

MENDABLE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EMFILE}
)
"""What is a user's to mend wherever it comes up; of others that must be known where they do."""

REMEDIES = {
    errno.ENOSPC: "its disk is full: make room there",
    errno.EDQUOT: "your quota there is used up: make room there",
    errno.EROFS: "its file system is read-only: name another folder, or mount it writable",
    errno.EACCES: "you may not: change its permissions, or name another",
    errno.EPERM: "you may not: change its permissions, or name another",
    errno.ENAMETOOLONG: "the name is too long: choose a shorter one",
    errno.ENOTDIR: "a part of its path is a file, and no folder: name another",
    errno.EISDIR: "it is a folder: name a file",
    errno.EEXIST: "a file of that name is there: name another",
    errno.ENOENT: "its folder is not there: make it first, or name another",
    errno.EFBIG: "it would be larger than a file may be there: name another folder",
    errno.EMFILE: "too many files are open: raise `ulimit -n`",
}
"""What to do where the system refuses to write, or to read."""


NAMELESS_REMEDIES = {
    errno.ENOSPC: "a disk that is written to is full: `df -h` shows which",
    errno.EDQUOT: "a quota of yours is used up: `quota` shows which",
    errno.EACCES: "the system does not let you: `diskproof doctor` says what you may",
    errno.EPERM: "the system does not let you: `diskproof doctor` says what you may",
}
"""The same where the system does not say of which file: of a write, a signal, a process that is to start."""


class RefusalError(Exception):
    """Something cannot be done as asked. The message says what was wrong, where, and what to do next."""


class NotWrittenError(RefusalError):
    """What had to be written down could not be."""


def told_of(error: OSError) -> str | None:
    """Say what the system has refused and what to do, where that is a user's to mend; None of all else."""
    if error.errno not in MENDABLE:
        return None
    if isinstance(error.filename, str | os.PathLike):
        return f"{error.filename}: {error.strerror}: {REMEDIES[error.errno]}"
    return f"{error.strerror}: {NAMELESS_REMEDIES.get(error.errno) or REMEDIES[error.errno]}"


def why_refused(error: OSError) -> str:
    """Say why the system refuses, and what to do where that is known."""
    return REMEDIES.get(error.errno or 0) or error.strerror or str(error)


def why_not_written(path: Path, error: OSError) -> str:
    """Say what could not be written, why, and what to do."""
    return f"{path} cannot be written: {why_refused(error)}"
