"""What the load generator measured in a trial."""

from collections.abc import Collection
from typing import Literal

from diskproof.results.plan import THROUGHPUTS, Metric
from diskproof.results.record import Record, recorded
from diskproof.results.replay import Certificate
from diskproof.results.tpcc import Inputs

Derived = Literal["transactions", "seconds", "transactions_per_s"]
"""A figure that an imported result was not told, but worked out of the two others."""


class Latency(Record):
    """Latencies of completed transactions or statements, in microseconds."""

    count: int | None
    """None if another tool does not print how many there were."""
    mean: float
    stdev: float | None = None
    min: float | None = None
    max: float | None = None
    percentiles: dict[str, float]
    """Keyed by the percentile as text: ``"50"``, ``"99.9"``."""
    percentile_digit: float = 0.0
    """The last digit of another tool's percentiles, which may be off by that."""
    histogram_end: float | None = None
    """The end of another tool's histogram: a percentile there is a lower bound."""
    histogram: str | None = None
    """HDR histogram (V2, deflated, base64), values in nanoseconds."""

    @property
    def known_count(self) -> int:
        """How many there were; NotRecordedError if that is not told."""
        return recorded(self.count, "the number of latencies")

    def is_bound(self, percentile: str) -> bool:
        """Tell whether a percentile lies at the histogram's end: the true one may be any above it."""
        return self.histogram_end is not None and self.percentiles[percentile] >= self.histogram_end

    def exact(self, percentile: str) -> float | None:
        """Return a percentile that is no lower bound."""
        unknown = percentile not in self.percentiles or self.is_bound(percentile)
        return None if unknown else self.percentiles[percentile]


class StatementType(Record):
    """One statement of the workload, over the measured phase."""

    name: str
    kind: Literal["read", "write", "other"]
    count: int
    rows: int = 0
    affected: int = 0
    errors: int = 0
    latency_us: Latency | None


class TransactionType(Record):
    """One kind of transaction of a workload that tells some apart, over the measured phase."""

    name: str
    count: int
    latency_us: Latency | None
    """None if none completed."""


class LoadError(Record):
    """An error that clients met, counted by the server's own code and the statement."""

    code: str
    statement: str | None
    """None for an error of the connection itself."""
    message: str
    transient: bool
    count: int
    ended: bool = False
    """Whether it ended another tool's run, or one of its clients, before the time."""


class ClientAccount(Record):
    """The load generator's own cost over the measured phase."""

    workers: int
    cpu_user_s: float
    cpu_system_s: float
    max_rss_bytes: int | None = None
    """None if it was not observed."""
    delay_mean_us: float | None = None
    """Mean time from a worker's waking up until a reply that was announced had been read and understood.

    None if the kernel announces none: a client that blocks, or a database inside the load generator.
    """
    delay_max_us: float | None = None
    waited_for_cpu_s: float | None = None
    """How long the workers, all together, were ready to run and had no core.

    None if the kernel keeps no account of it.
    """

    @property
    def cpu_s(self) -> float:
        """Its CPU time, in user mode and in the system."""
        return self.cpu_user_s + self.cpu_system_s


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
    """None if it was skipped."""
    extrapolated_s: float | None = None
    """If a time limit cut it short: how long all that was planned would have taken at the same pace."""
    cut: bool = False
    """Whether a time limit cut it short, even if nothing can be extrapolated from what was done."""
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
        """Seconds of all that was planned, extrapolated if need be; None if it was skipped."""
        return self.seconds if self.extrapolated_s is None else self.extrapolated_s


class Iterations(Record):
    """A job of several iterations of the same work, as mysqlslap reports it."""

    count: int | None
    """None: an imported result does not say how many there were."""
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
    """Whether latencies are the server's and not a backlog's; docs/protocol.md has the bounds."""
    start_delay_mean_us: float | None
    """From a transaction's arrival to its first statement if a client was idle."""


class FileRequests(Record):
    """A load on bare files: what was read and written, and how."""

    files: int | None = None
    block_bytes: int | None = None
    direct: bool | None = None
    """Whether it passed the page cache by."""
    one_pass: bool = False
    """Whether it should end after one pass over the files, which are synced if it wrote them."""
    read_bytes: int | None = None
    written_bytes: int | None = None
    syncs: int | None = None
    """Of single files; after its requests each of them waits for as many as there are files."""

    @property
    def moved_bytes(self) -> int | None:
        """What was read and written together, as far as it was told."""
        told = [one for one in (self.read_bytes, self.written_bytes) if one is not None]
        return sum(told) if told else None


class LoadResult(Record):
    """What the load generator measured. Transactions count when they complete within ``seconds``.

    Of diskproof's own runs every figure is there; of an imported result those that it does not have are None.

    Of a job that has no transactions of its own, statements count as such; of a load on bare files its
    reads and writes do, while syncs are statements too, of kind ``other``.
    """

    workload: str
    mix: str | None = None
    clients: int | None
    seconds: float | None
    transactions: int | None
    transactions_per_s: float
    statements: int | None = None
    reads: int | None = None
    writes: int | None = None
    others: int | None = None
    latency_us: Latency | None = None
    statement_types: list[StatementType] = []
    transaction_types: list[TransactionType] = []
    """Empty if transactions are all alike."""
    tpcc: Inputs | None = None
    """What the terminals of TPC-C entered."""
    replay: Certificate | None = None
    """How true a replay was to its log."""
    errors: list[LoadError] = []
    failed_transactions: int | None = None
    retries: int | None = None
    reconnects: int | None = None
    client: ClientAccount | None = None
    guards: tuple[int, int] | None = None
    """Sessions that said after the load whether they are read-only, and those that are; None: no matter."""
    operations: list[Operation] = []
    """The parts of a job, in their order; a steady load has none."""
    iterations: Iterations | None = None
    rate: Rate | None = None
    """None in a closed loop."""
    file_requests: FileRequests | None = None
    """None of a database's load."""
    derived: list[Derived] = []
    """Those of count, time and rate that another tool did not print: they cannot contradict the others."""
    intervals_only: bool = False
    """Whether another tool's output has interval lines and no summary: whether it ended is not known."""

    # ------------------------------------------------------------ what an imported result may lack

    @property
    def known_clients(self) -> int:
        """The clients; NotRecordedError if they are not told."""
        return recorded(self.clients, "the number of clients")

    @property
    def known_seconds(self) -> float:
        """The measured seconds; NotRecordedError if they are not told."""
        return recorded(self.seconds, "how long it was measured")

    @property
    def known_transactions(self) -> int:
        """The completed transactions; NotRecordedError if only their rate was reported."""
        return recorded(self.transactions, "the number of transactions")

    @property
    def known_writes(self) -> int:
        """The statements that write; NotRecordedError if they are not told."""
        return recorded(self.writes, "the number of writes")

    @property
    def known_statements(self) -> int:
        """The statements; NotRecordedError if they are not told."""
        return recorded(self.statements, "the number of statements")

    @property
    def known_client(self) -> ClientAccount:
        """The load generator's own cost; NotRecordedError if it kept no account."""
        return recorded(self.client, "the load generator's own CPU time")

    # ------------------------------------------------------------ figures

    def figure(self, metric: Metric, parts: Collection[str] | None = None) -> float | None:
        """Return the figure that a verdict is about, in its own unit; None if there is none above 0.

        `parts` limits a job's seconds to the operations with these keys.
        """
        match metric:
            case "transactions_per_s" | "requests_per_s":
                found: float | None = self.transactions_per_s
            case "latency_mean_us":
                found = self.latency_us.mean if self.latency_us else None
            case "seconds":
                found = self._job_s(parts)
        return found or None

    def speed(self, metric: Metric, parts: Collection[str] | None = None) -> float | None:
        """Return a figure that grows with speed: a rate, or 1 / time."""
        figure = self.figure(metric, parts)
        return figure if figure is None or metric in THROUGHPUTS else 1 / figure

    @property
    def megabytes_per_s(self) -> float | None:
        """Return what a load on bare files read and wrote together, in 10^6 bytes a second."""
        moved = self.file_requests
        if moved is None or moved.moved_bytes is None or not self.seconds:
            return None
        return moved.moved_bytes / 1e6 / self.seconds

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
