"""What every kind of place is made with, and what it is once it is ready."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeVar

from diskproof.refusal import RefusalError
from diskproof.results.machine import PoolFacts, VirtualFacts
from diskproof.results.record import Role
from diskproof.study.places import PlaceChoice, PlaceKind
from diskproof.system.journal import Journal
from diskproof.system.own_folder import OwnFolder, real_path, why_replaceable
from diskproof.system.programs import Ended, TimedOut, run
from diskproof.system.undoing import COMMAND_LIMIT_S
from diskproof.wording import Message, numbers

if TYPE_CHECKING:
    from diskproof.storage.virtual import ServedDisk

SCRATCH = re.compile(r"diskproof-[0-9a-f]{8}(-\d+)?")
"""Names of the folders that runs make inside a place."""

POLL_S = 0.02

Made = TypeVar("Made")

MemoryLimits = Mapping[str, int]
"""Memory limit of each virtual disk's contents in bytes, by its key (`PlaceChoice.disk_keys`)."""

NO_LIMITS: MemoryLimits = MappingProxyType({})


class StorageError(RefusalError):
    """A place that cannot be used as the study says; the message says what to do."""


class CommandFailedError(StorageError):
    """A program of the system that ran and failed."""

    def __init__(self, argv: Sequence[str], ended: Ended) -> None:
        super().__init__(f"`{' '.join(argv)}` failed: {ended.complaint}")
        self.code = ended.code
        self.last_line = ended.complaint.splitlines()[-1]


class Prepared:
    """A place that is ready: a folder on the requested storage, in which roles are directories.

    A kind that can keep a loaded database and restore it at once overrides `keep` and `put_back`. Other kinds
    get a copy before every trial.
    """

    def __init__(self, kind: PlaceKind, folder: Path) -> None:
        """Name a folder that lies on a mount of the run."""
        self.kind = kind
        self.folder = folder

    def fresh(self, roles: Iterable[Role]) -> None:
        """Make an empty directory for every role; the files of earlier trials are removed."""
        self.clear(roles)
        for role in roles:
            (self.folder / role).mkdir()

    def clear(self, roles: Iterable[Role]) -> None:
        """Remove the roles' directories."""
        raise NotImplementedError

    def keep(self, name: str) -> None:
        """Keep the present contents under a name, if this kind can."""

    def keeps(self, name: str) -> bool:
        """Return whether something is kept under a name."""
        del name
        return False

    def put_back(self, name: str) -> bool:
        """Restore what was kept under a name; False if nothing was, or if this kind cannot."""
        del name
        return False

    disks: tuple["ServedDisk", ...] = ()
    """The virtual disks of the place."""

    @property
    def virtual(self) -> VirtualFacts | None:
        """The virtual disk that the place is; None for any other kind."""
        return None

    @property
    def pool(self) -> PoolFacts | None:
        """The ZFS pool that the place is; None for any other kind."""
        return None

    @property
    def notes(self) -> tuple[Message, ...]:
        """What was chosen for the server."""
        return ()

    def suit(self, page_bytes: int) -> None:
        """Adapt the place to a server with pages of this size, before it is filled."""

    def close(self) -> None:
        """Give the place back; what fails is left to the journal."""


class PlainPlace(Prepared):
    """A place that keeps nothing: a folder of our own."""

    def __init__(self, kind: PlaceKind, own: OwnFolder) -> None:
        """Use a folder that was in the journal before it was made, or lies on a mount that was."""
        super().__init__(kind, own.path)
        self._own = own

    def fresh(self, roles: Iterable[Role]) -> None:
        """Make an empty directory for every role; the files of earlier trials are removed."""
        self._own.fresh(roles)

    def clear(self, roles: Iterable[Role]) -> None:
        """Remove the roles' directories."""
        self._own.clear(roles)


class Kind(Protocol):
    """One kind of place: a module with these two functions."""

    def check(self, name: str, choice: PlaceChoice, need_bytes: int) -> None:
        """Refuse a place that cannot serve, before anything is written.

        `name` is the storage's; `need_bytes` is what its roles will hold.
        """

    def prepare(self, choice: PlaceChoice, journal: Journal) -> Prepared:
        """Make the run's own folder in a place; all that is made or mounted is in the journal first."""


class KindWithDisks(Kind, Protocol):
    """A kind of place with virtual disks."""

    def prepare(
        self, choice: PlaceChoice, journal: Journal, limits: MemoryLimits = NO_LIMITS, dilation: int = 1
    ) -> Prepared:
        """Make the place; each virtual disk gets its memory limit, and time that is so many times slower."""


def unused(path: Path) -> Path:
    """Return the path, or the first of path-2, path-3 and so on that is unused."""
    return path.with_name(first_free(path.name, lambda name: path.with_name(name).exists()))


def first_free(name: str, is_taken: Callable[[str], bool]) -> str:
    """Return the name, or the first of name-2, name-3 and so on that is not taken."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(one for one in chain([name], numbered) if not is_taken(one))


def resolved(what: str, directory: Path) -> Path:
    """Return a directory's path without links; it need not exist. StorageError says why it cannot be used.

    Root refuses one that others could replace while it works there.
    """
    try:
        path = real_path(directory)
    except RefusalError as error:
        raise StorageError(f"{what}: {error}") from None
    existing = nearest(path)
    if not existing.is_dir():
        raise StorageError(f"{what}: {existing} is not a directory; name one, or a new path")
    if os.geteuid() == 0 and (why := why_replaceable(existing)):
        raise StorageError(
            f"{what}: {why}, so {path} could be replaced by another folder while root works in it; run as an "
            "ordinary user, or name a directory that only root can rename, such as /var/tmp/diskproof"
        )
    return path


def strangers_in(directory: Path) -> str | None:
    """Return a name in a directory that no run explains; None if there is none.

    `lost+found` comes with each new ext4.
    """
    if not directory.exists():
        return None
    names = (entry.name for entry in directory.iterdir())
    return min((name for name in names if name != "lost+found" and not SCRATCH.fullmatch(name)), default=None)


LESS_DATA = "load less data (`rows`, `accounts`, `warehouses`, or the `size` of a script)"

LESS_ROOM = f"{LESS_DATA} or lower `measure_s`"
"""Most loads write more the longer they run."""


def check_free(what: str, path: Path, need_bytes: int) -> None:
    """Refuse a path whose file system has too little free space."""
    free = free_bytes(nearest(path))
    if free < need_bytes:
        raise StorageError(
            f"{what}: {nearest(path)} has {numbers.size(free)} free, but data set and load need about "
            f"{numbers.size(need_bytes)}; free space, or {LESS_ROOM}"
        )


def same_file_system(path: Path, other: Path) -> bool:
    """Return whether two paths, which need not exist yet, lie on one file system."""
    return nearest(path).stat().st_dev == nearest(other).stat().st_dev


def nearest(path: Path) -> Path:
    """Return the path, or the nearest of its parents that exists."""
    absolute = path.absolute()
    return next(folder for folder in [absolute, *absolute.parents] if folder.exists())


def free_bytes(path: Path) -> int:
    """Return the bytes that an unprivileged user may still write to a path's file system."""
    return shutil.disk_usage(path).free


def patiently(act: Callable[[], Made], limit_s: float, passes: Sequence[str] = ("",)) -> Made:
    """Do something again while it fails for one of the reasons that pass; StorageError after the limit."""
    end = time.monotonic() + limit_s
    while True:
        try:
            return act()
        except StorageError as error:
            if not any(sign in str(error) for sign in passes) or time.monotonic() > end:
                raise
        time.sleep(POLL_S)


def command(argv: Sequence[str], *, limit_s: float = COMMAND_LIMIT_S) -> str:
    """Run a program of the system and return its output; CommandFailedError with its message if it fails.

    StorageError if it is missing, or exceeds its time.
    """
    try:
        ended = run(argv, limit_s=limit_s)
    except TimedOut:
        raise StorageError(f"`{' '.join(argv)}` did not end within {limit_s:g} s") from None
    except FileNotFoundError as error:
        raise StorageError(str(error)) from None
    if ended.code != 0:
        raise CommandFailedError(argv, ended)
    return ended.out
