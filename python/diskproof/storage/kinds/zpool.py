"""A ZFS pool of its own: disks for its data, its log and its cache."""

from collections.abc import Iterable
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.results.machine import PoolFacts, PoolMember
from diskproof.results.record import Role
from diskproof.storage import zfs
from diskproof.storage.disks import describe_disk
from diskproof.storage.filesystem import forget_buffers
from diskproof.storage.kinds.base import (
    NO_LIMITS,
    MemoryLimits,
    Prepared,
    StorageError,
    command,
    first_free,
    unused,
)
from diskproof.storage.members import Member, attach_members, check_disks
from diskproof.storage.virtual import VirtualDisk
from diskproof.study.places import PlaceChoice
from diskproof.study.pools import Pool
from diskproof.system.journal import Journal
from diskproof.wording import Message, bytes_, say

SECTOR_SHIFT = 12
"""4 KiB sectors: all disks have them inside, whatever they report."""

ROLES_SET = "roles"
"""Data set of the pool that holds the roles of a trial."""

LOADED = "loaded"
"""Snapshot of a data set with a loaded database."""


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a pool that cannot be made here, or whose disks must not be taken."""
    what = f"storage `{name}`"
    pool = _pool(choice)
    found = zfs.flavour()
    if found is None:
        raise StorageError(
            f"{what}: this machine has no ZFS; install zfs-fuse, or zfsutils-linux with its kernel module "
            "(`modprobe zfs`)"
        )
    zfs.check_may_pool(what)
    if found == "OpenZFS" and pool.arc_size is not None:
        raise StorageError(
            f"{what}: OpenZFS has one ARC for the whole machine, which diskproof does not change; "
            "leave `arc_size` out, and set the module's parameter zfs_arc_max yourself"
        )
    if found == "zfs-fuse":
        zfs.check_no_pools_of_others()
    check_disks(what, pool, need_bytes)


def prepare(
    choice: PlaceChoice, journal: Journal, limits: MemoryLimits = NO_LIMITS, dilation: int = 1
) -> "PoolPlace":
    """Attach the disks, start zfs-fuse if it is needed, and make the pool."""
    assert dilation == 1  # ZFS keeps the machine's time: the study was refused
    pool = _pool(choice)
    found = zfs.flavour()
    assert found is not None
    if found == "zfs-fuse":
        zfs.start_daemon(None if pool.arc_size is None else int(pool.arc_size), journal)
    return PoolPlace(pool, found, attach_members(pool, journal, _by_disk(choice, limits)), journal)


class PoolPlace(Prepared):
    """A mounted pool.

    The roles lie in one data set. A loaded database is restored in a moment, whatever its size: virtual disks
    keep a snapshot of themselves; on others a kept data set is cloned for every trial. Either way the models
    of virtual disks start fresh. In between the pool is exported and imported, or ZFS would serve the next
    trial from memory.
    """

    def __init__(self, pool: Pool, flavour: zfs.Flavour, members: list[Member], journal: Journal) -> None:
        own = journal.directory(unused(Path("/tmp") / f"diskproof-{journal.mark}-pool"))  # noqa: S108
        mount_point = own / "mounted"
        super().__init__("zpool", mount_point / ROLES_SET)
        self.disks: tuple[VirtualDisk, ...] = tuple(one.virtual for one in members if one.virtual)
        self.name = first_free(f"diskproof-{journal.mark}", zfs.pools().__contains__)
        self._wanted, self._flavour, self._members = pool, flavour, members
        self._links = own / "disks"
        self._page_bytes: int | None = None
        self._origins: dict[str, str] = {}
        """The data set of each kept database."""
        self._sets = 0
        self._roles = ""
        self._links.mkdir()
        for member in members:
            (self._links / member.device.name).symlink_to(member.device)
        journal.mounted(mount_point, self.name)
        journal.mounted(self.folder, self.name)
        journal.pool(self.name)
        command(self._create(mount_point))
        self._caches_in = list(self._caches)
        """The cache devices that are in the pool now."""
        self._make_roles()

    @property
    def pool(self) -> PoolFacts:
        """The pool's facts."""
        return PoolFacts(
            name=self.name,
            flavour=self._flavour,
            record_bytes=self._wanted.record_size or self._page_bytes,
            compression=self._wanted.compression,
            members=[
                PoolMember(
                    part=member.part,
                    disk=str(member.disk),
                    device=describe_disk(member.device),
                    virtual=member.virtual.facts if member.virtual else None,
                )
                for member in self._members
            ],
        )

    @property
    def notes(self) -> tuple[Message, ...]:
        """How records and pages compare."""
        page, record = self._page_bytes, self._record_bytes
        if page is None:
            return ()
        form = "the pool's records have {record}, the load's pages or blocks {page}"
        if self._wanted.record_size is None:
            form += ": chosen alike, so that each is read and written as one record"
        elif record > page:
            form += ": to write a page ZFS reads and writes a whole record"
        return (say(form, record=bytes_(record), page=bytes_(page)),)

    def suit(self, page_bytes: int) -> None:
        """Use records of the size of a server's pages or a load's blocks, unless the study sets a size."""
        self._page_bytes = page_bytes

    def clear(self, roles: Iterable[Role]) -> None:
        """Discard the roles' data set."""
        del roles
        self._at_memory_speed()
        self._destroy_roles()
        self._make_roles()

    def keep(self, name: str) -> None:
        """Keep the loaded data under a name, and go on with it."""
        self._origins[name] = self._roles
        if self._all_virtual:
            self._at_memory_speed()
            self._export()
            for virtual in self.disks:
                virtual.snapshot(name)
                virtual.restore(name)  # the first trial's model starts like all others
            self._import()
            return
        command(["zfs", "snapshot", f"{self._roles}@{LOADED}"])
        zfs.patiently(["zfs", "set", "mountpoint=none", self._roles])
        self._clone(name)

    def put_back(self, name: str) -> bool:
        """Restore what was kept; False if nothing was kept under that name."""
        if name not in self._origins:
            return False
        self._at_memory_speed()
        if self._all_virtual:
            self._export()
            for virtual in self.disks:
                virtual.restore(name)
            self._import()
            self._roles = self._origins[name]
            return True
        self._destroy_roles()
        self._clone(name)
        return True

    def close(self) -> None:
        """Destroy the pool and detach its disks; what fails is left to the journal."""
        try:
            self._at_memory_speed()
            zfs.patiently(["zpool", "destroy", "-f", self.name])
            for virtual in self.disks:
                virtual.detach()
        except (RefusalError, OSError):
            pass

    @property
    def _record_bytes(self) -> int:
        return int(self._wanted.record_size or self._page_bytes or zfs.DEFAULT_RECORD_BYTES)

    @property
    def _caches(self) -> list[Path]:
        return [member.device for member in self._members if member.part == "cache"]

    def _create(self, mount_point: Path) -> list[str]:
        devices = {
            part: [str(member.device) for member in self._members if member.part == part]
            for part in ("data", "log", "cache")
        }
        # A missing disk must give errors, not a pool that waits for its return.
        argv = ["zpool", "create", "-f", "-o", "cachefile=none", "-o", "failmode=continue"]
        argv += ["-o", f"ashift={SECTOR_SHIFT}"]
        argv += ["-O", "atime=off", "-O", f"compression={self._wanted.compression}"]
        argv += ["-m", str(mount_point), self.name, *devices["data"]]
        for part in ("log", "cache"):
            argv += [part, *devices[part]] if devices[part] else []
        return argv

    def _make_roles(self) -> None:
        self._roles = self._next_set()
        command(["zfs", "create", *self._properties(), self._roles])

    def _destroy_roles(self) -> None:
        zfs.patiently(["zfs", "destroy", self._roles])

    def _clone(self, name: str) -> None:
        """Clone a kept data set, with nothing of it in memory."""
        self._roles = self._next_set()
        command(["zfs", "clone", *self._properties(), f"{self._origins[name]}@{LOADED}", self._roles])
        self._export()
        for virtual in self.disks:
            virtual.begin_anew()
        self._import()

    def _export(self) -> None:
        """Release the disks, and all that memory holds of them.

        Cache devices leave the pool first and join it again later: OpenZFS from 2.0 on would find their old
        contents.
        """
        while self._caches_in:
            zfs.patiently(["zpool", "remove", self.name, str(self._caches_in[-1])])
            self._caches_in.pop()
        zfs.patiently(["zpool", "export", self.name])
        for device in (member.device for member in self._members):
            forget_buffers(device)

    def _import(self) -> None:
        command(["zpool", "import", "-d", str(self._links), "-o", "cachefile=none", self.name])
        for device in self._caches:
            command(["zpool", "add", "-f", self.name, "cache", str(device)])
            self._caches_in.append(device)

    @property
    def _all_virtual(self) -> bool:
        return all(member.virtual for member in self._members)

    def _next_set(self) -> str:
        """Return a new data set's name; none is reused, since zfs-fuse may die of a rename."""
        self._sets += 1
        return f"{self.name}/{ROLES_SET}-{self._sets}"

    def _properties(self) -> list[str]:
        """Return the properties of the roles' data set, wherever it comes from."""
        return ["-o", f"recordsize={self._record_bytes}", "-o", f"mountpoint={self.folder}"]

    def _at_memory_speed(self) -> None:
        for virtual in self.disks:
            virtual.control.set_timing(on=False)


def _by_disk(choice: PlaceChoice, limits: MemoryLimits) -> MemoryLimits:
    """Return the limits of the pool's disks by each disk's key in the pool."""
    keys = zip(_pool(choice).virtual, choice.disk_keys, strict=True)
    return {disk.key: limits[key] for disk, key in keys if key in limits}


def _pool(choice: PlaceChoice) -> Pool:
    assert choice.zpool is not None
    return choice.zpool
