"""What requests to a virtual disk waited in the kernel: the block layer's account beside the model's.

The disk's own lateness begins when its program reads a request. Before that, a request may wait for the loop
device's worker or in the queue of FUSE, and only the block layer counts this. Its time of a request runs from
the moment at which the request has a place in the loop device's queue (of 128) until it completes
(block/blk-mq.c: blk_mq_rq_time_init, blk_account_io_done). A request that waits for such a place has not been
submitted, and is in neither account. All submitted requests go to the model at once, also those beyond the
disk's own queue depth: the model lets them wait, so both accounts have that.

Both accounts have the same requests: the block layer merges before its account begins, and a loop device over
a virtual disk sends none that FUSE would split (`loops.set_largest_request`). They are compared by kind, each
weighted with the kernel's count:

- reads, and flushes as the disk received them;
- writes only if flushes take less than twice the path to the disk, or there are none: the disk's label says
  that such flushes may be slower than modelled. The kernel counts a
  request that asks for a flush as a write which takes as long as it waits for that, and counts the flush too
  (block/blk-flush.c).

A disk takes as many requests at a time as its own queue holds (32 on SATA); those beyond wait before it, in
order of arrival. A request that waits in the kernel while that queue is full loses nothing, because it would
wait before the disk. So a wait counts only for the share of the time in which the queue had room, in which as
many requests are taken to be at the loop device as at other times.

Reads may wait for a flush: the loop device does it in line with its other requests, like a SATA disk, which
has no queued flush. A read finds a flush at work with the probability of the flushes' share of the time. It
waits for the rest of that flush: at most the mean length of one, if lengths vary no more than exponentially.
That much is allowed; and for writes beside such quick flushes, two of them as the kernel counted them: one at
work already, and their own.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from diskproof.disk import Control, Facts
from diskproof.results.usage import DeviceUsage, Waiting
from diskproof.system.counters import between, device_counters
from diskproof.system.dilation import REAL, TrialTime

LEAST_REQUESTS = 50
"""Fewer of a kind show nothing: those at either end of the phase may be in only one account."""

QUANTUM_US = 1000.0
"""The kernel reports the sum of times in whole milliseconds, so a difference is at most 1 ms too large."""

NEAR_PATH = 2.0
"""A kind of request that takes less than so many times the path may be slower than modelled; the disk's label
says so (crates/disk/src/serve/floor.rs)."""

Kind = Literal["read", "write", "flush"]


def compare(statistics: Facts, loops: Sequence[DeviceUsage], path_us: float | None) -> Waiting | None:
    """Compare the accounts of one phase: the disk's statistics, and those of its loop devices.

    None if nothing can be compared: no loop device, too few requests, a kernel that does not count flushes,
    or a disk that takes no time. A mean below `path_us`, the time of the path itself, counts as that: no
    answer can come sooner, and the disk's label says so.
    """
    if not loops or any(loop.read_s is None or loop.flush_s is None for loop in loops):
        return None
    compared: list[Kind] = []
    requests, waited_us, modelled_us, in_line_us = 0, 0.0, 0.0, 0.0
    for kind in _kinds(statistics, loops, path_us or 0.0):
        count, time_us = _sum(loops, kind)
        if kind == "write":  # the kernel's writes include every requested flush, with no bytes
            count = min(count, statistics["write"]["requests"])
        mean_us = _mean_us(statistics, kind)
        if count < LEAST_REQUESTS or not mean_us:
            continue
        compared.append(kind)
        requests += count
        waited = max(0.0, time_us - QUANTUM_US * len(loops))
        modelled = count * max(mean_us, path_us or 0.0)
        waited_us, modelled_us = waited_us + waited, modelled_us + modelled
        in_line_us += min(max(0.0, waited - modelled), count * _in_line_us(kind, statistics, loops))
    if not compared:
        return None
    late_us = max(0.0, waited_us - modelled_us - in_line_us)
    with_room = 1 - (statistics["queue_depth"].get("full_share") or 0.0)
    return Waiting(
        kinds=compared,
        requests=requests,
        await_us=waited_us / requests,
        modelled_us=modelled_us / requests,
        in_line_us=in_line_us / requests,
        queued_us=max(0.0, late_us - with_room * waited_us) / requests,
    )


@dataclass
class Account:
    """What a disk and the kernel counted in the same time."""

    statistics: Facts = field(default_factory=dict)
    """The disk's own."""
    waiting: Waiting | None = None


@contextmanager
def watched(
    control: Control, block_name: str, path_us: float | None, own_time: TrialTime = REAL
) -> Iterator[Account]:
    """Let a disk count from now; at the end the yielded object has both accounts, in the disk's own time."""
    account = Account()
    control.ask("reset")
    before = device_counters(block_name)
    yield account
    after = device_counters(block_name)
    account.statistics = control.ask("statistics")
    if before and after:
        account.waiting = compare(account.statistics, [own_time.own(between(before, after))], path_us)


def _kinds(statistics: Facts, loops: Sequence[DeviceUsage], path_us: float) -> list[Kind]:
    """Return the kinds for which the kernel counts single requests."""
    flushes, _ = _sum(loops, "flush")
    tells = flushes and _mean_us(statistics, "flush") > NEAR_PATH * path_us
    return ["read", "flush"] if tells else ["read", "write"]


def _sum(loops: Sequence[DeviceUsage], kind: Kind) -> tuple[int, float]:
    """Return the number of requests of a kind, and their total time in microseconds."""
    match kind:
        case "read":
            each = [(loop.reads, loop.read_s) for loop in loops]
        case "write":
            each = [(loop.writes, loop.write_s) for loop in loops]
        case "flush":
            each = [(loop.flushes or 0, loop.flush_s) for loop in loops]
    return sum(count for count, _ in each), sum(seconds or 0.0 for _, seconds in each) * 1e6


def _mean_us(statistics: Facts, kind: Kind) -> float:
    """Return the model's mean time of a kind; 0 if it takes no time."""
    latency = statistics[kind]["latency_us"]
    return float(latency["mean"]) if latency else 0.0


def _in_line_us(kind: Kind, statistics: Facts, loops: Sequence[DeviceUsage]) -> float:
    """Return the mean time for which a request of a kind may wait for flushes."""
    if kind == "flush":
        return 0.0
    if kind == "write":
        flushes, time_us = _sum(loops, "flush")
        return 2 * time_us / flushes if flushes else 0.0
    mean_us = _mean_us(statistics, "flush")
    busy_us = statistics["flush"]["requests"] * mean_us
    return mean_us * min(1.0, busy_us / (statistics["seconds"] * 1e6)) if busy_us else 0.0
