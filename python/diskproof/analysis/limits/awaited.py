"""How often a transaction waits for flushes and reads of virtual disks.

What a delay of each comes to is foretold from that.
"""

from collections.abc import Iterator, Sequence

from diskproof.analysis.limits.disks import MICRO, Disk, holding
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.shapes import Awaited, Split
from diskproof.analysis.limits.signals.judge import LITTLE
from diskproof.analysis.limits.split import DATA, alone_on, flushed_logs, read_mean_us
from diskproof.results.record import Role


def awaited_of(seen: Observed, split: Split | None) -> list[Awaited]:
    """Return what a mean transaction waits for; empty where nothing completed, or too little was timed."""
    if not seen.per_s or not seen.speaks_of_the_load:
        return []
    return [*_flushes(seen), *_reads(seen, split)]


# ---------------------------------------------------------------- flushes


def _flushes(seen: Observed) -> Iterator[Awaited]:
    if seen.bare or not seen.covers_tables or seen.no_commit_waits:
        return
    for disk in holding(seen.virtual, seen.log_roles):
        logs = [role for role in flushed_logs(seen) if role in disk.roles]
        times = _alone(seen, disk, logs) if seen.inside == 1 else _shared(seen, disk, logs)
        if logs and times is not None:
            yield Awaited(disk=disk.name, on="flush", least=times[0], most=times[1])


def _alone(seen: Observed, disk: Disk, logs: Sequence[Role]) -> tuple[float, float] | None:
    """Return the flushes of one client alone: as the server counts its logs', and as the disk was sent.

    The disk's are more where a file system flushes its journal with a log; those of pages are taken off.
    Where these are few, what is left is the client's; where not, the two accounts are the ends. Each of the
    client's flushes may besides have to wait for one of a page that is under way: the kernel sends a disk one
    at a time.
    """
    sent, per_s = disk.flush.per_s if disk.flush else 0.0, seen.per_s or 0.0
    told, pages = _told_per_s(seen, logs), _page_flushes_per_s(seen, disk)
    if pages is None:
        return None if told is None else (min(told, sent) / per_s, max(min(2 * told, sent), told) / per_s)
    own = max(sent - pages, 0.0)
    if pages <= LITTLE * sent:
        return own / per_s, (own + min(own, pages)) / per_s
    if told is None:
        return None
    least, most = sorted((told, own))
    return least / per_s, (most + min(most, pages)) / per_s


def _shared(seen: Observed, disk: Disk, logs: Sequence[Role]) -> tuple[float, float] | None:
    """Return the flushes that one of several clients waits for: of each log its own, and that under way.

    Where nobody tells how often a disk is flushed for commits that share it, it is once for each log, and
    once more for the file system's journal where that is of a file that grows.
    """
    if seen.commits_per_s is None or not seen.per_s:
        return None
    commits, sent = seen.commits_per_s / seen.per_s, disk.flush.per_s if disk.flush else 0.0
    groups = seen.account_per_s(lambda account: account.binlog_groups)
    groups = groups or seen.account_per_s(lambda account: account.log_flushes)
    pages = _page_flushes_per_s(seen, disk)
    each = float(len(logs) + ("binlog" in logs))
    if groups and pages is not None:
        each = min(max(max(sent - pages, 0.0) / groups, len(logs)), 2.0 * len(logs))
    return commits * len(logs), 2 * commits * each


def _told_per_s(seen: Observed, logs: Sequence[Role]) -> float | None:
    """Return the flushes of some logs for one client, as the server counts them, or else one a commit."""
    redo = seen.account_per_s(lambda account: account.log_flushes)
    binlog = seen.account_per_s(lambda account: account.binlog_groups)
    counted = [binlog if role == "binlog" else redo for role in logs]
    known = [seen.commits_per_s if one is None else one for one in counted]
    return None if any(one is None for one in known) else sum(one or 0.0 for one in known)


def _page_flushes_per_s(seen: Observed, disk: Disk) -> float | None:
    """Return a disk's flushes of pages, as the server counts them, or by the threads that were found at one.

    None where neither tells. SQLite's are a client's own.
    """
    if seen.embedded or alone_on(seen, disk):
        return 0.0
    counted = seen.account_per_s(lambda account: account.page_flushes)
    found, each_us = seen.found("flushing", DATA), disk.flush.mean_us if disk.flush else None
    if counted is not None or found is None or not each_us:
        return None if counted is None else max(counted, 0.0)
    return found[1] / each_us * MICRO


# ---------------------------------------------------------------- reads


def _reads(seen: Observed, split: Split | None) -> Iterator[Awaited]:
    """Yield the reads of the data's disks: their wait by what one takes, and as many as the server counts.

    All of its reads' time is of one account, the kernel's: what the virtual disk says of one read is less by
    the way to it.
    """
    part = next((one for one in split.parts if one.name == "data reads"), None) if split else None
    disks = holding(seen.virtual, DATA)
    each_us, sent = read_mean_us(holding(seen.disks, DATA)), sum(disk.read.per_s for disk in disks)
    if part is None or not each_us or not sent or not seen.per_s:
        return
    counts = [part.mean_us / each_us]
    asked = seen.account_per_s(lambda account: account.page_reads)
    if asked is not None:
        counts.append(min(asked, sent) / seen.per_s)
    for disk in disks:
        share = disk.read.per_s / sent
        yield Awaited(disk=disk.name, on="read", least=min(counts) * share, most=max(counts) * share)
