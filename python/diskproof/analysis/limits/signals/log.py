"""Signals about the flush of the log."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.limits.disks import Disk, holding
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Instrument, Signal
from diskproof.analysis.limits.signals.judge import against, by_busy, by_sessions, by_time, supports
from diskproof.analysis.limits.split import alone_on, logs_of_commit
from diskproof.analysis.limits.thresholds import AS_LONG, IDLE_SHARE, LITTLE, MOST, SELDOM
from diskproof.wording import Message, say, share, us


def commits_take(seen: Observed) -> Iterator[Signal]:
    """Judge by the clients' clock what COMMIT takes beyond BEGIN, which has nothing to do."""
    times, own = seen.statements, seen.own_us
    if not own or not seen.writes_anything or not seen.covers_tables:
        return
    if times.commit_us is not None:
        waits = max(times.commit_us - (0.0 if seen.queue_us else times.begin_us or 0.0), 0.0)
        says = say("COMMIT takes {time} of {whole}", time=us(times.commit_us), whole=us(own))
        yield from by_time("log flush", "clients", waits / own, says)
    elif not seen.transactional:
        yield from _writes_of_a_job(seen, own)
    elif times.one_write_us is not None and times.one_read_us is not None and times.write_us is not None:
        # Autocommitted: what a write takes longer than a read is its commit.
        longer = max(1 - times.one_read_us / times.one_write_us, 0.0)
        says = say(
            "a write that commits itself takes {write}, a read {read}",
            write=us(times.one_write_us),
            read=us(times.one_read_us),
        )
        yield from by_time("log flush", "clients", longer * times.write_us / own, says)


def _writes_of_a_job(seen: Observed, own_us: float) -> Iterator[Signal]:
    """Judge what a job's writes take beyond computing; its reads are other work, so they compare to nothing.

    All computing counts as theirs. Statements that make and drop tables may wait for the log too. If by the
    settings no commit waits, writes wait for something else.
    """
    writes, reads, computed = seen.statements.write_us, seen.statements.read_us, seen.cpu.work_us
    if seen.no_commit_waits:
        return
    if reads is not None and 1 - reads / own_us <= LITTLE:
        rest = us(max(own_us - reads, 0.0))
        says = say("all but reads takes {time} of {whole}", time=rest, whole=us(own_us))
        yield against("log flush", "clients", says)
    elif writes is not None and computed is not None and (writes - computed) / own_us >= MOST:
        says = say(
            "writes take {time} of {whole}, of which at most {computed} is computing",
            time=us(writes),
            whole=us(own_us),
            computed=us(computed),
        )
        yield supports("log flush", "clients", says)


def write_takes_a_flush(seen: Observed) -> Iterator[Signal]:
    """Judge by kernel and virtual disk whether a flush takes as long as a write that commits itself.

    A write of several clients may wait for the flush under way before its own. A write that is shorter than a
    flush did not wait for one. This needs no share of any time.
    """
    write = seen.statements.one_write_us
    if not write or seen.transactional or not seen.covers_tables or seen.no_commit_waits:
        return
    waits = logs_of_commit(seen) * (1 if seen.inside == 1 else 2)
    for disks, instrument in _accounts(seen):
        known = [one.flush.mean_us for one in _logs(seen, disks) if one.flush and one.flush.mean_us]
        if not known:
            continue
        says = say("a flush takes {flush}, a write {write} on average", flush=us(known[0]), write=us(write))
        if known[0] > AS_LONG * write:
            yield against("log flush", instrument, says)
        else:
            yield from by_time("log flush", instrument, known[0] * waits / write, says)


def flushed_by_threads(seen: Observed) -> Iterator[Signal]:
    """Judge at how many moments a thread flushed a log, or wrote it."""
    if seen.threads is None or seen.no_commit_waits:
        return
    writing = seen.threads.at(["writing"], seen.log_roles).share >= SELDOM and not seen.embedded
    doing = "writing or flushing" if writing else "flushing"
    busy = seen.threads.at_log.share
    says = say("a thread was {doing} the log at {busy} of moments", doing=doing, busy=share(busy))
    yield from by_busy(seen, "log flush", "threads", busy, says)


def flushed_by_disks(seen: Observed) -> Iterator[Signal]:
    """Judge by kernel and virtual disk for how much of the time the log's disk was flushing."""
    if seen.no_commit_waits:
        return
    for disks, instrument in _accounts(seen):
        for disk in _logs(seen, disks):
            busy = _busy_with_log(seen, disk, instrument)
            if busy is not None:
                yield from by_busy(seen, "log flush", instrument, *busy)
                break


def _busy_with_log(seen: Observed, disk: Disk, instrument: Instrument) -> tuple[float, Message] | None:
    """Return for how much of the time the log keeps a disk busy, and what does.

    Writes count if nothing but the log lies there, since it is written between two flushes. A disk that
    answers flushes at once has only writes: if data are written to it too, it takes threads found at the log
    to know whose writes they are.
    """
    if disk.flush is None or disk.flush.serial_share is None:
        return None
    name = f"the virtual disk {disk.name}" if instrument == "virtual disk" else disk.name
    flushing, written = disk.flush.serial_share, disk.write.serial_share
    alone, found = alone_on(seen, disk), seen.threads.at_log.share if seen.threads else None
    if not disk.answers_at_once:
        if alone and disk.busy is not None and disk.busy > flushing:
            return _keep("flushes and the writes before them", name, disk.busy, None)
        return _keep("flushes", name, flushing, disk.flush.mean_us)
    if not alone and (found is None or found < MOST):
        idle = found is not None and found <= IDLE_SHARE
        return _keep("flushes", name, flushing, disk.flush.mean_us) if idle else None
    if written is None:
        return None
    return _keep("writes, which are stable at once,", name, written, disk.write.mean_us)


def _keep(what: str, disk: str, busy: float, each_us: float | None) -> tuple[float, Message]:
    says = say("{what} keep {disk} busy {busy} of the time", what=what, disk=disk, busy=share(busy))
    return busy, say("{busy}, {each} each", busy=says, each=us(each_us)) if each_us else says


def flushed_by_server(seen: Observed) -> Iterator[Signal]:
    """Judge by the server's account: sessions that wait for the log, time in flushes, or their number."""
    each, busy = seen.account_each.log_flushes, seen.account_per_s.log_flush_s
    if "log flush" in seen.waiting:
        form = "{n:2} of {clients} sessions waited for the log on average"
        yield from by_sessions(seen, "log flush", form)
    elif seen.no_commit_waits:
        says = say("by the server's settings no commit waits for a flush")
        yield against("log flush", "server", says)
    elif busy is not None:
        says = say("the server flushed its log {busy} of the time", busy=share(min(busy, 1.0)))
        yield from by_busy(seen, "log flush", "server", min(busy, 1.0), says)
    elif each is not None and each < SELDOM:
        yield against(
            "log flush", "server", say("the server flushed its log {n:2} times a transaction", n=each)
        )


def _accounts(seen: Observed) -> tuple[tuple[Sequence[Disk], Instrument], ...]:
    return (seen.disks, "kernel"), (seen.virtual, "virtual disk")


def _logs(seen: Observed, disks: Sequence[Disk]) -> list[Disk]:
    """Return the disks of the log, the one that flushes most first."""
    logs = [one for one in holding(disks, seen.log_roles) if one.flush]
    return sorted(logs, key=lambda one: -one.flushing)
