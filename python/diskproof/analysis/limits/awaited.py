"""For how many flushes and reads of virtual disks a transaction waits: what a delay of each adds up to."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.limits.disks import DATA, MICRO, Disk, holding, mean_read_us
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Awaited, Split
from diskproof.analysis.limits.split import alone_on, flushed_logs
from diskproof.analysis.limits.thresholds import LITTLE
from diskproof.results.record import Role


def awaited_of(seen: Observed, split: Split | None) -> list[Awaited]:
    """Return what a mean transaction waits for; nothing if none completed, or too little was timed."""
    if not seen.per_s or not seen.speaks_of_the_load:
        return []
    return [*_flushes(seen, seen.per_s), *_reads(seen, split, seen.per_s)]


def _flushes(seen: Observed, per_s: float) -> Iterator[Awaited]:
    if seen.bare or not seen.covers_tables or seen.no_commit_waits:
        return
    for disk in holding(seen.virtual, seen.log_roles):
        logs = [role for role in flushed_logs(seen) if role in disk.roles]
        counts = _alone(seen, disk, logs) if seen.inside == 1 else _shared(seen, disk, logs)
        if logs and counts is not None:
            yield Awaited(disk=disk.name, on="flush", least=counts[0] / per_s, most=counts[1] / per_s)


def _alone(seen: Observed, disk: Disk, logs: Sequence[Role]) -> tuple[float, float] | None:
    """Return a single client's flushes a second: as the server counts its logs', and as the disk got them.

    The disk gets more if a file system flushes its journal with a log; those of pages are taken off. If these
    are few, the rest is the client's; if not, the two accounts are the ends. The kernel sends a disk one
    flush at a time, so each of the client's may also wait for one of a page.
    """
    sent = disk.flush.per_s if disk.flush else 0.0
    reported, pages = _log_flushes_per_s(seen, logs), _page_flushes_per_s(seen, disk)
    if pages is None:
        return None if reported is None else (min(reported, sent), max(min(2 * reported, sent), reported))
    own = max(sent - pages, 0.0)
    if pages > LITTLE * sent and reported is None:
        return None
    least, most = (own, own) if pages <= LITTLE * sent or reported is None else sorted((reported, own))
    return least, most + min(most, pages)


def _shared(seen: Observed, disk: Disk, logs: Sequence[Role]) -> tuple[float, float] | None:
    """Return the flushes a second that several clients wait for: of each log their own, and those under way.

    Each may find a flush of every log on the disk that has just begun: the kernel sends a disk one at a time.
    If the number of flushes a group is not reported, it is one for each log, and one more for the file
    system's journal if the log's file grows.
    """
    if seen.commits_per_s is None:
        return None
    sent = disk.flush.per_s if disk.flush else 0.0
    groups = seen.account_per_s.binlog_groups or seen.account_per_s.log_flushes
    pages = _page_flushes_per_s(seen, disk)
    each = float(len(logs) + ("binlog" in logs))
    if groups and pages is not None:
        each = min(max(max(sent - pages, 0.0) / groups, len(logs)), 2.0 * len(logs))
    return seen.commits_per_s * len(logs), (1 + len(logs)) * seen.commits_per_s * each


def _log_flushes_per_s(seen: Observed, logs: Sequence[Role]) -> float | None:
    """Return the flushes of some logs for one client, as the server counts them, or else one a commit."""
    redo, binlog = seen.account_per_s.log_flushes, seen.account_per_s.binlog_groups
    counted = [binlog if role == "binlog" else redo for role in logs]
    known = [seen.commits_per_s if one is None else one for one in counted]
    return None if any(one is None for one in known) else sum(one or 0.0 for one in known)


def _page_flushes_per_s(seen: Observed, disk: Disk) -> float | None:
    """Return a disk's flushes of pages: as the server counts them, or by the threads found at one.

    None if neither says. SQLite's are a client's own.
    """
    if seen.embedded or alone_on(seen, disk):
        return 0.0
    if seen.account_per_s.page_flushes is not None:
        return seen.account_per_s.page_flushes
    if seen.threads is None or disk.flush is None or not disk.flush.mean_us:
        return None
    return seen.threads.at(["flushing"], DATA).threads / disk.flush.mean_us * MICRO


def _reads(seen: Observed, split: Split | None, per_s: float) -> Iterator[Awaited]:
    """Yield the reads of the data's disks: their wait by what one takes, and as many as the server counts.

    Their time is all of one account, the kernel's: a virtual disk's own excludes the path to it.
    """
    disks = holding(seen.virtual, DATA)
    each_us, sent = mean_read_us(holding(seen.disks, DATA)), sum(disk.read.per_s for disk in disks)
    waits_us = split.part("data reads") if split else 0.0
    if not waits_us or not each_us or not sent:
        return
    counts = [waits_us / each_us]
    if seen.account_per_s.page_reads is not None:
        counts.append(min(seen.account_per_s.page_reads, sent) / per_s)
    for disk in disks:
        share = disk.read.per_s / sent
        yield Awaited(disk=disk.name, on="read", least=min(counts) * share, most=max(counts) * share)
