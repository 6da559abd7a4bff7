"""Main memory: a tmpfs of a given size if we may mount one, otherwise /dev/shm."""

import os
from functools import cache
from pathlib import Path

import psutil

from diskproof.storage.kinds.base import LESS_ROOM, PlainPlace, StorageError, command, free_bytes, unused
from diskproof.study.places import PlaceChoice
from diskproof.system.journal import Journal
from diskproof.system.own_folder import OwnFolder
from diskproof.system.programs import run
from diskproof.wording import numbers

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a tmpfs that an unprivileged user may fill
MOUNTED_AS = "diskproof"
"""Source name of our tmpfs mounts, as /proc/mounts shows it."""


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a tmpfs that is too small for its data, or too large for the machine."""
    size_bytes = _size_bytes(choice)
    if size_bytes < need_bytes:
        raise StorageError(
            f"storage `{name}`: data set and load need about {numbers.size(need_bytes)}, but the tmpfs holds "
            f"{numbers.size(size_bytes)}; raise `ram`, or {LESS_ROOM}"
        )
    memory = psutil.virtual_memory()
    if size_bytes > memory.total:
        raise StorageError(
            f"storage `{name}`: a tmpfs of {numbers.size(size_bytes)} is larger than the memory "
            f"({numbers.size(memory.total)}); lower `ram`"
        )
    if memory.available < need_bytes:
        raise StorageError(
            f"storage `{name}`: data set and load need about {numbers.size(need_bytes)} of memory, "
            f"{numbers.size(memory.available)} are free; {LESS_ROOM}"
        )
    if not can_mount() and (not SHARED_MEMORY.is_dir() or free_bytes(SHARED_MEMORY) < need_bytes):
        raise StorageError(
            f"storage `{name}`: you may not mount a tmpfs here, and {SHARED_MEMORY} has less than the "
            f"{numbers.size(need_bytes)} that data set and load need; run as root, in a container with "
            f"`--privileged` or a larger `--shm-size`, or {LESS_ROOM}"
        )


def prepare(choice: PlaceChoice, journal: Journal) -> PlainPlace:
    """Mount a tmpfs; an ordinary user, and root in most containers, gets a folder in /dev/shm."""
    own = _mount_tmpfs(_size_bytes(choice), journal)
    return PlainPlace("ram", own or journal.own_folder(unused(SHARED_MEMORY / f"diskproof-{journal.mark}")))


@cache
def can_mount() -> bool:
    """Return whether this process may mount: root in a plain container may not."""
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", MOUNTED_AS, "/mnt"]
    try:
        return run(probe).code == 0
    except FileNotFoundError:
        return os.geteuid() == 0


def _mount_tmpfs(size_bytes: int, journal: Journal) -> OwnFolder | None:
    """Mount a tmpfs and return a folder in it; None if we may not."""
    if not can_mount():
        return None
    mount_point = journal.directory(unused(Path("/tmp") / f"diskproof-{journal.mark}-ram"))  # noqa: S108
    journal.mounted(mount_point, MOUNTED_AS)
    command(["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0755", MOUNTED_AS, str(mount_point)])
    return OwnFolder.make(mount_point / "roles", journal.mark)


def _size_bytes(choice: PlaceChoice) -> int:
    assert choice.ram is not None
    return int(choice.ram)
