"""What requests to a virtual disk waited in the kernel: the block layer's account beside the model's.

The disk's own lateness begins when its program reads a request. What the request waited before that, for
the loop device's worker or in the queue of FUSE, only the block layer sees: its time of a request runs from
the moment at which the request has a place in the loop device's queue (of 128) until it completes
(block/blk-mq.c: blk_mq_rq_time_init, blk_account_io_done). What waits for such a place has not been
submitted, and is in neither account. All that was submitted is handed on to the model at once, also what is
beyond the disk's own queue depth: the model lets it wait, and both accounts have that.

Requests are the same in both: the block layer merges before its account begins, and a loop device over a
virtual disk sends none that FUSE would split (`loops.set_largest_request`). They are compared by kind, each
with the kernel's count as its weight:

- reads, and flushes as the disk was sent them;
- writes only where flushes take no longer than the way to the disk, or do not come: the kernel counts a
  request that asks for a flush as a write which takes as long as it waits for that, and counts the flush
  besides (block/blk-flush.c).

Reads may wait for a flush: the loop device does one in line with its other requests, as a SATA disk does,
which has no queued flush. A read finds a flush at work with the probability of the flushes' share of the
time, and waits for the rest of it: for the mean length of one at most, if lengths scatter no more than
exponentially. That much is allowed for; and for writes beside such quick flushes, two of them as the kernel
saw them: one that is at work already, and their own.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from diskproof.disk import Control, Facts
from diskproof.results.usage import DeviceUsage, Waiting
from diskproof.system.counters import device_counters, usage_between

LEAST_REQUESTS = 50
"""Fewer of a kind say nothing: those at either end of the phase may be in one account alone."""

QUANTUM_US = 1000.0
"""The kernel tells the sum of times in whole milliseconds, so that a difference is 1 ms too much at most."""

Kind = Literal["read", "write", "flush"]


def compare(statistics: Facts, loops: Sequence[DeviceUsage], path_us: float | None) -> Waiting | None:
    """Return both accounts of one phase: of the disk's statistics, and of the loop devices that lie on it.

    None where nothing can be compared: no loop device, too few requests, a kernel that does not count
    flushes, or a disk that takes no time. A mean that is below `path_us`, what the way itself takes, counts
    as that: no answer can come sooner, and the disk's label says so.
    """
    if not loops or any(loop.read_s is None or loop.flush_s is None for loop in loops):
        return None
    compared: list[Kind] = []
    requests, waited_us, modelled_us, in_line_us = 0, 0.0, 0.0, 0.0
    for kind in _kinds(statistics, loops, path_us or 0.0):
        count, time_us = _sum(loops, kind)
        if kind == "write":  # among which is, of no bytes, every flush that was asked for
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
    return Waiting(
        kinds=compared,
        requests=requests,
        await_us=waited_us / requests,
        modelled_us=modelled_us / requests,
        in_line_us=in_line_us / requests,
    )


@dataclass
class Account:
    """What a disk and the kernel counted in the same stretch of time."""

    statistics: Facts = field(default_factory=dict)
    """The disk's own."""
    waiting: Waiting | None = None


@contextmanager
def watched(control: Control, block_name: str, path_us: float | None) -> Iterator[Account]:
    """Let a disk count from now; in the end the yielded object has both accounts."""
    account = Account()
    control.ask("reset")
    before = device_counters(block_name)
    yield account
    after = device_counters(block_name)
    account.statistics = control.ask("statistics")
    if before and after:
        account.waiting = compare(account.statistics, [usage_between(before, after)], path_us)


def _kinds(statistics: Facts, loops: Sequence[DeviceUsage], path_us: float) -> list[Kind]:
    """Return the kinds of which the kernel's account is one of single requests."""
    flushes, _ = _sum(loops, "flush")
    return ["read", "flush"] if flushes and _mean_us(statistics, "flush") > path_us else ["read", "write"]


def _sum(loops: Sequence[DeviceUsage], kind: Kind) -> tuple[int, float]:
    """Return how many requests of a kind there were, and their time together, in microseconds."""
    match kind:
        case "read":
            each = [(loop.reads, loop.read_s) for loop in loops]
        case "write":
            each = [(loop.writes, loop.write_s) for loop in loops]
        case "flush":
            each = [(loop.flushes or 0, loop.flush_s) for loop in loops]
    return sum(count for count, _ in each), sum(seconds or 0.0 for _, seconds in each) * 1e6


def _mean_us(statistics: Facts, kind: Kind) -> float:
    """Return what requests of a kind take in the mean by the model; 0 where they take no time."""
    latency = statistics[kind]["latency_us"]
    return float(latency["mean"]) if latency else 0.0


def _in_line_us(kind: Kind, statistics: Facts, loops: Sequence[DeviceUsage]) -> float:
    """Return what a request of a kind may wait in the mean for flushes."""
    if kind == "flush":
        return 0.0
    if kind == "write":
        flushes, time_us = _sum(loops, "flush")
        return 2 * time_us / flushes if flushes else 0.0
    mean_us = _mean_us(statistics, "flush")
    busy_us = statistics["flush"]["requests"] * mean_us
    return mean_us * min(1.0, busy_us / (statistics["seconds"] * 1e6)) if busy_us else 0.0
