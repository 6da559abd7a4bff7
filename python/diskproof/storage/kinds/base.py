"""What every kind of place is made with, and what it is once it is ready."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from diskproof.refusal import RefusalError
from diskproof.results.machine import PoolFacts, VirtualFacts
from diskproof.results.record import Role, format_bytes
from diskproof.study.places import PlaceChoice, PlaceKind
from diskproof.system.journal import Journal
from diskproof.system.undoing import COMMAND_LIMIT_S

if TYPE_CHECKING:
    from diskproof.storage.virtual import ServedDisk

SCRATCH = re.compile(r"diskproof-[0-9a-f]{8}(-\d+)?")
"""Names of the folders that runs make inside a place."""


MemoryLimits = Mapping[str, int]
"""Bytes of memory that the contents of each virtual disk may take, by its key (`PlaceChoice.disk_keys`)."""

NO_LIMITS: MemoryLimits = MappingProxyType({})


class StorageError(RefusalError):
    """A place that cannot be used as the study asks; the message says what to do."""


class CommandFailedError(StorageError):
    """A program of the system that did its work and failed at it."""

    def __init__(self, message: str, code: int) -> None:
        """Keep its exit code."""
        super().__init__(message)
        self.code = code


class Prepared:
    """A place that is ready: a folder that is ours alone, on the storage that was asked for.

    Roles are directories in it. A kind that can keep a loaded database and put it back at once
    overrides `keep` and `put_back`; others have it copied before every trial.
    """

    def __init__(self, kind: PlaceKind, folder: Path) -> None:
        """Hold a folder that was written down in the journal before it was made."""
        self.kind = kind
        self.folder = folder

    def fresh(self, roles: Iterable[Role]) -> None:
        """Make an empty directory for every role; what an earlier trial left is gone."""
        self.clear(roles)
        for role in roles:
            (self.folder / role).mkdir()

    def clear(self, roles: Iterable[Role]) -> None:
        """Remove all that lies in the roles' directories."""
        for role in roles:
            folder = self.folder / role
            if folder.exists():
                shutil.rmtree(folder)

    def keep(self, name: str) -> None:
        """Keep what lies here now under a name, if this kind can."""

    def keeps(self, name: str) -> bool:
        """Tell whether something is kept under a name."""
        del name
        return False

    def put_back(self, name: str) -> bool:
        """Put back what was kept under a name; False where nothing was, or this kind cannot."""
        del name
        return False

    disks: tuple["ServedDisk", ...] = ()
    """The virtual disks that take part in it."""

    @property
    def virtual(self) -> VirtualFacts | None:
        """The virtual disk that the place is; None of any other kind."""
        return None

    @property
    def pool(self) -> PoolFacts | None:
        """The ZFS pool that the place is; None of any other kind."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was chosen for the server at hand, in words."""
        return ()

    def suit(self, page_bytes: int) -> None:
        """Suit the place to a server that reads and writes pages of this size, before it is filled."""

    loses_power = False
    """Whether its power can be cut; a place of another kind has none of the verbs below."""

    def power_returns(self) -> None:
        """Let the power return to disks that were cut. The kernel has forgotten all that it held of them.

        Nothing is mounted then.
        """
        raise StorageError(f"{self.folder} lies on no virtual disk, and only the power of one can be cut")

    def mount_again(self) -> None:
        """Mount what the power's return left unmounted, its journal replayed.

        NotMountedError (storage.filesystem) where the file system is such that it cannot be.
        """

    def export(self, name: str, to: Path) -> None:
        """Copy the bytes that are kept under a name to a sparse file, unmounted as they were never used.

        What lay here is given up.
        """

    def replay(self, image: Path, log: Path) -> None:
        """Bring the disk to what a logged cut left of these bytes, unmounted."""
        del image, log

    def close(self) -> None:
        """Give the place back in good order; what cannot be is left to the journal."""


class Kind(Protocol):
    """One kind of place: a module with these two functions."""

    def check(self, name: str, choice: PlaceChoice, need_bytes: int) -> None:
        """Refuse a place that cannot serve, before anything is written.

        `name` is the storage's; `need_bytes` is what its roles will hold.
        """

    def prepare(self, choice: PlaceChoice, journal: Journal) -> Prepared:
        """Make the run's own folder in a place; what is made or mounted stands in the journal first."""


class KindWithDisks(Kind, Protocol):
    """A kind of place in which virtual disks take part."""

    def prepare(self, choice: PlaceChoice, journal: Journal, limits: MemoryLimits = NO_LIMITS) -> Prepared:
        """Make the place, each of its virtual disks with its share of the memory."""


def unused(path: Path) -> Path:
    """Return the path, or the first of path-2, path-3 … that is not taken."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


def check_free(what: str, path: Path, need_bytes: int) -> None:
    """Refuse a path whose file system has less free than is needed."""
    free = free_bytes(nearest(path))
    if free < need_bytes:
        raise StorageError(
            f"{what}: {nearest(path)} has {format_bytes(free)} free, and about {format_bytes(need_bytes)} "
            "are needed for the data set and what the load writes; free some, or lower `rows` or `accounts`"
        )


def same_file_system(path: Path, other: Path) -> bool:
    """Tell whether two paths, which need not be there yet, lie on one file system."""
    return nearest(path).stat().st_dev == nearest(other).stat().st_dev


def nearest(path: Path) -> Path:
    """Return the path, or the nearest of its parents that is there."""
    absolute = path.absolute()
    return next(folder for folder in [absolute, *absolute.parents] if folder.exists())


def free_bytes(path: Path) -> int:
    """Return the bytes that an unprivileged user may still write to a path's file system."""
    return shutil.disk_usage(path).free


def command(argv: Sequence[str]) -> str:
    """Run a program of the system and return what it said; CommandFailedError with its own words if it fails.

    StorageError where it is missing, or still at work after its time.
    """
    try:
        result = subprocess.run(
            argv, capture_output=True, text=True, check=False, env=_plain(), timeout=COMMAND_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        raise StorageError(f"`{' '.join(argv)}` was still at work after {COMMAND_LIMIT_S:g} s") from None
    except FileNotFoundError:
        raise StorageError(f"`{argv[0]}` is missing: install the package that has it") from None
    if result.returncode != 0:
        said = (result.stderr or result.stdout).strip() or f"exit code {result.returncode}"
        raise CommandFailedError(f"`{' '.join(argv)}` failed: {said}", result.returncode)
    return result.stdout


def _plain() -> dict[str, str]:
    """Return an environment in which programs speak English and the system's own are found."""
    return {**os.environ, "LC_ALL": "C", "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
