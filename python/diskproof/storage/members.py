"""The disks of a pool: each attached, and cut in two where one serves as log and as cache."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from diskproof import disk as program
from diskproof.results.machine import PoolPart
from diskproof.results.record import format_bytes
from diskproof.storage import loops
from diskproof.storage.disks import check_disk, device_bytes, take
from diskproof.storage.kinds.base import NO_LIMITS, MemoryLimits, StorageError, check_free
from diskproof.storage.virtual import VirtualDisk, Wanted, attach, missing_means
from diskproof.storage.way import path_us
from diskproof.study.pools import SMALLEST_VDEV_BYTES, Disk, Pool, Redundancy
from diskproof.system.journal import Journal

USABLE_SHARE = 0.9
"""What of its disks a pool leaves for files: ZFS keeps 1/64 or 1/32 of them, and slows when nearly full."""

CAPACITY_BYTES: dict[Redundancy, Callable[[list[int]], int]] = {
    "stripe": sum,
    "mirror": min,
    "raidz": lambda sizes: (len(sizes) - 1) * min(sizes),
    "raidz2": lambda sizes: (len(sizes) - 2) * min(sizes),
}


@dataclass(frozen=True)
class Member:
    """A disk, or a stretch of one, in its part of a pool."""

    part: PoolPart
    disk: Disk
    device: Path
    """Its block device."""
    virtual: VirtualDisk | None
    loop_on: Path | None = None
    """What its loop device lies on, where it has one of its own."""

    def detach(self) -> None:
        """Give back the loop device, if there is one of its own; StorageError where it is in use."""
        if self.loop_on is not None:
            loops.detach(self.device, self.loop_on)


@dataclass(frozen=True)
class _Attached:
    source: Path
    """What a loop device can be put on: the file below the disk, or a block device itself."""
    device: Path
    virtual: VirtualDisk | None


def check_disks(what: str, pool: Pool, need_bytes: int) -> None:
    """Refuse disks that are not there, must not be taken, or are too small together."""
    sizes = {disk.key: _check(what, disk) for disk in pool.disks()}
    for disk in pool.disks():
        if sizes[disk.key] < SMALLEST_VDEV_BYTES:
            raise StorageError(
                f"{what}: {disk} holds {format_bytes(sizes[disk.key])}, and ZFS takes no disk of less than "
                f"{format_bytes(SMALLEST_VDEV_BYTES)}; name a larger one"
            )
    capacity = CAPACITY_BYTES[pool.redundancy]([sizes[disk.key] for disk in pool.data])
    if capacity * USABLE_SHARE < need_bytes:
        raise StorageError(
            f"{what}: the pool's data disks hold {format_bytes(capacity)} together, and about "
            f"{format_bytes(need_bytes)} are needed for the data set and what the load writes; "
            "name larger ones, or lower `rows` or `accounts`"
        )
    for disk in pool.shared:
        if sizes[disk.key] < pool.log_size + SMALLEST_VDEV_BYTES:
            raise StorageError(
                f"{what}: {disk} ({format_bytes(sizes[disk.key])}) is log and cache at once, and a log of "
                f"{format_bytes(pool.log_size)} leaves too little for the cache; lower `log_size`"
            )


def attach_members(pool: Pool, journal: Journal, limits: MemoryLimits = NO_LIMITS) -> list[Member]:
    """Attach every disk of a pool, each once; what is made stands in the journal first.

    `limits` are what the virtual ones may take of the memory, by their keys in the pool.
    Time has passed since they were looked at: a device that is in use by now is left alone.
    """
    take("after a second look", {disk.block: disk.overwrite for disk in pool.disks() if disk.block})
    attached = {disk.key: _attach(disk, journal, limits.get(disk.key)) for disk in pool.disks()}
    members = []
    parts: dict[PoolPart, list[Disk]] = {"data": pool.data, "log": pool.log, "cache": pool.cache}
    for part, disks in parts.items():
        for disk in disks:
            at = attached[disk.key]
            shared = disk in pool.shared
            device = _stretch(part, at, int(pool.log_size), journal) if shared else at.device
            members.append(Member(part, disk, device, at.virtual, at.source if shared else None))
    return members


def _check(what: str, disk: Disk) -> int:
    """Refuse one disk; return the bytes it holds."""
    if disk.block is not None:
        check_disk(what, disk.block, overwrite=disk.overwrite)
        return device_bytes(disk.block)
    if disk.file is not None:
        assert disk.size is not None
        if disk.file.expanduser().exists():
            raise StorageError(
                f"{what}: {disk.file} is there already, and diskproof makes its own; "
                "name a path that is not there, or remove the file"
            )
        check_free(f"{what}: the file {disk.file}", disk.file.expanduser(), disk.size)
        return disk.size
    assert disk.virtual is not None
    if lacking := missing_means():
        raise StorageError(f"{what}: no virtual disk can be attached here: {lacking}")
    try:
        capacity = int(program.show(disk.virtual)["capacity_bytes"])
    except program.DiskError as error:
        raise StorageError(f"{what}: {error}") from None
    if disk.size is not None and disk.size > capacity:
        raise StorageError(
            f"{what}: `{disk}` holds {format_bytes(capacity)}, not {format_bytes(disk.size)}; "
            "lower `size` or leave it out"
        )
    return int(disk.size or capacity)


def _attach(disk: Disk, journal: Journal, memory_limit_bytes: int | None) -> _Attached:
    if disk.block is not None:
        return _Attached(disk.block, disk.block, None)
    if disk.file is not None:
        assert disk.size is not None
        path = disk.file.expanduser().absolute()
        _make_file(path, int(disk.size), journal)
        return _Attached(path, loops.attach(path, journal), None)
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
    return _Attached(virtual.file, virtual.block, virtual)


def _make_file(path: Path, size_bytes: int, journal: Journal) -> None:
    """Make a file with all its blocks: a file system that had to find them would be measured too."""
    try:
        journal.parents(path)
        descriptor = journal.file(path, size_bytes)
        try:
            os.posix_fallocate(descriptor, 0, size_bytes)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StorageError(
            f"{path} of {format_bytes(size_bytes)} could not be made: {error.strerror}"
        ) from None


def _stretch(part: PoolPart, attached: _Attached, log_bytes: int, journal: Journal) -> Path:
    """Return a loop device over the beginning of a disk for its log, over the rest for its cache."""
    sector_bytes = attached.virtual.sector_bytes if attached.virtual else loops.SECTOR_BYTES
    if part == "log":
        device = loops.attach(attached.source, journal, size_bytes=log_bytes, sector_bytes=sector_bytes)
    else:
        device = loops.attach(attached.source, journal, offset_bytes=log_bytes, sector_bytes=sector_bytes)
    if attached.virtual:
        loops.set_largest_request(device)
    return device
