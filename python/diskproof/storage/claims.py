"""Real disks that a study's places format: who may format them, and each for one place only."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from diskproof.results.plan import Plan
from diskproof.storage.disks import sys_folder
from diskproof.storage.kinds.base import StorageError
from diskproof.study.model import Study
from diskproof.study.places import PlaceChoice


@dataclass(frozen=True)
class Claim:
    """A device, or a file for a pool, that a place formats."""

    storage: str
    place: str
    """Equal for the same disk of the same place."""
    path: Path

    def __str__(self) -> str:
        """Say whose it is: ``/dev/sdb of storage `cached```."""
        return f"{self.path} of storage `{self.storage}`"


def check_claims(study: Study, plan: Plan) -> None:
    """Refuse a plan whose places format the same bytes.

    All places of a run are prepared before its first trial, so the second place would destroy the first.
    Storages that name the same place share it.
    """
    for one, other in combinations(_claims(study, plan), 2):
        if one.place != other.place and _overlap(one.path, other.path):
            raise StorageError(
                f"{one} and {other} are two places on one disk, but a run formats all its places before the "
                "first trial: give each its own disk or partition, make two studies, or use virtual disks"
            )


def _claims(study: Study, plan: Plan) -> Iterator[Claim]:
    for name in dict.fromkeys(cell.storage for cell in plan.cells):
        places = {choice.key: choice for choice in study.storages[name].places().values()}
        for key, choice in places.items():
            for disk, path in _disks(choice):
                yield Claim(name, f"{key} {disk}", path.expanduser())


def _disks(choice: PlaceChoice) -> Iterable[tuple[str, Path]]:
    """Return what a place formats, each with a key that is unique within the place."""
    if choice.block is not None:
        return [("", choice.block)]
    if choice.zpool is None:
        return []
    named = [(disk.key, disk.block or disk.file) for disk in choice.zpool.disks()]
    return [(key, path) for key, path in named if path is not None]


def _overlap(one: Path, other: Path) -> bool:
    """Return whether two paths share bytes: a disk and its partition do, two partitions do not."""
    if not (one.is_block_device() and other.is_block_device()):  # a plan can be made anywhere
        return one.resolve() == other.resolve()
    first, second = sys_folder(one).resolve(), sys_folder(other).resolve()
    return second in (first, first.parent) or second.parent == first
