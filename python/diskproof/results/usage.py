"""What was used while a trial was measured: CPU, disks, pools."""

from typing import Literal

from diskproof.results.machine import PoolPart
from diskproof.results.record import Record


class PoolUse(Record):
    """What a disk of a ZFS pool did while a trial was measured, as the pool itself tells: to three digits."""

    part: PoolPart
    device: str
    """Kernel name."""
    reads: int
    read_bytes: int
    writes: int
    written_bytes: int


class Usage(Record):
    """What happened on the machine during the measured phase (differences of counters)."""

    seconds: float
    """Of a load on bare files its own seconds. Its counters are read before fio starts and after it ended:
    the disks had nothing to do in the rest of that time, while the host's CPU time has it in it."""
    counted_s: float | None = None
    """Seconds between the two readings of its counters, where those are others; `host_seconds` takes them."""
    server_cpu_s: float | None = None
    """CPU time of all the server's processes; None where it runs inside the load generator."""
    server_read_bytes: int | None = None
    server_written_bytes: int | None = None
    """Bytes that the server's processes caused to go to storage (``/proc/PID/io``)."""
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
    """Of a load on bare files its own seconds, and the mean depth is of those."""
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
