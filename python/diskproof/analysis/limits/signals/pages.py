"""What speaks for and against reading pages, and against waiting until some are written."""

from collections.abc import Iterator

from diskproof.analysis.evidence import FULL_SHARE, IDLE_SHARE
from diskproof.analysis.limits.disks import MICRO, Disk, holding
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.shapes import Instrument, Signal
from diskproof.analysis.limits.signals.judge import (
    AGE_OF_STALLS,
    LITTLE,
    MOST,
    against,
    by_time,
    full_log,
    names,
    of_clients,
    sessions,
    supports,
)
from diskproof.analysis.limits.split import DATA, SELDOM, digits_of, page_writes
from diskproof.analysis.limits.words import milliseconds, share

OFTEN = 0.05
"""One wait in twenty transactions: each may be long, for many pages are written at a time."""


def reads_at_the_disks(seen: Observed) -> Iterator[Signal]:
    """Ask the kernel how many clients' reads are at the disks in the mean."""
    yield from _reads(seen, seen.disks, "kernel")


def reads_at_the_models(seen: Observed) -> Iterator[Signal]:
    """Ask the virtual disks how many clients' reads are with them in the mean."""
    yield from _reads(seen, seen.virtual, "virtual disk")


def _reads(seen: Observed, disks: list[Disk], instrument: Instrument) -> Iterator[Signal]:
    data = holding(disks, DATA)
    known = [one.read.present for one in data if one.read.present is not None]
    if not known or len(known) < len(data):
        return
    mean = max((one.read.mean_us or 0.0 for one in data), default=0.0)
    each = f", {milliseconds(mean)} each" if mean else ""
    says = f"{digits_of(sum(known))} reads were at {names(data)} in the mean{each}"
    yield from by_time("data reads", instrument, sum(known) / seen.inside, says)


def reads_by_threads(seen: Observed) -> Iterator[Signal]:
    """Ask how many of the clients' threads were found reading data."""
    found = seen.served("reading", DATA)
    if found is not None:
        says = f"{digits_of(found)} of the clients' threads were found reading data in the mean"
        yield from by_time("data reads", "threads", found / seen.inside, says)


def reads_by_the_server(seen: Observed) -> Iterator[Signal]:
    """Ask the server: its sessions that wait for pages, its time in reads, or their number and time."""
    waiting = sessions(seen, "data reads")
    if waiting is not None:
        says = f"{of_clients(seen, waiting)} sessions waited for pages in the mean"
        yield from by_time("data reads", "server", waiting / seen.clients, says)
        return
    timed, own = seen.account_each(lambda account: account.page_read_s), seen.own_us
    if timed is not None and own:
        says = f"the server read pages for {milliseconds(timed * MICRO)} of {milliseconds(own)}"
        yield from by_time("data reads", "server", timed * MICRO / own, says)
        return
    number = seen.account_each(lambda account: account.page_reads)
    if number is not None and number < SELDOM:
        yield against("data reads", "server", f"the server read {number:.2g} pages a transaction")
    elif number is not None and own:
        reads = [one.read.mean_us for one in holding(seen.disks, DATA) if one.read.mean_us]
        if reads:
            each = max(reads)
            says = f"the server read {digits_of(number)} pages a transaction, {milliseconds(each)} each"
            yield from by_time("data reads", "server", min(number * each / own, 1.0), says)


def reads_by_clients(seen: Observed) -> Iterator[Signal]:
    """Ask the clients whether statements that touch data take any time; why they do, they cannot say."""
    own = seen.own_us
    data = seen.time_in(lambda one: one.kind in ("read", "write"))
    if own and data is not None and seen.brackets and data / own <= LITTLE:
        says = f"reads and writes take {milliseconds(data)} of {milliseconds(own)}"
        yield against("data reads", "clients", says)


def writes_at_the_disks(seen: Observed) -> Iterator[Signal]:
    """Ask the kernel whether a disk of the data is busy with writing, and not with reads or commits' flushes.

    Where no commit waits for a flush on that disk, its flushes are those of pages. The kernel counts them
    apart from its busy time, and both may overlap: one of them at least has to take half of the time. Where
    a log lies there as well it is flushed behind the clients: then those flushes are taken off, and it is the
    busy time that has to.
    """
    data = [one for one in holding(seen.disks, DATA) if one.busy is not None]
    if not data or not seen.side.writes_anything:
        return
    disk = max(data, key=lambda one: one.busy or 0.0)
    busy, flushing = disk.busy or 0.0, (disk.flush.serial_share or 0.0) if disk.flush else 0.0
    without_log = bool(disk.roles) and not set(disk.roles) & set(seen.log_roles)
    of_pages = seen.no_commit_waits or without_log
    most = min(busy + flushing, 1.0) if of_pages else busy
    if of_pages and not without_log and most > IDLE_SHARE:
        yield from _beside_a_log(seen, disk, busy, flushing)
    elif most <= IDLE_SHARE:
        yield against("page writes", "kernel", f"{disk.name} is busy {share(most)} of the time")
    elif most < FULL_SHARE or (disk.write.present or 0.0) <= (disk.read.present or 0.0):
        return
    elif not of_pages and flushing < MOST:
        says = f"{disk.name} is busy {share(busy)} of the time, mostly with writes"
        yield supports("page writes", "kernel", says)
    elif of_pages and max(busy, flushing) >= MOST:
        says = f"{disk.name} is busy {share(busy)} of the time, mostly writing, and flushes {share(flushing)}"
        yield supports("page writes", "kernel", says)


def _beside_a_log(seen: Observed, disk: Disk, busy: float, flushing: float) -> Iterator[Signal]:
    """Ask a disk with a log too, for which no commit waits; silent where the log's flushes are not told."""
    of_log = _flushes_of_log(seen, disk)
    if of_log is None:
        return
    flushing = max(flushing - of_log, 0.0)
    full = min(busy + flushing, 1.0) >= FULL_SHARE and busy >= MOST
    if full and (disk.write.present or 0.0) > (disk.read.present or 0.0):
        says = f"{disk.name} is busy {share(busy)} of the time, mostly writing, and flushes pages "
        yield supports("page writes", "kernel", f"{says}{share(flushing)}")


def _flushes_of_log(seen: Observed, disk: Disk) -> float | None:
    """Return the share of time in flushes of the log: as the server counts them, or as threads were found."""
    counted = seen.account_per_s(lambda account: account.log_flushes)
    if counted is not None and disk.flush is not None:
        return counted * (disk.flush.mean_us or 0.0) / MICRO
    found = seen.found("flushing", seen.log_roles)
    return None if found is None else found[0]


def writes_by_threads(seen: Observed) -> Iterator[Signal]:
    """Ask how long the clients' threads were found writing pages; they may leave that to others."""
    part = page_writes(seen)
    if part is not None and seen.own_us and part.mean_us / seen.own_us >= MOST:
        taken = f"{milliseconds(part.mean_us)} of {milliseconds(seen.own_us)}"
        says = f"clients' threads wrote data or flushed it for {taken}"
        yield supports("page writes", "threads", says)


def writes_by_the_server(seen: Observed) -> Iterator[Signal]:
    """Ask the server for waits for clean pages and for checkpoints."""
    waiting = sessions(seen, "page writes")
    if waiting is not None:
        says = f"{of_clients(seen, waiting)} sessions waited until pages were written"
        yield from by_time("page writes", "server", waiting / seen.clients, says)
        return
    clean = seen.account_each(lambda account: account.clean_page_waits)
    stalls = seen.account_each(lambda account: account.checkpoint_stalls)
    counted = {"a clean page": clean, "a checkpoint": stalls}
    known = {what: count for what, count in counted.items() if count is not None}
    full = full_log(seen)
    if full is not None:
        yield supports("page writes", "server", full)
    elif max(known.values(), default=0.0) >= OFTEN:
        said = " and ".join(f"{count:.2g} waits for {what}" for what, count in known.items() if count)
        yield supports("page writes", "server", f"{said} a transaction")
    elif known and max(known.values()) < SELDOM and not _nearly_full(seen):
        yield against("page writes", "server", f"nobody waited for {' or '.join(known)}")


def _nearly_full(seen: Observed) -> bool:
    """Tell whether the log came near to where clients must wait: MariaDB does not count those waits."""
    age = seen.account(lambda account: account.checkpoint_age_max)
    return age is not None and age >= AGE_OF_STALLS
