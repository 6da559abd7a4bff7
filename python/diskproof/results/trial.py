"""One trial: one line of trials.jsonl."""

from typing import Literal, get_args

from diskproof.results.imported import Source
from diskproof.results.load import LoadResult
from diskproof.results.load_host import LoadHost
from diskproof.results.machine import Place
from diskproof.results.record import Record, Role, StepId
from diskproof.results.tpcc import Checked
from diskproof.results.usage import Usage, VirtualUse
from diskproof.wording import NOTHING, Message


class Setting(Record):
    """A server variable that the study requests or that was only read, and the running server's value."""

    name: str
    requested: str | None
    """None: it was only read, of a server that is there already."""
    observed: str | None
    """None: the server has no such variable."""
    holds: bool
    level: bool = False
    """True: part of the tuning level (or the user's own variables), not of the common configuration."""

    @classmethod
    def read_only(cls, name: str, value: str, unit: str) -> "Setting":
        """Return a variable that nobody requested."""
        return cls(name=name, requested=None, observed=with_unit(value, unit), holds=True)

    @property
    def is_path(self) -> bool:
        """Whether its value is a path, which differs by nature."""
        return "/" in (self.requested or self.observed or "")


def with_unit(setting: str, unit: str) -> str:
    """Return a setting as a person reads it: ``2048 x 8kB``, ``300 s``."""
    if not unit:
        return setting
    return f"{setting} x {unit}" if unit[0].isdigit() else f"{setting} {unit}"


class OpenFile(Record):
    """A file that the server held open while it was measured."""

    path: str
    role: Role | None
    """The role that the file's name and place say it has; None for what is no role's (error log)."""
    device_number: str
    as_declared: bool


class HeldCpus(Record):
    """The CPUs that the server and its load were held to, and those that the kernel let them use.

    Each a list of CPU numbers: those on which any thread of the program may run, read back from the kernel
    right after the load, while all of them are still there.
    """

    cpus: list[int]
    """As they were held."""
    server: list[int] | None
    """None if no server has processes of its own."""
    load: list[int]


class Timings(Record):
    """How long the parts of a trial took, in seconds."""

    restore_s: float
    start_s: float
    preload_s: float = 0.0
    """Reading the data into the server's memory, if the workload requests it."""
    warm_up_s: float
    measure_s: float
    check_s: float = 0.0
    """Checking the tables, if the workload has rules for them."""
    stop_s: float
    total_s: float


RestoredBy = Literal[
    "reflink", "copy", "snapshot", "written", "loaded", "command", "unchanged", "not put back"
]
"""How the loaded data set came back: cloned or copied by the file system, or as a virtual disk keeps it; bare
files are written again if the place keeps none. On a server that is there already: loaded, put back by the
user's command, not changed since, or left as earlier loads had made it."""


class Dumped(Record):
    """The dump of a running server: its SHA-256, and when it was taken (ISO 8601, UTC)."""

    sha256: str
    at: str


class DataFacts(Record):
    """The data set at the start of the trial."""

    data_bytes: int
    """Size of all restored files but the logs."""
    rows: int | None = None
    engine: str | None = None
    """Storage engine that the server reports for the tables (MySQL family)."""
    declared_engine: str | None = None
    job_engine: str | None = None
    """Storage engine of the tables that a job makes (MySQL family)."""
    restored_by: RestoredBy = "copy"
    dump: Dumped | None = None


Severity = Literal["invalid", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The gravest first."""


class Finding(Record):
    """What a check says. ``invalid``: the trial's figures are not used."""

    check: str
    severity: Severity
    message: Message
    remedy: Message = NOTHING


class Execution(Record):
    """What the records of a trial and of a cut share: one execution of one cell."""

    id: StepId
    cell: str
    block: int
    position: int
    started_at: str
    """ISO 8601, UTC."""
    finished: bool
    """False: it broke off, as the last finding says."""
    settings: list[Setting] = []
    findings: list[Finding] = []
    """What went wrong or was noted while it ran. Whether it counts is for the audit to say."""


class Trial(Execution):
    """One measured execution of one cell: one line of trials.jsonl."""

    load: LoadResult | None = None
    """None of a trial that broke off."""
    load_hosts: list[LoadHost] = []
    """The machines that made the load together; empty: it was made beside the server."""
    usage: Usage | None = None
    virtual_disks: list[VirtualUse] = []
    """The virtual disks below its storage."""
    places: list[Place] = []
    """Where its roles lay. A run that was resumed has other loop devices than the machine's first facts."""
    timings: Timings | None = None
    broke_off_after_s: float | None = None
    """Seconds until it broke off; None: it finished, and `timings` has its seconds."""
    data: DataFacts | None = None
    open_files: list[OpenFile] = []
    held_cpus: HeldCpus | None = None
    """None if the study does not limit CPUs."""
    tables: Checked | None = None
    """What a check of the tables found after the load; None if the workload has no rules for them."""
    load_command: str = ""
    """The command that makes this load by hand against the same server."""
    imported: Source | None = None
    """Where it was read, if another tool measured it; of diskproof's own trials None."""

    @property
    def took_s(self) -> float:
        """Seconds that it took, finished or not; 0 if nobody recorded them."""
        return self.timings.total_s if self.timings else self.broke_off_after_s or 0.0
