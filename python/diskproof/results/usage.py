"""What was used while a trial was measured: CPU, disks."""

from typing import Literal

from diskproof.results.record import Record, Role

Party = Literal["server", "load", "disks", "sides"]
"""Whose CPU time it is: the server's processes, the load generator's or fio's, with a database inside it
where there is one, and the programs' of the virtual disks. The kernel's own threads, such as those of a
loop device, are nobody's of these."""


class CpuUse(Record):
    """What one party's threads had of the CPUs, in seconds summed over threads."""

    used_s: float
    waited_s: float | None = None
    """Ready to run, but without a CPU (``/proc/PID/task/TID/schedstat``); None if the kernel keeps no
    account. Without what threads waited between the last look at them and their end, a second at most."""


Act = Literal["computing", "flushing", "reading", "writing", "waiting"]
"""What a thread was found at: on a CPU or ready for one; in fsync and its kin; in a read or a write of a
file; asleep for a reason that the kernel does not name (a lock, a condition). Threads that wait for a
client's next statement, for a clock or for their own queue are idle and not counted. Waiting is counted of
threads alone that serve clients: those of a server that were found waiting for a client at least once, and
the workers of a database inside the load generator, where sleeping until the next try is waiting too."""


class Doing(Record):
    """One thing that threads of the database were found at, over all moments at which they were looked at."""

    act: Act
    role: Role | None = None
    """Of the file that is flushed, read or written; None of no role's file, or of none at all."""
    share: float
    """Of the moments: those at which at least one thread did it. Of a serial centre, such as the flush of a
    log, this is its utilisation."""
    threads: float
    """How many did it, in the mean over all moments."""
    serving: float | None = None
    """Of `threads` those that serve clients, as far as they were known by then; None of a record from
    before they were distinguished."""


class Activity(Record):
    """What the threads of the database did, seen from outside at moments a fixed time apart.

    The database is the server, the load generator's workers if it is embedded, or fio. Pages that are
    written by asynchronous requests are nobody's and are not seen. The kernel reports of each thread
    whether it runs, and else the system call and the file that it is in (``/proc/PID/task/TID/syscall``).
    """

    moments: int
    period_s: float
    """Between two of them, in the mean."""
    doings: list[Doing]
    serving: float | None = None
    """How many threads were known to serve clients, busy or not, in the mean over all moments; None of a
    record from before they were distinguished."""
    log_share: float | None = None
    """Of the moments: those at which at least one thread flushed or wrote the redo log or the binary log.
    The two overlap, so that their shares cannot be added up. None of a record from before it was counted."""
    refused_after_s: float | None = None
    """From then on the kernel did not let us look any more; None: it did to the end."""

    def doing(self, act: Act, role: Role | None = None) -> Doing | None:
        """Return one thing that was done; None if no thread was ever found at it."""
        return next((one for one in self.doings if (one.act, one.role) == (act, role)), None)


class ServerAccount(Record):
    """The server's own account of the measured phase, in words that all families share.

    None: it does not report it. Counts and seconds are differences over the phase, levels are means or
    extremes of its samples. Only ``server/`` knows which of a family's counters they are made of.
    """

    commits: float | None = None
    log_flushes: float | None = None
    """Flushes of the redo log or WAL that it requested."""
    log_flush_s: float | None = None
    """Seconds in them, all together."""
    binlog_commits: float | None = None
    binlog_groups: float | None = None
    """Groups in which those commits were written, each with at most one flush."""
    binlog_flush_s: float | None = None
    """Seconds in flushes of the binary log."""
    page_requests: float | None = None
    """Pages that were requested, in memory or not."""
    page_reads: float | None = None
    """Those of them that a client had to wait for, because they were not in memory."""
    page_read_s: float | None = None
    page_writes: float | None = None
    page_write_s: float | None = None
    page_flushes: float | None = None
    """Flushes of data files."""
    clean_page_waits: float | None = None
    """Waits for a page to be written so that another could be read."""
    lock_waits: float | None = None
    lock_wait_s: float | None = None
    checkpoint_age_mean: float | None = None
    """Log that a recovery would have to read, as a share of what the log can hold before clients must
    wait."""
    checkpoint_age_max: float | None = None
    checkpoint_stalls: float | None = None
    """Waits of clients for a checkpoint, or checkpoints that were forced by the log's size."""
    dirty_share_mean: float | None = None
    """Of the buffer pool: pages that are not yet written."""
    history_growth_per_s: float | None = None
    """Undo history that purge has not removed, gained a second."""
    waiting_sessions: dict[str, float] | None = None
    """Mean number of clients' sessions found waiting, by the server's own name for what they waited for
    (``LWLock:WALWrite``); of servers that report what a session waits for. Not of those that waited for their
    client."""


class Usage(Record):
    """What happened on the machine during the measured phase (differences of counters)."""

    seconds: float
    """Of a load on bare files its own seconds. Its counters are read before fio starts and after it ended:
    the disks had nothing to do in the rest of that time, while the host's CPU time has it in it."""
    counted_s: float | None = None
    """Seconds between the two readings of its counters, where those are others; `host_seconds` takes them."""
    server_cpu_s: float | None = None
    """CPU time of all processes of the server; None if it runs inside the load generator."""
    host_cpu_busy_s: float | None = None
    held_cpu_busy_s: float | None = None
    """Of the CPUs that the server and its load were held to, whoever used them."""
    host_cpu_iowait_s: float | None = None
    host_cpu_steal_s: float | None = None
    context_switches: int | None = None
    devices: dict[str, "DeviceUsage"] = {}
    """By kernel name, for each block device that a role lies on."""
    server_counters: dict[str, float] = {}
    """The server's own counters (SHOW GLOBAL STATUS, pg_stat_*), as differences."""
    account: ServerAccount | None = None
    """What those counters and its levels say, in words that all families share."""
    cpu: dict[Party, CpuUse] = {}
    """Of those that have any process."""
    runnable_mean: float | None = None
    """Threads that ran or were ready to, all over the machine, in the mean over the moments of `activity`
    (``/proc/loadavg``), without the one that looked."""
    activity: Activity | None = None
    """None if the kernel does not let us look."""

    @property
    def host_seconds(self) -> float:
        """Seconds that the host's CPU time is of."""
        return self.seconds if self.counted_s is None else self.counted_s


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
    max: float


class RequestsServed(Record):
    """What a virtual disk served of one kind of request."""

    requests: int
    bytes: int
    errors: int
    latency_us: Spread | None
    """As its model gave it; None if there was none."""


ALLOWED_LATENESS_SHARE = 0.10
"""How late a virtual disk's answers may be, as a share of its modelled latency or of the clients' time."""


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
    queued_us: float = 0.0
    """What of the rest passed while the disk's own queue was full, so that it could not have taken them."""

    @property
    def late_us(self) -> float:
        """The mean wait beyond all that; below 0 if requests took less than by the model."""
        return self.await_us - self.in_line_us - self.queued_us - self.modelled_us

    @property
    def share(self) -> float:
        """That wait as a share of the modelled mean."""
        return self.late_us / self.modelled_us

    @property
    def late(self) -> bool:
        """Whether that is more than is allowed."""
        return self.share > ALLOWED_LATENESS_SHARE


class Slowed(Record):
    """Requests that a virtual disk was made to answer later than its model says, to prove a limit."""

    on: Literal["read", "flush"]
    add_us: float
    requests: int
    """That were slowed, in the warm-up too."""


class VirtualUse(Record):
    """One virtual disk over the measured phase, as the disk itself counted."""

    name: str
    device: str
    block: str | None
    """Kernel name of its loop device; None if it is served as a directory."""
    seed: int | None = None
    """What its model drew from: each block of a run has another."""
    seconds: float
    """Of a load on bare files its own seconds, and the mean depth is of those."""
    read: RequestsServed
    write: RequestsServed
    flush: RequestsServed
    discard: RequestsServed
    queue_depth_mean: float
    lateness_us: Spread | None
    """How much later than the model said answers left."""
    lateness_share: float | None
    """The 99th percentile of lateness as a share of the mean modelled latency."""
    late: bool
    """Whether that is more than is allowed: the disk was not the one that it claims to be."""
    waiting: Waiting | None = None
    """None if there is no loop device, or too few requests to compare."""
    errors: int
    contents_bytes: int
    """Memory that its contents took, snapshots among them."""
    counters: dict[str, int]
    """The model's own: seeks, cache hits, erased blocks …"""
    slowed: Slowed | None = None
    """None if its answers came on time; else the delay is part of its latencies."""
