"""Places: a directory on the storage under test, or main memory. Each is checked, made, and given back."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from diskproof.refusal import RefusalError
from diskproof.results.records import format_bytes
from diskproof.study.model import PlaceChoice
from diskproof.system.journal import Journal

SCRATCH = re.compile(r"diskproof-[0-9a-f]{8}(-\d+)?")
"""Names of the folders that runs make inside a place."""

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a tmpfs that an unprivileged user may fill
MOUNTED_AS = "diskproof"
"""Source name of our tmpfs mounts, as /proc/mounts shows it."""


class StorageError(RefusalError):
    """A place that cannot be used as the study asks; the message says what to do."""


@dataclass(frozen=True)
class Prepared:
    """A place that is ready: a folder that is ours alone, on the storage that was asked for."""

    folder: Path
    choice: PlaceChoice


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a place that cannot serve, before anything is written. `need_bytes` is the data set's size."""
    if choice.ram is not None:
        _check_ram(name, int(choice.ram), need_bytes)
    else:
        assert choice.directory is not None
        _check_directory(name, choice.directory.expanduser(), need_bytes)


def prepare(choice: PlaceChoice, journal: Journal) -> Prepared:
    """Make the run's own folder in a place; what is made or mounted stands in the journal first."""
    scratch = f"diskproof-{journal.mark}"
    if choice.ram is None:
        assert choice.directory is not None
        # Two storages may share a directory, as one does that puts only its log elsewhere.
        folder = _fresh(choice.directory.expanduser().absolute() / scratch)
        journal.parents(folder)
        return Prepared(journal.directory(folder), choice)
    mounted = _mount_tmpfs(int(choice.ram), journal)
    if mounted is None:  # an ordinary user, or root without the capability, as in most containers
        return Prepared(journal.directory(_fresh(SHARED_MEMORY / scratch)), choice)
    return Prepared(mounted, choice)


@cache
def can_mount() -> bool:
    """Return whether this process may mount: root in a plain container may not."""
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", MOUNTED_AS, "/mnt"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return os.geteuid() == 0


def _mount_tmpfs(size_bytes: int, journal: Journal) -> Path | None:
    """Mount a tmpfs and return a folder in it; None where we may not."""
    if not can_mount():
        return None
    mount_point = journal.directory(_fresh(Path("/tmp") / f"diskproof-{journal.mark}-ram"))  # noqa: S108
    journal.mounted(mount_point)
    _run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0755", MOUNTED_AS, str(mount_point)])
    folder = mount_point / "roles"
    folder.mkdir()
    return folder


def _fresh(path: Path) -> Path:
    """Return the path, or the first of path-2, path-3 … that is not taken: a study may name a place twice."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


def _check_ram(name: str, size_bytes: int, need_bytes: int) -> None:
    if size_bytes < need_bytes:
        raise StorageError(
            f"storage `{name}`: the data set needs about {format_bytes(need_bytes)}, "
            f"but its tmpfs holds {format_bytes(size_bytes)}; raise `ram` or lower `rows`"
        )
    memory = psutil.virtual_memory()
    available = memory.available
    if size_bytes > memory.total:
        raise StorageError(
            f"storage `{name}`: a tmpfs of {format_bytes(size_bytes)} cannot fill on a machine with "
            f"{format_bytes(memory.total)} of memory; lower `ram`"
        )
    if available < need_bytes:
        raise StorageError(
            f"storage `{name}`: {format_bytes(available)} of memory are free, and the data set needs about "
            f"{format_bytes(need_bytes)} of it; lower `rows`"
        )
    if not can_mount() and (not SHARED_MEMORY.is_dir() or _free_bytes(SHARED_MEMORY) < need_bytes):
        raise StorageError(
            f"storage `{name}`: no tmpfs may be mounted here, and {SHARED_MEMORY} has not the "
            f"{format_bytes(need_bytes)} that the data set needs; run as root, lower `rows`, or, in a "
            "container, give it more with --shm-size"
        )


def _check_directory(name: str, directory: Path, need_bytes: int) -> None:
    existing = nearest(directory)
    if not existing.is_dir():
        raise StorageError(
            f"storage `{name}`: {existing} is not a directory; name one, or a path that is not there yet"
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise StorageError(
            f"storage `{name}`: {existing} is not writable for you; choose another or change its owner"
        )
    if existing == directory.absolute():
        strangers = [entry.name for entry in directory.iterdir() if not SCRATCH.fullmatch(entry.name)]
        if strangers:
            raise StorageError(
                f"storage `{name}`: {directory} is not empty and not ours "
                f"(it holds `{min(strangers)}`); name an empty directory, or one that is not there yet"
            )
    check_free(f"storage `{name}`", directory, need_bytes)


def check_free(what: str, path: Path, need_bytes: int) -> None:
    """Refuse a path whose file system has less free than is needed."""
    free = _free_bytes(nearest(path))
    if free < need_bytes:
        raise StorageError(
            f"{what}: {nearest(path)} has {format_bytes(free)} free, and about {format_bytes(need_bytes)} "
            "are needed for the data set and what the load writes; free some, or lower `rows`"
        )


def nearest(path: Path) -> Path:
    """Return the path, or the nearest of its parents that is there."""
    absolute = path.absolute()
    return next(folder for folder in [absolute, *absolute.parents] if folder.exists())


def _free_bytes(path: Path) -> int:
    return shutil.disk_usage(path).free


def _run(argv: list[str]) -> None:
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise StorageError(f"`{' '.join(argv)}` failed: {result.stderr.strip()}")
