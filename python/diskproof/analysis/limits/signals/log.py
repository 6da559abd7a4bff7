"""What speaks for and against the flush of the log."""

from collections.abc import Iterator

from diskproof.analysis.limits.disks import Disk, holding
from diskproof.analysis.limits.observed import Observed, begins, commits
from diskproof.analysis.limits.shapes import Signal
from diskproof.analysis.limits.signals.judge import MOST, against, by_busy, by_time, of_clients, sessions
from diskproof.analysis.limits.split import SELDOM
from diskproof.analysis.limits.words import milliseconds, share
from diskproof.results.usage import ServerAccount


def commits_take(seen: Observed) -> Iterator[Signal]:
    """Ask the clients what COMMIT takes, beyond what BEGIN does, which has nothing to do."""
    commit, begin, own = seen.time_in(commits), seen.time_in(begins), seen.own_us
    if not own or not seen.side.writes_anything:
        return
    if commit is not None:
        waits = max(commit - (0.0 if begin is None or seen.queue_us else begin), 0.0)
        says = f"COMMIT takes {milliseconds(commit)} of {milliseconds(own)}"
        yield from by_time("log flush", "clients", waits / own, says)
        return
    # Autocommitted: what a write takes longer than a read is its commit.
    write, read = seen.mean_of(lambda one: one.kind == "write"), seen.mean_of(lambda one: one.kind == "read")
    total = seen.time_in(lambda one: one.kind == "write")
    if write is not None and read is not None and total is not None:
        longer = max(1 - read / write, 0.0)
        says = f"a write that commits itself takes {milliseconds(write)}, a read {milliseconds(read)}"
        yield from by_time("log flush", "clients", longer * total / own, says)


def flushed_by_threads(seen: Observed) -> Iterator[Signal]:
    """Ask at how many moments a thread was found flushing a log."""
    found = seen.found("flushing", seen.log_roles)
    if found is not None:
        says = f"a thread was found flushing the log at {share(found[0])} of moments"
        yield from by_busy(seen, "log flush", "threads", found[0], says)


def flushed_by_disks(seen: Observed) -> Iterator[Signal]:
    """Ask the kernel for how much of the time the log's disk was flushing.

    Of several clients' commits some wait for the log's writing between two flushes, which keeps the disk busy
    as well; a disk without a volatile cache is sent no flushes, and the writing is all.
    """
    for disk in _logs(seen, seen.disks):
        if disk.flush is None or disk.flush.serial_share is None:
            continue
        busy, mean = disk.flush.serial_share, disk.flush.mean_us
        if seen.inside > 1 and busy >= MOST and disk.busy is not None:
            busy = max(busy, disk.busy)
        each = f", {milliseconds(mean)} each" if mean else ""
        says = f"flushes keep {disk.name} busy {share(busy)} of the time{each}"
        yield from by_busy(seen, "log flush", "kernel", busy, says)
        return


def flushed_by_models(seen: Observed) -> Iterator[Signal]:
    """Ask the virtual disk of the log for how much of the time it was flushing."""
    for disk in _logs(seen, seen.virtual):
        if disk.flush is None or disk.flush.serial_share is None:
            continue
        busy, mean = disk.flush.serial_share, disk.flush.mean_us
        each = f", {milliseconds(mean)} each" if mean else ""
        says = f"the virtual disk {disk.name} served flushes {share(busy)} of the time{each}"
        yield from by_busy(seen, "log flush", "virtual disk", busy, says)
        return


def flushed_by_the_server(seen: Observed) -> Iterator[Signal]:
    """Ask the server: its sessions that wait for the log, its time in flushes, or that it flushed none."""
    waiting = sessions(seen, "log flush")
    if waiting is not None:
        says = f"{of_clients(seen, waiting)} sessions waited for the log in the mean"
        yield from by_time("log flush", "server", waiting / seen.clients, says)
        return
    timed = seen.account_per_s(_flush_s)
    if timed is not None:
        says = f"the server flushed its log {share(min(timed, 1.0))} of the time"
        yield from by_busy(seen, "log flush", "server", min(timed, 1.0), says)
        return
    asked = seen.account_each(lambda account: account.log_flushes)
    if asked is not None and asked < SELDOM:
        says = f"the server flushed its log {asked:.2g} times a transaction"
        yield against("log flush", "server", says)


def _flush_s(account: ServerAccount) -> float | None:
    """Return the seconds in flushes of the redo log or WAL, and of the binary log where it tells of that."""
    if account.log_flush_s is None:
        return None
    return account.log_flush_s + (account.binlog_flush_s or 0.0)


def _logs(seen: Observed, disks: list[Disk]) -> list[Disk]:
    """Return the disks of the log, the one that flushes most first."""
    logs = [one for one in holding(disks, seen.log_roles) if one.flush]
    return sorted(logs, key=lambda one: -((one.flush.present or 0.0) if one.flush else 0.0))
