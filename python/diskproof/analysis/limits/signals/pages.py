"""Signals about reading pages, and about waiting until pages are written."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.limits.disks import DATA, MICRO, Disk, holding, named
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Instrument, Signal
from diskproof.analysis.limits.signals.judge import against, by_sessions, by_time, full_log, supports
from diskproof.analysis.limits.split import page_writes
from diskproof.analysis.limits.thresholds import (
    FULL_SHARE,
    IDLE_SHARE,
    LITTLE,
    MOST,
    NEAR_STALLS,
    OFTEN,
    SELDOM,
)
from diskproof.wording import say, share, us


def reads_at_disks(seen: Observed) -> Iterator[Signal]:
    """Judge by the kernel how many of the clients' reads are at the disks on average."""
    yield from _reads(seen, seen.disks, "kernel")


def reads_at_models(seen: Observed) -> Iterator[Signal]:
    """Judge by the virtual disks how many of the clients' reads they have on average."""
    yield from _reads(seen, seen.virtual, "virtual disk")


def _reads(seen: Observed, disks: Sequence[Disk], instrument: Instrument) -> Iterator[Signal]:
    data = holding(disks, DATA)
    known = [one.read.present for one in data if one.read.present is not None]
    if not known or len(known) < len(data):
        return
    mean_us = max(one.read.mean_us or 0.0 for one in data)
    says = say("{n:2} {n:read was|reads were} at {disks} on average", n=sum(known), disks=named(data))
    if mean_us:
        says = say("{reads}, {each} each", reads=says, each=us(mean_us))
    yield from by_time("data reads", instrument, sum(known) / seen.inside, says)


def reads_by_threads(seen: Observed) -> Iterator[Signal]:
    """Count how many of the clients' threads read data."""
    reading = seen.threads.serving(["reading"], DATA) if seen.threads else None
    if reading is not None:
        says = say("{n:2} of the clients' threads were reading data on average", n=reading)
        yield from by_time("data reads", "threads", reading / seen.inside, says)


def reads_by_server(seen: Observed) -> Iterator[Signal]:
    """Judge by the server's account: sessions that wait for pages, time in reads, or number and time."""
    if "data reads" in seen.waiting:
        yield from by_sessions(seen, "data reads", "{n:2} of {clients} sessions waited for pages on average")
        return
    timed_s, number, own = seen.account_each.page_read_s, seen.account_each.page_reads, seen.own_us
    if timed_s is not None and own:
        says = say("the server read pages for {time} of {whole}", time=us(timed_s * MICRO), whole=us(own))
        yield from by_time("data reads", "server", timed_s * MICRO / own, says)
        return
    reads = [one.read.mean_us for one in holding(seen.disks, DATA) if one.read.mean_us]
    if number is not None and number < SELDOM:
        yield against("data reads", "server", say("the server read {n:2} pages a transaction", n=number))
    elif number is not None and own and reads:
        each_us = max(reads)
        says = say(
            "the server read {n:2} {n:page|pages} a transaction, {each} each", n=number, each=us(each_us)
        )
        yield from by_time("data reads", "server", min(number * each_us / own, 1.0), says)


def reads_by_clients(seen: Observed) -> Iterator[Signal]:
    """Judge by the clients' clock whether statements that touch data take any time, whatever the reason."""
    own, data = seen.own_us, seen.statements.data_us
    if own and data is not None and seen.statements.commit_us is not None and data / own <= LITTLE:
        says = say("reads and writes take {time} of {whole}", time=us(data), whole=us(own))
        yield against("data reads", "clients", says)


def writes_at_disks(seen: Observed) -> Iterator[Signal]:
    """Judge by the kernel whether a disk of the data is busy writing, not with reads or commits' flushes.

    If no commit waits for a flush on that disk, its flushes are those of pages. The kernel counts them apart
    from its busy time, and both may overlap: at least one of them must take half of the time. If a log lies
    there too, it is flushed behind the clients: those flushes do not count, and the busy time must take half.
    """
    data = [one for one in holding(seen.disks, DATA) if one.busy is not None]
    if not data or not seen.writes_anything:
        return
    disk = max(data, key=lambda one: one.busy or 0.0)
    busy, flushing = disk.busy or 0.0, min(disk.flushing, 1.0)
    without_log = bool(disk.roles) and not set(disk.roles) & set(seen.log_roles)
    of_pages = seen.no_commit_waits or without_log
    most = min(busy + flushing, 1.0) if of_pages else busy
    mostly_writes = (disk.write.present or 0.0) > (disk.read.present or 0.0)
    writing = say("{disk} is busy {busy} of the time, mostly writing", disk=disk.name, busy=share(busy))
    if of_pages and not without_log and most > IDLE_SHARE:
        of_log = _flushes_of_log(seen, disk)
        if of_log is None:
            return
        flushing = max(flushing - of_log, 0.0)
        if min(busy + flushing, 1.0) >= FULL_SHARE and busy >= MOST and mostly_writes:
            says = say("{writing}, and flushes pages {flushing}", writing=writing, flushing=share(flushing))
            yield supports("page writes", "kernel", says)
    elif most <= IDLE_SHARE:
        says = say("{disk} is busy {busy} of the time", disk=disk.name, busy=share(most))
        yield against("page writes", "kernel", says)
    elif most < FULL_SHARE or not mostly_writes:
        return
    elif not of_pages and flushing < MOST:
        yield supports("page writes", "kernel", writing)
    elif of_pages and max(busy, flushing) >= MOST:
        says = say("{writing}, and flushes {flushing}", writing=writing, flushing=share(flushing))
        yield supports("page writes", "kernel", says)


def _flushes_of_log(seen: Observed, disk: Disk) -> float | None:
    """Return the share of time in flushes of the log: as the server counts them, or by threads."""
    counted = seen.account_per_s.log_flushes
    if counted is not None and disk.flush is not None:
        return counted * (disk.flush.mean_us or 0.0) / MICRO
    return seen.threads.at(["flushing"], seen.log_roles).share if seen.threads else None


def writes_by_threads(seen: Observed) -> Iterator[Signal]:
    """Count how long the clients' threads wrote pages; they may leave that to others."""
    part, own = page_writes(seen), seen.own_us
    if part is not None and own and part.mean_us / own >= MOST:
        form = "clients' threads wrote or flushed data for {time} of {whole}"
        yield supports("page writes", "threads", say(form, time=us(part.mean_us), whole=us(own)))


def writes_by_server(seen: Observed) -> Iterator[Signal]:
    """Judge by the server's account of waits for clean pages and for checkpoints."""
    if "page writes" in seen.waiting:
        form = "{n:2} of {clients} sessions waited until pages were written on average"
        yield from by_sessions(seen, "page writes", form)
        return
    each = seen.account_each
    counted = {"a clean page": each.clean_page_waits, "a checkpoint": each.checkpoint_stalls}
    known = {what: count for what, count in counted.items() if count is not None}
    full = full_log(seen)
    if full is not None:
        yield supports("page writes", "server", full)
    elif max(known.values(), default=0.0) >= OFTEN:
        waits = [say("{n:2} waits for {what}", n=count, what=what) for what, count in known.items() if count]
        yield supports("page writes", "server", say("{waits:/ and } a transaction", waits=waits))
    elif known and max(known.values()) < SELDOM and (seen.account.checkpoint_age_max or 0.0) < NEAR_STALLS:
        # A log that came near to its end is left open: MariaDB does not count those waits.
        yield against("page writes", "server", say("nobody waited for {what:/ or }", what=list(known)))
