"""What speaks for and against the flush of the log."""

from collections.abc import Iterator

from diskproof.analysis.evidence import IDLE_SHARE
from diskproof.analysis.limits.disks import Disk, holding
from diskproof.analysis.limits.observed import Observed, begins, commits
from diskproof.analysis.limits.shapes import Instrument, Signal
from diskproof.analysis.limits.signals.judge import (
    LITTLE,
    MOST,
    against,
    by_busy,
    by_time,
    of_clients,
    sessions,
    supports,
)
from diskproof.analysis.limits.split import SELDOM, alone_on, answers_at_once, logs_of_commit
from diskproof.analysis.limits.words import milliseconds, share
from diskproof.results.usage import ServerAccount

AS_LONG = 1.2
"""So many times a write's mean a flush's may be and the write still have waited for one: two clocks that time
other requests, of which some were flushes of pages."""


def commits_take(seen: Observed) -> Iterator[Signal]:
    """Ask the clients what COMMIT takes, beyond what BEGIN does, which has nothing to do."""
    commit, begin, own = seen.time_in(commits), seen.time_in(begins), seen.own_us
    if not own or not seen.side.writes_anything or not seen.covers_tables:
        return
    if commit is not None:
        waits = max(commit - (0.0 if begin is None or seen.queue_us else begin), 0.0)
        says = f"COMMIT takes {milliseconds(commit)} of {milliseconds(own)}"
        yield from by_time("log flush", "clients", waits / own, says)
        return
    if not seen.transactional:
        yield from _writes_of_a_job(seen, own)
        return
    # Autocommitted: what a write takes longer than a read is its commit.
    write, read = seen.mean_of(lambda one: one.kind == "write"), seen.mean_of(lambda one: one.kind == "read")
    total = seen.time_in(lambda one: one.kind == "write")
    if write is not None and read is not None and total is not None:
        longer = max(1 - read / write, 0.0)
        says = f"a write that commits itself takes {milliseconds(write)}, a read {milliseconds(read)}"
        yield from by_time("log flush", "clients", longer * total / own, says)


def _writes_of_a_job(seen: Observed, own_us: float) -> Iterator[Signal]:
    """Ask what a job's writes take beyond computing: its reads are other work than they, and compare to none.

    As if all that was computed were theirs. What makes and drops tables may wait for the log as well. Where
    by the settings no commit waits, writes wait for something else.
    """
    if seen.no_commit_waits:
        return
    writes, reads = (
        seen.time_in(lambda one: one.kind == "write"),
        seen.time_in(lambda one: one.kind == "read"),
    )
    computed = seen.work_us
    if reads is not None and 1 - reads / own_us <= LITTLE:
        says = f"all but reads takes {milliseconds(max(own_us - reads, 0.0))} of {milliseconds(own_us)}"
        yield against("log flush", "clients", says)
    elif writes is not None and computed is not None and (writes - computed) / own_us >= MOST:
        says = f"writes take {milliseconds(writes)} of {milliseconds(own_us)}, of which "
        yield supports("log flush", "clients", f"{says}at most {milliseconds(computed)} are computed")


def write_takes_a_flush(seen: Observed) -> Iterator[Signal]:
    """Ask kernel and virtual disk whether a flush takes as long as a write that commits itself.

    Of several clients a write may wait for the flush under way before its own. It needs no share of any time.
    A write that is shorter than a flush did not wait for one.
    """
    write = seen.mean_of(lambda one: one.kind == "write")
    if not write or seen.transactional or not seen.covers_tables or seen.no_commit_waits:
        return
    waits = logs_of_commit(seen) * (1 if seen.inside == 1 else 2)
    accounts: tuple[tuple[list[Disk], Instrument], ...] = (
        (seen.disks, "kernel"),
        (seen.virtual, "virtual disk"),
    )
    for disks, instrument in accounts:
        known = [one.flush.mean_us for one in _logs(seen, disks) if one.flush and one.flush.mean_us]
        if not known:
            continue
        says = f"a flush takes {milliseconds(known[0])}, a write {milliseconds(write)} in the mean"
        if known[0] > AS_LONG * write:
            yield against("log flush", instrument, says)
        else:
            yield from by_time("log flush", instrument, known[0] * waits / write, says)


def flushed_by_threads(seen: Observed) -> Iterator[Signal]:
    """Ask at how many moments a thread was found flushing a log, or writing it."""
    found, written = seen.at_the_log(), seen.found("writing", seen.log_roles)
    if found is not None and not seen.no_commit_waits:
        writing = written is not None and written[0] >= SELDOM and not seen.embedded
        doing = "writing or flushing" if writing else "flushing"
        says = f"a thread was found {doing} the log at {share(found[0])} of moments"
        yield from by_busy(seen, "log flush", "threads", found[0], says)


def flushed_by_disks(seen: Observed) -> Iterator[Signal]:
    """Ask the kernel for how much of the time the log's disk was flushing."""
    yield from _flushed_by(seen, seen.disks, "kernel")


def flushed_by_models(seen: Observed) -> Iterator[Signal]:
    """Ask the virtual disk of the log for how much of the time it was flushing."""
    yield from _flushed_by(seen, seen.virtual, "virtual disk")


def _flushed_by(seen: Observed, disks: list[Disk], instrument: Instrument) -> Iterator[Signal]:
    for disk in _logs(seen, disks) if not seen.no_commit_waits else []:
        told = _busy_with_log(seen, disk)
        if told is not None:
            what, busy, each_us = told
            each = f", {milliseconds(each_us)} each" if each_us else ""
            name = f"the virtual disk {disk.name}" if instrument == "virtual disk" else disk.name
            says = f"{what} keep {name} busy {share(busy)} of the time{each}"
            yield from by_busy(seen, "log flush", instrument, busy, says)
            return


def _busy_with_log(seen: Observed, disk: Disk) -> tuple[str, float, float | None] | None:
    """Return what keeps a disk busy with the log, for how much of the time, and how long each takes.

    Writes count where nothing but the log lies there, for between two flushes it is written. Of a disk that
    answers flushes at once they are all that there is: where data are written to it too, it takes threads
    that were found at the log to know whose writes they are.
    """
    if disk.flush is None or disk.flush.serial_share is None:
        return None
    busy, each_us = disk.flush.serial_share, disk.flush.mean_us
    alone, written = alone_on(seen, disk), disk.write.serial_share
    if not answers_at_once(disk):
        if alone and disk.busy is not None and disk.busy > busy:
            return "flushes and the writes before them", disk.busy, None
        return "flushes", busy, each_us
    found = seen.at_the_log()
    if not alone and (found is None or found[0] < MOST):
        return None if found is None or found[0] > IDLE_SHARE else ("flushes", busy, each_us)
    return None if written is None else ("writes, which are stable at once,", written, disk.write.mean_us)


def flushed_by_the_server(seen: Observed) -> Iterator[Signal]:
    """Ask the server: its sessions that wait for the log, its time in flushes, or that it flushed none."""
    waiting = sessions(seen, "log flush")
    if waiting is not None:
        says = f"{of_clients(seen, waiting)} sessions waited for the log in the mean"
        yield from by_time("log flush", "server", waiting / seen.clients, says)
        return
    if seen.no_commit_waits:
        yield against("log flush", "server", "by the server's settings no commit waits for a flush")
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
