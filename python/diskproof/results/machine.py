"""The machine that a run was made on: its places, disks and servers."""

from typing import Any, Literal

from pydantic import model_validator

from diskproof.results.record import Family, Record, Role

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
        """The disks whose counters show what reached this device: those below it, or itself."""
        return self.leaves or [self.name]


class VirtualFacts(Record):
    """The virtual disk below a place."""

    name: str
    """Its name among the run's disks: its label or device, with a number if that is taken."""
    device: str
    """Name of the device file, or its path."""
    title: str
    """Maker, model and kind of the real disk."""
    model: str
    """Kind of timing model: ``spinning``, ``flash``, ``cloud`` …"""
    size_bytes: int
    path_us: float | None = None
    """What the way to it costs on this machine at depth 1; answers leave that much earlier."""
    floor_us: float | None = None
    """The least latency that this machine can serve at depth 1."""
    label: str | None = None
    """A note for its figures: it is near the machine's floor."""
    one_at_a_time: bool = False
    """Whether it serves one request at a time: one arm, or a bridge that passes on one command."""
    turns_us: list[float] = []
    """Duration of a turn of its platters, each speed once; empty if nothing turns."""
    fua: bool = False
    """Whether the disk takes writes that are durable without a flush (FUA)."""
    flushes_ignored: bool = False
    """Whether the study has it answer flushes without doing them."""
    survives_without_power: bool = True
    """Whether bytes that are stable outlive the power."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_older_run(cls, fields: Any) -> Any:  # noqa: ANN401 - whatever a file holds
        """Fill in what older run folders do not record, from the kind of model."""
        if not isinstance(fields, dict):
            return fields
        kind = fields.get("model")
        return {"fua": kind == "flash", "survives_without_power": kind != "memory", **fields}


PoolPart = Literal["data", "log", "cache"]
"""What a disk does in a ZFS pool: hold it, take its synchronous writes, or cache its reads."""


class PoolMember(Record):
    """A disk in a ZFS pool."""

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
    """The place of one role of one storage."""

    storage: str
    role: Role
    kind: Literal["directory", "ram", "virtual", "composed", "block", "zpool", "command"]
    path: str
    filesystem: str
    mount_point: str
    mount_options: str
    """As the kernel reports them."""
    asked_options: str = ""
    """Mount options of the study; empty if it names none."""
    device_number: str
    """``major:minor`` of the file system, as stat(2) gives it."""
    device: BlockDevice | None = None
    """The block device below, if the file system has exactly one; None for tmpfs and the like."""
    virtual: VirtualFacts | None = None
    """The virtual disk behind that device."""
    pool: PoolFacts | None = None
    """The ZFS pool that the place is, which has several disks."""
    throttle: dict[str, int] = {}
    """Limits of the server's rates, in records of earlier versions."""

    @property
    def in_memory(self) -> bool:
        """Whether it is memory: a tmpfs of ours, or a directory on one."""
        return self.kind == "ram" or self.filesystem in {"tmpfs", "ramfs"}

    @property
    def counted(self) -> list[str]:
        """The disks whose counters show what reached it: of a pool those of all its members."""
        devices = [self.device] if self.device else []
        devices += [member.device for member in self.pool.members] if self.pool else []
        return [name for device in devices for name in device.counted]

    @property
    def barriers_off(self) -> str | None:
        """The mount option by which no flush reaches the disk; None if flushes are sent or not needed.

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

    @property
    def identity(self) -> str:
        """What it lies on; a virtual disk is the same on any loop device."""
        disk = self.device.name if self.device else self.kind
        if self.pool:
            members = ", ".join(f"{member.part} {member.disk}" for member in self.pool.members)
            disk = f"a pool of {members}"
        if self.virtual:
            disk = f"virtual {self.virtual.device} of {self.virtual.size_bytes} bytes"
        return f"{self.filesystem} on {disk}"


class ServerFacts(Record):
    """A server under test: what it says it is."""

    name: str
    """As the study names it."""
    family: Family
    flavour: str
    """``MariaDB``, ``MySQL``, ``Percona Server``, ``PostgreSQL``, ``SQLite``."""
    version: str
    binary: str | None = None
    """Path of the server program; None for an embedded one, and for one that was there already."""
    image: str | None = None
    """Name, engine and identifier of the image that has that program; None if it is this machine's."""
    address: str | None = None
    """Account, host and database of a server that was there already: only its own answers are known."""
    may_be_here: bool = False
    """Whether such a server may be on the machine of the load."""

    @property
    def identity(self) -> str:
        """Which server it is: another build of the same version is another server."""
        place = " of ".join(filter(None, (self.binary, self.image))) or self.address
        return f"{self.flavour} {self.version}{f' ({place})' if place else ''}"


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
    memory_bytes: int
    virtualised: str | None = None
    """The hypervisor's name, if one is visible."""
    governor: str | None = None
    idle_wake_up_us: int | None = None
    """Longest time to wake an idle core that the run requested from the kernel; None: it requested none."""
    diskproof_version: str
    load_version: str
    fio_version: str | None = None
    """None if it makes no load of the plan."""
    privileged: bool
    places: list[Place]
    servers: list[ServerFacts]
    others: dict[str, "Machine"] = {}
    """The machines of a run over many hosts besides this one, by name."""
    loads: dict[str, "Machine"] = {}
    """The machines that made the load of its trials, by name; empty: it was made beside the servers."""

    def at(self, host: str | None) -> "Machine":
        """Return the machine of that name: this one if no other has it."""
        return self.others.get(host, self) if host else self

    def running(self, host: str) -> list["Machine"]:
        """Return the machines that run a cell of that host: all of them if they share its blocks."""
        return [self.others[host]] if host in self.others else self.each

    @property
    def each(self) -> list["Machine"]:
        """All machines of the run; this one, if it is not over many hosts."""
        return list(self.others.values()) or [self]

    def server(self, name: str) -> ServerFacts | None:
        """Return the server that a study names; None if there is none."""
        return next((one for one in self.servers if one.name == name), None)

    @property
    def identity(self) -> dict[str, str]:
        """What must not change between the trials of a run, by the fact's name."""
        return {
            "host": self.host,
            "kernel": self.kernel,
            "CPU": f"{self.cpus} x {self.cpu_model}",
            "CPUs of server and load": ", ".join(map(str, self.held_cpus)) or "all",
            "load generator": self.load_version,
            "fio": self.fio_version or "not used",
            **{f"server {one.name}": one.identity for one in self.servers},
            **{f"{one.role} of {one.storage}": one.identity for one in self.places},
        }


def differences(one: Machine, other: Machine) -> list[tuple[str, str, str]]:
    """Return the facts that make two machines different: name, value of one, value of the other."""
    ours, theirs = one.identity, other.identity
    sides = ((fact, ours.get(fact, "none"), theirs.get(fact, "none")) for fact in {**ours, **theirs})
    return [(fact, mine, its) for fact, mine, its in sides if mine != its]
