"""The machine that a run was made on: its places, disks and servers."""

from typing import Literal

from diskproof.results.record import Record, Role

WITHOUT_BARRIERS = frozenset({"nobarrier", "barrier=0"})
"""Mount options with which a file system sends no flushes."""


class BlockDevice(Record):
    """A block device as the kernel describes it."""

    name: str
    """Kernel name, such as ``nvme0n1`` or ``vda``."""
    model: str | None = None
    size_bytes: int | None = None
    rotational: bool | None = None
    scheduler: str | None = None
    write_cache: str | None = None
    """``write back`` or ``write through``: whether the kernel sends flushes."""
    fua: bool | None = None
    """Whether it takes writes that are durable by themselves (FUA), which no counter of flushes shows."""
    logical_block_bytes: int | None = None
    leaves: list[str] = []
    """Kernel names of the disks that a volume (LVM, LUKS, RAID) is made of; empty for a disk."""
    counts_flushes: bool | None = None
    """Whether the kernel had counted flushes on every disk below when the run began.

    False: a count of 0 there says nothing. A volume counts none itself; the disks below it do.
    """

    @property
    def counted(self) -> list[str]:
        """The disks whose counters tell what reached this device: those below it, or itself."""
        return self.leaves or [self.name]


class VirtualFacts(Record):
    """The virtual disk below a place."""

    name: str
    """What tells it from the run's other disks: its label or device, and a number where that is taken."""
    device: str
    """Name of the device file, or its path."""
    title: str
    """Maker, model and kind of what it stands for."""
    model: str
    """Kind of timing model: ``spinning``, ``flash``, ``cloud`` …"""
    size_bytes: int
    path_us: float | None = None
    """What the way to it costs on this machine at depth 1; answers leave that much earlier."""
    floor_us: float | None = None
    """The least latency that this machine can serve at depth 1."""
    label: str | None = None
    """What must be said with its figures: that it lies near the machine's floor."""
    one_at_a_time: bool = False
    """Whether it serves one request at a time: one arm, or a bridge that passes on one command."""
    turns_us: list[float] = []
    """What a turn of its platters takes, each speed once; empty where nothing turns."""


PoolPart = Literal["data", "log", "cache"]
"""What a disk does in a ZFS pool: hold it, take its synchronous writes, or cache its reads."""


class PoolMember(Record):
    """A disk, or a stretch of one, in a ZFS pool."""

    part: PoolPart
    disk: str
    """As the study calls it."""
    device: BlockDevice
    virtual: VirtualFacts | None = None
    """The virtual disk behind that device."""


class PoolFacts(Record):
    """A ZFS pool that was made for the run."""

    name: str
    flavour: Literal["OpenZFS", "zfs-fuse"]
    compression: str
    record_bytes: int | None = None
    """The largest record: as stated, or the page of the server at hand; None before there is one."""
    members: list[PoolMember]

    def of(self, part: PoolPart) -> list[PoolMember]:
        """Return the disks of one part."""
        return [member for member in self.members if member.part == part]


class Place(Record):
    """Where one role of one storage lies."""

    storage: str
    role: Role
    kind: Literal["directory", "ram", "virtual", "composed", "block", "zpool", "command"]
    path: str
    filesystem: str
    mount_point: str
    mount_options: str
    """As the kernel tells them."""
    asked_options: str = ""
    """Mount options that the study names; empty where it names none."""
    device_number: str
    """``major:minor`` of the file system, as stat(2) gives it."""
    device: BlockDevice | None = None
    """The block device below, where the file system has exactly one; None for tmpfs and the like."""
    virtual: VirtualFacts | None = None
    """The virtual disk behind that device."""
    pool: PoolFacts | None = None
    """The ZFS pool that the place is, which has several disks."""
    throttle: dict[str, int] = {}
    """Rates that the server is held to on the disk below, by what they limit; empty where it is not."""

    @property
    def in_memory(self) -> bool:
        """Whether it is memory: a tmpfs of ours, or a directory that turns out to lie on one."""
        return self.kind == "ram" or self.filesystem in {"tmpfs", "ramfs"}

    @property
    def barriers_off(self) -> str | None:
        """The mount option by which no flush reaches the disk; None where flushes are sent or not needed.

        A device that claims to have no volatile cache needs none.
        """
        if self.device and self.device.write_cache == "write through":
            return None
        return min(_options(self.mount_options) & WITHOUT_BARRIERS, default=None)

    @property
    def asks_for_no_barriers(self) -> bool:
        """Whether it is the study that asks for no flushes."""
        return bool(_options(self.asked_options) & WITHOUT_BARRIERS)

    @property
    def virtual_disks(self) -> list[VirtualFacts]:
        """The virtual disks below it: its own, or those of its pool, each once."""
        members = self.pool.members if self.pool else []
        found = [self.virtual, *(member.virtual for member in members)]
        return list({disk.name: disk for disk in found if disk}.values())


class ServerFacts(Record):
    """A server under test: what its own binary says it is."""

    name: str
    """As the study names it."""
    family: Literal["mysql", "postgresql", "sqlite"]
    flavour: str
    """``MariaDB``, ``MySQL``, ``Percona Server``, ``PostgreSQL``, ``SQLite``."""
    version: str
    binary: str | None = None
    """Path of the server program; None for an embedded one."""


def _options(joined: str) -> set[str]:
    return set(joined.replace(" ", "").split(","))


class Machine(Record):
    """The machine that a run was made on."""

    host: str
    kernel: str
    distribution: str
    cpu_model: str
    cpus: int
    """CPUs that the run may use (its affinity)."""
    host_cpus: int | None = None
    """CPUs that are online, and that the host's counters cover; more than `cpus` in many a container."""
    held_cpus: list[int] = []
    """Of those CPUs the ones that the server and its load were held to, by number; empty: to none."""
    idle_cpus: list[int] = []
    """Of those CPUs the other threads of the held ones' cores, on which the run started nothing."""
    memory_bytes: int
    virtualised: str | None = None
    """The hypervisor's name, where one shows itself."""
    governor: str | None = None
    idle_wake_up_us: int | None = None
    """Longest time to wake an idle core that the run asked the kernel for; None where it asked for none."""
    diskproof_version: str
    load_version: str
    fio_version: str | None = None
    """None where nothing was planned that it makes the load of."""
    privileged: bool
    places: list[Place]
    servers: list[ServerFacts]
