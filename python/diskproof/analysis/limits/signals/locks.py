"""What speaks for and against locks."""

from collections.abc import Iterator

from diskproof.analysis.evidence import IDLE_SHARE
from diskproof.analysis.limits.disks import MICRO
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.shapes import Signal
from diskproof.analysis.limits.signals.judge import (
    LITTLE,
    MOST,
    against,
    by_time,
    of_clients,
    sessions,
    supports,
)
from diskproof.analysis.limits.split import digits_of
from diskproof.analysis.limits.words import milliseconds

FAR_LONGER = 5.0
"""A write that waits for nobody takes a few times as long as a read; this is no matter of more work."""


def locks_by_the_server(seen: Observed) -> Iterator[Signal]:
    """Ask the server for its sessions that wait for locks, or its time in lock waits."""
    waiting = sessions(seen, "locks")
    if waiting is not None:
        says = f"{of_clients(seen, waiting)} sessions waited for a lock in the mean"
        yield from by_time("locks", "server", waiting / seen.clients, says)
        return
    timed, own = seen.account_each(lambda account: account.lock_wait_s), seen.latency_us
    if timed is not None and own and not seen.embedded:
        says = f"the server counted {milliseconds(timed * MICRO)} of lock waits of {milliseconds(own)}"
        yield from by_time("locks", "server", min(timed * MICRO / own, 1.0), says)


def locks_by_clients(seen: Observed) -> Iterator[Signal]:
    """Ask the clients whether writes take far longer than reads: both have the same pages to find."""
    write, read = seen.mean_of(lambda one: one.kind == "write"), seen.mean_of(lambda one: one.kind == "read")
    total, own = seen.time_in(lambda one: one.kind == "write"), seen.own_us
    if not seen.brackets or seen.embedded or total is None or not own or write is None:
        return
    says = f"writes before COMMIT take {milliseconds(total)} of {milliseconds(own)}"
    if total / own <= LITTLE:
        yield against("locks", "clients", says)
    elif total / own >= MOST and (read is None or write >= FAR_LONGER * read):
        yield supports("locks", "clients", says)


def locks_by_threads(seen: Observed) -> Iterator[Signal]:
    """Ask how many threads slept while no log was flushed: those who share a flush sleep as well."""
    found, flushing = seen.found("waiting"), seen.at_the_log()
    if found is None or flushing is None or seen.embedded:
        return
    says = f"{digits_of(found[1])} threads were found asleep for one another in the mean"
    if found[1] / seen.inside <= LITTLE:
        yield against("locks", "threads", says)
    elif found[1] / seen.inside >= MOST and flushing[0] <= IDLE_SHARE:
        yield supports("locks", "threads", says)
