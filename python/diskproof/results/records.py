"""What a run leaves behind, as typed records: the plan, the machine, and one record a trial.

Everything that a report or an audit says is derived from these. A figure that was not observed is
``None``, never 0.
"""

from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["data", "redo", "binlog", "tmp"]
"""What a server stores where; ``redo`` is PostgreSQL's WAL."""

ROLES: tuple[Role, ...] = ("data", "redo", "binlog", "tmp")

Percent = Annotated[float, Field(gt=0, lt=100)]


Metric = Literal["transactions_per_s", "latency_mean_us", "seconds"]
"""What a verdict is about: throughput; at a rate that the study sets, latency; of a job, its seconds."""


class Record(BaseModel):
    """A record is complete when it is made and never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# ---------------------------------------------------------------- the plan


class Cell(Record):
    """One combination of the factors. ``id`` is unique in a study and stable between runs of it."""

    id: str
    server: str
    storage: str
    tuning: str
    workload: str
    memory_bytes: int
    clients: int

    def level(self, factor: "Factor") -> str:
        """Return the level of one factor, as a person reads it."""
        if factor == "memory":
            return format_bytes(self.memory_bytes)
        return str(getattr(self, factor))


Factor = Literal["server", "storage", "tuning", "workload", "memory", "clients"]
FACTORS: tuple[Factor, ...] = ("server", "storage", "tuning", "workload", "memory", "clients")


class PlannedTrial(Record):
    """One execution of one cell in one block; ``id`` is ``b02-t07-<cell>``'s short form ``b02-t07``."""

    id: str
    block: int
    position: int
    cell: str


class Plan(Record):
    """The cells of a study and the random order of their trials, fixed before the first one starts."""

    study: str
    question: str
    expectation: str = ""
    analysis: str = ""
    seed: int
    same_within: float
    """Half-width of the band that counts as "the same": 0.03 is 3 percent."""
    warm_up_s: float
    measure_s: float
    metrics: dict[str, Metric] = {}
    """What a verdict on each workload is about; transactions per second where it is not said."""
    scripts: dict[str, str] = {}
    """SHA-256 of every script that the run keeps a copy of, by ``WORKLOAD/FILE``."""
    cells: list[Cell]
    trials: list[PlannedTrial]
    estimated_s: float
    estimated_bytes: int
    """Bytes that the whole run will write: restores and an allowance for the load."""

    def cell(self, cell_id: str) -> Cell:
        """Return the cell of that id; KeyError if the plan has none."""
        for cell in self.cells:
            if cell.id == cell_id:
                return cell
        raise KeyError(cell_id)

    def metric(self, cell: Cell) -> Metric:
        """Return what a verdict on a cell is about."""
        return self.metrics.get(cell.workload, "transactions_per_s")

    def blocks(self) -> list[int]:
        """Return the block numbers, ascending."""
        return sorted({trial.block for trial in self.trials})


# ---------------------------------------------------------------- the machine


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


class PoolUse(Record):
    """What a disk of a ZFS pool did while a trial was measured, as the pool itself tells: to three digits."""

    part: PoolPart
    device: str
    """Kernel name."""
    reads: int
    read_bytes: int
    writes: int
    written_bytes: int


class Place(Record):
    """Where one role of one storage lies."""

    storage: str
    role: Role
    kind: Literal["directory", "ram", "virtual", "composed", "block", "zpool", "command"]
    path: str
    filesystem: str
    mount_point: str
    mount_options: str
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
    memory_bytes: int
    virtualised: str | None = None
    """The hypervisor's name, where one shows itself."""
    governor: str | None = None
    idle_wake_up_us: int | None = None
    """Longest time to wake an idle core that the run asked the kernel for; None where it asked for none."""
    diskproof_version: str
    load_version: str
    privileged: bool
    places: list[Place]
    servers: list[ServerFacts]


# ---------------------------------------------------------------- a trial


class Latency(Record):
    """Latencies of completed transactions or statements, in microseconds."""

    count: int
    mean: float
    stdev: float
    min: float
    max: float
    percentiles: dict[str, float]
    """Keyed by the percentile as text: ``"50"``, ``"99.9"``."""
    histogram: str | None = None
    """HDR histogram (V2, deflated, base64), values in nanoseconds."""


class StatementType(Record):
    """One statement of the workload, over the measured phase."""

    name: str
    kind: Literal["read", "write", "other"]
    count: int
    rows: int
    affected: int
    errors: int
    latency_us: Latency | None


class LoadError(Record):
    """An error that clients met, counted by the server's own code and the statement."""

    code: str
    statement: str | None
    """None for an error of the connection itself."""
    message: str
    transient: bool
    count: int


class ClientAccount(Record):
    """The load generator's own cost over the measured phase."""

    workers: int
    cpu_user_s: float
    cpu_system_s: float
    max_rss_bytes: int
    delay_mean_us: float | None
    """Mean time from a worker's waking up until a reply that was announced had been read and understood.

    None where the kernel announces none: a client that blocks, or a database inside the load generator.
    """
    delay_max_us: float | None
    waited_for_cpu_s: float | None = None
    """How long the workers, all together, were ready to run and had no core.

    None where the kernel keeps no account of it.
    """


class Operation(Record):
    """One part of a job, as it went."""

    test: str
    """The group of operations that it belongs to."""
    name: str
    clients: int
    planned: int
    count: int
    """What completed of what was planned."""
    seconds: float | None
    """None where it was skipped."""
    extrapolated_s: float | None = None
    """Where a time limit cut it short: what all that was planned would have taken at the same pace."""
    cut: bool = False
    """Whether a time limit cut it short, even where nothing can be extrapolated from what was done."""
    skipped: str | None = None
    """Why it was not run."""
    errors: int = 0
    rows: int = 0
    affected: int = 0
    latency_us: Latency | None = None

    @property
    def key(self) -> str:
        """Test and name: the same name in two tests is two operations."""
        return f"{self.test}/{self.name}"

    @property
    def estimated(self) -> bool:
        """Whether its seconds are not those that all that was planned really took."""
        return self.cut or self.extrapolated_s is not None

    @property
    def whole_s(self) -> float | None:
        """Seconds of all that was planned, extrapolated where need be; None where it was skipped."""
        return self.seconds if self.extrapolated_s is None else self.extrapolated_s


class Iterations(Record):
    """A job that is the same thing again and again, as mysqlslap tells it."""

    count: int
    mean_s: float
    min_s: float
    max_s: float
    queries_per_client: int


class Rate(Record):
    """An open loop: transactions that came at a rate of their own, whether a client was idle or not."""

    asked_per_s: float
    arrivals: str
    achieved_per_s: float
    """Transactions that completed."""
    arrived: int
    waiting: int
    """Transactions that had arrived and were not begun at the end of the phase."""
    behind_s: float
    """How long the first of those had waited."""
    most_waiting: int
    most_behind_s: float
    """The largest that either was at any moment of the phase while no client was idle."""
    held: bool
    """Whether latencies tell of the server and not of a backlog; docs/protocol.md has the bounds."""
    start_delay_mean_us: float | None
    """From a transaction's arrival to its first statement where a client was idle."""


class LoadResult(Record):
    """What the load generator measured. Transactions count when they complete within ``seconds``.

    Of a job that has no transactions of its own, statements count as such.
    """

    workload: str
    mix: str | None = None
    clients: int
    seconds: float
    transactions: int
    transactions_per_s: float
    statements: int
    reads: int
    writes: int
    others: int
    latency_us: Latency | None
    statement_types: list[StatementType]
    errors: list[LoadError]
    failed_transactions: int
    retries: int
    reconnects: int
    client: ClientAccount
    operations: list[Operation] = []
    """The parts of a job, in their order; a steady load has none."""
    iterations: Iterations | None = None
    rate: Rate | None = None
    """None in a closed loop."""

    def figure(self, metric: Metric, parts: Collection[str] | None = None) -> float | None:
        """Return the figure that a verdict is about, in its own unit; None where there is none above 0.

        `parts` limits a job's seconds to the operations with these keys.
        """
        match metric:
            case "transactions_per_s":
                found: float | None = self.transactions_per_s
            case "latency_mean_us":
                found = self.latency_us.mean if self.latency_us else None
            case "seconds":
                found = self._job_s(parts)
        return found or None

    def speed(self, metric: Metric, parts: Collection[str] | None = None) -> float | None:
        """Return a figure that is the larger the faster: a rate, or a time turned over."""
        figure = self.figure(metric, parts)
        return figure if figure is None or metric == "transactions_per_s" else 1 / figure

    @property
    def parts(self) -> frozenset[str]:
        """The keys of the operations that were run; iterations are no operations."""
        if self.iterations:
            return frozenset()
        return frozenset(operation.key for operation in self.operations if operation.whole_s is not None)

    def rests_on_estimates(self, parts: Collection[str] | None = None) -> bool:
        """Tell whether a job's seconds hold some of an operation that was cut short."""
        return any(one.estimated for one in self.operations if parts is None or one.key in parts)

    def _job_s(self, parts: Collection[str] | None) -> float | None:
        """Return an iteration's seconds, or those of the operations that were run."""
        if self.iterations:
            return self.iterations.mean_s
        return sum(
            operation.whole_s or 0.0
            for operation in self.operations
            if parts is None or operation.key in parts
        )


class Setting(Record):
    """A server variable that the study asked for, and what the running server answered."""

    name: str
    requested: str
    observed: str | None
    """None: the server has no such variable."""
    holds: bool
    level: bool = False
    """True: part of the tuning level (or the user's own variables), not of the common configuration."""


class OpenFile(Record):
    """A file that the server held open while it was measured."""

    path: str
    role: Role | None
    """The role that the file's name and place say it has; None for what is no role's (error log)."""
    device_number: str
    as_declared: bool


class Usage(Record):
    """What happened on the machine during the measured phase (differences of counters)."""

    seconds: float
    server_cpu_s: float | None = None
    """CPU time of all the server's processes; None where it runs inside the load generator."""
    server_read_bytes: int | None = None
    server_written_bytes: int | None = None
    """Bytes that the server's processes caused to go to storage (``/proc/PID/io``)."""
    host_cpu_busy_s: float | None = None
    host_cpu_iowait_s: float | None = None
    host_cpu_steal_s: float | None = None
    context_switches: int | None = None
    devices: dict[str, "DeviceUsage"] = {}
    """By kernel name, for each block device that a role lies on."""
    server_counters: dict[str, float] = {}
    """The server's own counters (SHOW GLOBAL STATUS, pg_stat_*), as differences."""


class DeviceUsage(Record):
    """One block device over the measured phase (``/proc/diskstats``)."""

    reads: int
    read_bytes: int
    writes: int
    written_bytes: int
    flushes: int | None
    busy_s: float
    read_s: float | None = None
    """Seconds that all completed reads took together, from the block layer's taking them on."""
    write_s: float | None = None
    """Of writes; one that asks for a flush as well, or for nothing else, counts with its wait for that."""
    flush_s: float | None = None
    """Of flushes as the disk was sent them."""


class Spread(Record):
    """Times of many requests, in microseconds."""

    mean: float
    p50: float
    p95: float
    p99: float
    p999: float
    max: float


class RequestsServed(Record):
    """What a virtual disk served of one kind of request."""

    requests: int
    bytes: int
    errors: int
    latency_us: Spread | None
    """As its model gave it; None where there was none."""


ALLOWED_LATENESS_SHARE = 0.10
"""How much of its modelled latency a virtual disk's answers may be late, and stand for that disk."""


class Waiting(Record):
    """What requests to a virtual disk took by the kernel's own account, beside what its model says.

    `storage/waiting.py` says what is compared.
    """

    kinds: list[Literal["read", "write", "flush"]]
    """The kinds of request that are compared."""
    requests: int
    """How many of them the kernel sent."""
    await_us: float
    """Their mean time at the loop device, less what the account itself leaves open."""
    modelled_us: float
    """Their mean by the model, each no shorter than the way to the disk."""
    in_line_us: float
    """What of the difference they may have waited for a flush before them, as on a SATA disk."""

    @property
    def share(self) -> float:
        """What was waited beyond all that, as a share of the modelled mean; below 0 where it was less."""
        return (self.await_us - self.in_line_us) / self.modelled_us - 1

    @property
    def late(self) -> bool:
        """Whether that is more than is allowed."""
        return self.share > ALLOWED_LATENESS_SHARE


class VirtualUse(Record):
    """One virtual disk over the measured phase, as the disk itself counted."""

    name: str
    device: str
    block: str | None
    """Kernel name of its loop device; None where it is served as a directory."""
    seed: int | None = None
    """What its model drew from: each block of a run has another."""
    seconds: float
    read: RequestsServed
    write: RequestsServed
    flush: RequestsServed
    discard: RequestsServed
    queue_depth_mean: float
    queue_depth_max: int
    lateness_us: Spread | None
    """How much later than the model said answers left."""
    lateness_share: float | None
    """The 99th percentile of lateness as a share of the mean modelled latency."""
    late: bool
    """Whether that is more than is allowed: the disk was not the one that it claims to be."""
    waiting: Waiting | None = None
    """None where there is no loop device, or too few requests to compare."""
    errors: int
    contents_bytes: int
    """Memory that its contents took, snapshots among them."""
    counters: dict[str, int]
    """The model's own: seeks, cache hits, erased blocks …"""


class Timings(Record):
    """How long the parts of a trial took, in seconds."""

    restore_s: float
    start_s: float
    warm_up_s: float
    measure_s: float
    stop_s: float
    total_s: float


RestoredBy = Literal["reflink", "copy", "snapshot"]
"""How the loaded data set came back: cloned or copied by the file system, or as a virtual disk keeps it."""


class DataFacts(Record):
    """The data set at the start of the trial."""

    data_bytes: int
    """Size of all restored files but the logs."""
    rows: int | None = None
    engine: str | None = None
    """Storage engine that the server reports for the tables (MySQL family)."""
    declared_engine: str | None = None
    restored_by: RestoredBy = "copy"


Severity = Literal["invalid", "warning", "note"]


class Finding(Record):
    """What a check says. ``invalid``: the trial's figures are not used."""

    check: str
    severity: Severity
    message: str
    remedy: str = ""


class Trial(Record):
    """One measured execution of one cell: one line of trials.jsonl."""

    id: str
    cell: str
    block: int
    position: int
    started_at: str
    """ISO 8601, UTC."""
    finished: bool
    """False: the trial broke off; ``findings`` says why and ``load`` is None."""
    load: LoadResult | None = None
    usage: Usage | None = None
    virtual_disks: list[VirtualUse] = []
    """The virtual disks that its storage lies on."""
    pools: list[PoolUse] = []
    """The disks of the ZFS pools that its storage lies on."""
    places: list[Place] = []
    """Where its roles lay. A run that was resumed has other loop devices than the machine's first facts."""
    timings: Timings | None = None
    data: DataFacts | None = None
    settings: list[Setting] = []
    open_files: list[OpenFile] = []
    load_command: str = ""
    """The command that makes this load by hand against the same server."""
    findings: list[Finding] = []
    """What went wrong or was noted while it ran. Whether the trial counts is for the audit to say."""


def format_bytes(size_bytes: float) -> str:
    """Return a size as people write it in a study file: ``256 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size_bytes < 1024:
            return f"{size_bytes:.4g} {unit}"
        size_bytes /= 1024
    return f"{size_bytes:.4g} TiB"
