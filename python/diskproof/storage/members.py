"""The disks of a pool, each attached."""

import os
from dataclasses import dataclass
from pathlib import Path

from diskproof.reading import closed_at_end
from diskproof.results.machine import PoolPart
from diskproof.storage import loops
from diskproof.storage.attached import check_time
from diskproof.storage.disks import check_disk, device_bytes, take
from diskproof.storage.kinds.base import (
    LESS_ROOM,
    NO_LIMITS,
    MemoryLimits,
    StorageError,
    check_free,
    resolved,
)
from diskproof.storage.path_cost import path_us
from diskproof.storage.virtual import VirtualDisk, Wanted, attach, size_here
from diskproof.study.pools import SMALLEST_VDEV_BYTES, Disk, Pool
from diskproof.system.journal import Journal
from diskproof.system.mounts import mount_of
from diskproof.wording import numbers

USABLE_SHARE = 0.9
"""Share of its disks that a pool leaves for files: ZFS keeps 1/64 or 1/32, and slows when nearly full."""


@dataclass(frozen=True)
class Member:
    """A disk, or a part of one, in its role in a pool."""

    part: PoolPart
    disk: Disk
    device: Path
    """Its block device."""
    virtual: VirtualDisk | None


def check_disks(what: str, pool: Pool, need_bytes: int) -> None:
    """Refuse disks that do not exist, must not be taken, or are too small together."""
    sizes = {disk.key: _check(what, disk) for disk in pool.disks()}
    for disk in pool.disks():
        if sizes[disk.key] < SMALLEST_VDEV_BYTES:
            raise StorageError(
                f"{what}: {disk} has {numbers.size(sizes[disk.key])}, but ZFS needs at least "
                f"{numbers.size(SMALLEST_VDEV_BYTES)}; name a larger disk"
            )
    capacity = sum(sizes[disk.key] for disk in pool.data)
    if capacity * USABLE_SHARE < need_bytes:
        raise StorageError(
            f"{what}: the pool's data disks hold {numbers.size(capacity)} together, but data set and load "
            f"need about {numbers.size(need_bytes)}; name larger disks, or {LESS_ROOM}"
        )


def attach_members(pool: Pool, journal: Journal, limits: MemoryLimits = NO_LIMITS) -> list[Member]:
    """Attach every disk of a pool; all that is made is in the journal first.

    `limits` are the memory limits of the virtual ones, by their keys in the pool. Devices are checked again:
    one that is in use by now is refused.
    """
    take("after a second look", {disk.block: disk.overwrite for disk in pool.disks() if disk.block})
    parts: dict[PoolPart, list[Disk]] = {"data": pool.data, "log": pool.log, "cache": pool.cache}
    return [
        Member(part, disk, *_attach(disk, journal, limits.get(disk.key)))
        for part, disks in parts.items()
        for disk in disks
    ]


def _check(what: str, disk: Disk) -> int:
    """Refuse one disk, or return its size."""
    if disk.block is not None:
        check_time(what, disk.block.resolve())
        check_disk(what, disk.block, overwrite=disk.overwrite)
        return device_bytes(disk.block)
    if disk.file is not None:
        assert disk.size is not None
        path = resolved(what, disk.file.parent) / disk.file.name
        check_time(what, Path(mount_of(path.parent).mount_point))
        if os.path.lexists(path):
            raise StorageError(
                f"{what}: {disk.file} exists already, and diskproof makes its own file; "
                "name a new path, or remove the file"
            )
        check_free(f"{what}: the file {disk.file}", path, disk.size)
        return disk.size
    assert disk.virtual is not None
    return size_here(f"{what}: ", disk.virtual, disk.size)


def _attach(disk: Disk, journal: Journal, memory_limit_bytes: int | None) -> tuple[Path, VirtualDisk | None]:
    """Return the block device of a disk, and the virtual disk that it is."""
    if disk.block is not None:
        return disk.block, None
    if disk.file is not None:
        assert disk.size is not None
        path = resolved("its folder", disk.file.parent) / disk.file.name
        _make_file(path, int(disk.size), journal)
        return loops.attach(path, journal), None
    assert disk.virtual is not None
    wanted = Wanted(
        device=disk.virtual,
        name=disk.label,
        size_bytes=None if disk.size is None else int(disk.size),
        path_us=path_us(journal, below_floor=disk.below_floor),
        memory_limit_bytes=memory_limit_bytes,
        below_floor=disk.below_floor,
    )
    virtual = attach(wanted, journal)
    return virtual.block, virtual


def _make_file(path: Path, size_bytes: int, journal: Journal) -> None:
    """Make a file with all its blocks, so that none is allocated during the measurement."""
    try:
        journal.parents(path)
        with closed_at_end(journal.file(path, size_bytes)) as descriptor:
            os.posix_fallocate(descriptor, 0, size_bytes)
    except OSError as error:
        raise StorageError(
            f"{path} of {numbers.size(size_bytes)} could not be made: {error.strerror}"
        ) from None
