"""A ZFS pool of its own: disks for its data, its log and its cache."""

from collections.abc import Iterable
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.results.machine import PoolFacts, PoolMember
from diskproof.results.record import Role, format_bytes
from diskproof.storage import zfs
from diskproof.storage.disks import OUR_POOL, describe_disk
from diskproof.storage.filesystem import forget_buffers
from diskproof.storage.kinds.base import (
    NO_LIMITS,
    MemoryLimits,
    Prepared,
    StorageError,
    command,
    unused,
)
from diskproof.storage.members import Member, attach_members, check_disks
from diskproof.storage.rights import check_may_pool
from diskproof.storage.virtual import VirtualDisk
from diskproof.study.places import PlaceChoice
from diskproof.study.pools import Pool
from diskproof.system.journal import Journal

SECTOR_SHIFT = 12
"""4 KiB sectors, as all disks have them inside, whatever they show."""

ROLES_SET = "roles"
"""Data set of the pool in which the roles of a trial lie."""

LOADED = "loaded"
"""Snapshot of a data set that holds a loaded database."""


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a pool that cannot be made here, or whose disks must not be taken."""
    what = f"storage `{name}`"
    pool = _pool(choice)
    found = zfs.flavour()
    if found is None:
        raise StorageError(
            f"{what}: there is no ZFS here; install zfs-fuse, or zfsutils-linux with its kernel module "
            "(`modprobe zfs`)"
        )
    check_may_pool(what)
    if found == "OpenZFS" and pool.arc_size is not None:
        raise StorageError(
            f"{what}: OpenZFS has one ARC for the whole machine, which diskproof leaves alone; "
            "leave `arc_size` out, and set the module's parameter zfs_arc_max yourself"
        )
    if found == "zfs-fuse":
        zfs.check_no_pools_of_others()
    check_disks(what, pool, need_bytes)


def prepare(choice: PlaceChoice, journal: Journal, limits: MemoryLimits = NO_LIMITS) -> "PoolPlace":
    """Attach the disks, start zfs-fuse where it is needed, and make the pool."""
    pool = _pool(choice)
    found = zfs.flavour()
    assert found is not None
    if found == "zfs-fuse":
        zfs.start_daemon(None if pool.arc_size is None else int(pool.arc_size), journal)
    return PoolPlace(pool, found, attach_members(pool, journal, _by_disk(choice, limits)), journal)


class PoolPlace(Prepared):
    """A pool that is mounted.

    The roles lie in one data set. A loaded database is put back in a moment, whatever its size: virtual
    disks keep a snapshot of themselves; on others it is kept as a data set that is cloned for every trial.
    The models of virtual disks begin anew with either. The pool is exported and imported in between, or
    the memory that ZFS caches in would serve the next trial what the last one has read.
    """

    def __init__(self, pool: Pool, flavour: zfs.Flavour, members: list[Member], journal: Journal) -> None:
        """Make a pool of attached disks."""
        own = journal.directory(unused(Path("/tmp") / f"diskproof-{journal.mark}-pool"))  # noqa: S108
        mount_point = own / "mounted"
        super().__init__("zpool", mount_point / ROLES_SET)
        self.disks: tuple[VirtualDisk, ...] = tuple(
            {id(member.virtual): member.virtual for member in members if member.virtual}.values()
        )
        self.name = _unused_name(f"diskproof-{journal.mark}")
        self._wanted, self._flavour, self._members = pool, flavour, members
        self._links = own / "disks"
        self._page_bytes: int | None = None
        self._origins: dict[str, str] = {}
        """The data set that holds each database that was kept."""
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
        """Describe the pool."""
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
    def notes(self) -> tuple[str, ...]:
        """Say how records and pages go together."""
        page, record = self._page_bytes, self._record_bytes
        if page is None:
            return ()
        asked = format_bytes(page)
        shown = f"the pool's records are {format_bytes(record)} and its load's pages or blocks {asked}"
        if self._wanted.record_size is None:
            return (f"{shown}: chosen alike, so that each is read and written as one record",)
        if record > page:
            return (f"{shown}: to write one of them ZFS reads and writes a whole record",)
        return (shown,)

    def suit(self, page_bytes: int) -> None:
        """Take records of the size of a server's pages or a load's blocks, unless the study says a size."""
        self._page_bytes = page_bytes

    def fresh(self, roles: Iterable[Role]) -> None:
        """Make the roles' data set anew."""
        self._at_memory_speed()
        self._destroy_roles()
        self._make_roles()
        for role in roles:
            (self.folder / role).mkdir()

    def clear(self, roles: Iterable[Role]) -> None:
        """Give up all that lies in the roles' data set."""
        del roles
        self._at_memory_speed()
        self._destroy_roles()
        self._make_roles()

    def keep(self, name: str) -> None:
        """Keep what is loaded under a name, and go on with it."""
        self._origins[name] = self._roles
        if self._all_virtual:
            self._at_memory_speed()
            self._export()
            for virtual in self.disks:
                virtual.snapshot(name)
                virtual.restore(name)  # the model of the first trial begins like that of all others
            self._import()
            return
        command(["zfs", "snapshot", f"{self._roles}@{LOADED}"])
        zfs.patiently(["zfs", "set", "mountpoint=none", self._roles])
        self._clone(name)

    def put_back(self, name: str) -> bool:
        """Put back what was kept; False where nothing was under that name."""
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
        """Destroy the pool and detach its disks; what cannot be is left to the journal."""
        try:
            self._at_memory_speed()
            zfs.patiently(["zpool", "destroy", "-f", self.name])
            for member in self._members:
                member.detach()
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
        properties = {
            "atime": "off",
            "compression": self._wanted.compression,
            "logbias": self._wanted.logbias,
        }
        joined = [] if self._wanted.redundancy == "stripe" else [self._wanted.redundancy]
        # A disk that is gone shall end in errors, not in a pool that waits for it to come back.
        argv = ["zpool", "create", "-f", "-o", "cachefile=none", "-o", "failmode=continue"]
        argv += ["-o", f"ashift={SECTOR_SHIFT}"]
        for key, value in properties.items():
            argv += ["-O", f"{key}={value}"]
        argv += ["-m", str(mount_point), self.name, *joined, *devices["data"]]
        for part in ("log", "cache"):
            argv += [part, *devices[part]] if devices[part] else []
        return argv

    def _make_roles(self) -> None:
        self._roles = self._next_set()
        command(["zfs", "create", *self._properties(), self._roles])

    def _destroy_roles(self) -> None:
        zfs.patiently(["zfs", "destroy", self._roles])

    def _clone(self, name: str) -> None:
        """Clone a kept data set, and begin with nothing of it in memory."""
        self._roles = self._next_set()
        command(["zfs", "clone", *self._properties(), f"{self._origins[name]}@{LOADED}", self._roles])
        self._export()
        for virtual in self.disks:
            virtual.begin_anew()
        self._import()

    def _export(self) -> None:
        """Let go of the disks, and of all that memory holds of them.

        Cache devices leave the pool before, and join it anew: OpenZFS from 2.0 on finds again what they held.
        """
        while self._caches_in:
            zfs.patiently(["zpool", "remove", self.name, str(self._caches_in[-1])])
            self._caches_in.pop()
        zfs.patiently(["zpool", "export", self.name])
        for device in {member.device for member in self._members}:
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
        """Return a new data set's name: zfs-fuse may die of a rename, so that none is ever given again."""
        self._sets += 1
        return f"{self.name}/{ROLES_SET}-{self._sets}"

    def _properties(self) -> list[str]:
        """Return the properties of the data set that the roles lie in, wherever it comes from."""
        return ["-o", f"recordsize={self._record_bytes}", "-o", f"mountpoint={self.folder}"]

    def _at_memory_speed(self) -> None:
        for virtual in self.disks:
            virtual.control.set_timing(on=False)


def _by_disk(choice: PlaceChoice, limits: MemoryLimits) -> MemoryLimits:
    """Return the limits of the pool's disks by the key that each has in the pool."""
    keys = zip(_pool(choice).virtual, choice.disk_keys, strict=True)
    return {disk.key: limits[key] for disk, key in keys if key in limits}


def _pool(choice: PlaceChoice) -> Pool:
    assert choice.zpool is not None
    return choice.zpool


def _unused_name(name: str) -> str:
    assert OUR_POOL.fullmatch(name)
    taken, candidate, number = zfs.pools(), name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    return candidate
