"""Real disks that a study's places take for themselves: each may go to one place only."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from diskproof.results.plan import Plan
from diskproof.storage.kinds.base import StorageError
from diskproof.study.model import Study
from diskproof.study.places import PlaceChoice

SYS = Path("/sys/dev/block")


@dataclass(frozen=True)
class Claim:
    """A device, or a file for a pool, that a place formats."""

    storage: str
    place: str
    """The same for two that are one and the same disk of one and the same place."""
    path: Path

    def __str__(self) -> str:
        """Say whose it is: ``/dev/sdb of storage `cached```."""
        return f"{self.path} of storage `{self.storage}`"


def check_claims(study: Study, plan: Plan) -> None:
    """Refuse a plan whose places format the same bytes: StorageError names two of them.

    All places of a run are made ready before its first trial, so that what the first put on a device the
    second would find there, and refuse it or destroy it. Storages that name one and the same place share it.
    """
    for one, other in combinations(_claims(study, plan), 2):
        if one.place != other.place and _overlap(one.path, other.path):
            raise StorageError(
                f"{one} and {other} are two places on one disk, and a run makes all its places ready "
                "before the first trial: give each a disk or a partition of its own, compare them in two "
                "studies, or take virtual disks, of which there are as many as are named"
            )


def _claims(study: Study, plan: Plan) -> Iterator[Claim]:
    for name in dict.fromkeys(cell.storage for cell in plan.cells):
        places = {choice.key: choice for choice in study.storages[name].places().values()}
        for key, choice in places.items():
            for disk, path in _disks(choice):
                yield Claim(name, f"{key} {disk}", path.expanduser())


def _disks(choice: PlaceChoice) -> Iterable[tuple[str, Path]]:
    """Return what a place formats, each with what tells it from the others of the place."""
    if choice.block is not None:
        return [("", choice.block)]
    if choice.zpool is None:
        return []
    named = [(disk.key, disk.block or disk.file) for disk in choice.zpool.disks()]
    return [(key, path) for key, path in named if path is not None]


def _overlap(one: Path, other: Path) -> bool:
    """Tell whether two paths have bytes in common: a disk has, with its partitions; they have none."""
    if _number(one) is None or _number(other) is None:
        return one.resolve() == other.resolve()
    first, second = _folder(one), _folder(other)
    return second in (first, first.parent) or second.parent == first


def _folder(device: Path) -> Path:
    """Return the kernel's folder of a block device: a partition's lies in its disk's."""
    number = device.stat().st_rdev
    return (SYS / f"{os.major(number)}:{os.minor(number)}").resolve()


def _number(path: Path) -> int | None:
    try:
        found = path.stat()
    except OSError:
        return None  # no device of this machine: a plan is made anywhere
    return found.st_rdev if stat.S_ISBLK(found.st_mode) else None
