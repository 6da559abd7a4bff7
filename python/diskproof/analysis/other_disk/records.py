"""What is asked of the simulation, what it answers, and what is predicted from that."""

from pydantic import Field

from diskproof.results.limit import Limit
from diskproof.results.plan import Cell
from diskproof.results.record import Record
from diskproof.stats.intervals import Interval
from diskproof.wording import Message


class Log(Record):
    """A log that commits share."""

    bytes: int
    """Of a commit."""
    grows: bool = False
    """Whether its file grows, so that the file system flushes its own journal as well."""
    alone: bool = False
    """Whether commits take it one by one instead."""


class Load(Record):
    """What a mean transaction asks for: a line of ``diskproof-disk simulate --transactions``."""

    clients: int
    cores: int
    cpu_us: float
    behind_us: float = 0.0
    """CPU time that it causes and does not wait for."""
    bursts: int = 1
    """Pieces of its CPU time; reads come between them."""
    lock_share: float = 0.0
    """Wait for others' locks, over the rest of its time."""
    reads: float = 0.0
    read_bytes: int = 16_384
    data_bytes: int
    disk_bytes: int
    commits: float = 0.0
    logs: list[Log] = Field(default_factory=list)
    """What a commit waits for, one after the other."""
    log_work: float = 1.0
    """How often a group writes and flushes each log."""
    page_writes: float = 0.0
    page_writes_after: float = 0.0
    """Transactions from the start for which no pages are written: the log has room."""
    page_bytes: int = 16_384
    page_batch: int = 16
    doublewrite: bool = False
    warm_up_s: float
    measure_s: float
    transactions: int
    seed: int = 1


class Simulated(Record):
    """What the clients saw in virtual time; times are means of a transaction."""

    seconds: float
    transactions: int
    per_s: float
    mean_us: float
    p95_us: float
    cpu_us: float
    """Computing, and waiting for a core."""
    reads_us: float
    log_us: float
    others_us: float
    """Locks."""
    cpu_share: float
    """Busy share of the cores."""
    group: float
    """Commits of a group."""
    flushes: float
    flush_us: float
    """Mean of one flush, with its wait before the disk."""
    read_us: float
    """Mean of one read."""
    page_writes: float
    pages_owed: float
    """Pages that wait to be written at the end."""


class Predicted(Record):
    """One load on one device."""

    device: str
    cell: Cell
    """The recorded cell that the prediction rests on most."""
    recorded: dict[str, float]
    """Throughput by storage that it rests on."""
    measured: bool = False
    """Whether the record is of this very device, so that nothing had to be predicted."""
    per_s: Interval | None = None
    """None: the record cannot tell; `missing` says why."""
    mean_us: float | None = None
    p95_us: float | None = None
    limit: Limit | None = None
    """What takes most of a transaction's time there; None: nothing takes half of it."""
    doubt: float | None = None
    """Mean of `Calibrated.doubt`, by the weight of each record: the interval is proportional to it."""
    missing: Message | None = None
    """Why nothing is predicted, and what to measure."""
    weakened_by: dict[str, Message] = Field(default_factory=dict)
    """What the audit warns of in the trials that this rests on, by check."""


class Predictions(Record):
    """All loads of a run on some devices."""

    run: str
    cells: list[Predicted]
    left_out: list[Message] = Field(default_factory=list)
    """Cells that no prediction is made of, by reason."""
