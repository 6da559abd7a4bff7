"""The time of a mean transaction in parts: its waits, by the instruments that measured them, and computing.

Nothing is counted twice. COMMIT computes as well as it waits, so one statement's CPU time is taken off.
Background threads compute for a transaction while it waits, so it gets no more CPU time than its waits leave
room for. The rest stays unexplained.
"""

from collections.abc import Iterator, Sequence

from diskproof.analysis.limits.disks import BINLOG, DATA, MICRO, REDO, Disk, holding, mean_read_us, named
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Part, PartName, Split
from diskproof.analysis.limits.thresholds import SELDOM, STARVED
from diskproof.results.record import Role
from diskproof.wording import Message, say, us


def split_of(seen: Observed) -> Split | None:
    """Return where a transaction's time goes; None if there are none, or their latency is not known.

    None also for a job that timed too little of what was counted. On bare files it is a request's time at the
    disks.
    """
    latency = seen.latency_us
    if latency is None or not seen.per_s or not seen.speaks_of_the_load:
        return None
    waits = (
        *(log_flush(seen), data_reads(seen), page_writes(seen), locks(seen)),
        *(load_generator(seen), network(seen)),
    )
    parts = list(_of_files(seen, seen.per_s)) if seen.bare else [one for one in waits if one is not None]
    left = max(latency - sum(part.mean_us for part in parts), 0.0)
    parts += _computing(seen, left)
    return Split(latency_us=latency, parts=[part for part in parts if part.mean_us > 0])


# ---------------------------------------------------------------- the log


def log_flush(seen: Observed) -> Part | None:
    """Return the wait for the log: what COMMIT takes beyond computing, as far as flushes explain it.

    An autocommitted write is its own COMMIT. At most it waits for the flush under way and then its own, each
    with the write before it, of each log. A longer COMMIT also waited for something else. If the time of a
    flush is not known, COMMIT waits for one at as many moments as one was seen. If by the server's settings
    no commit waits for one, there is no such part.
    """
    if not seen.covers_tables or seen.no_commit_waits:
        return None
    service, writing, how = _flush_service(seen)
    waited, statement = _commit_wait(seen)
    if service == 0 or waited is None:
        return None
    source = say("{statement} without what a statement computes; {how}", statement=statement, how=how)
    if service is not None:
        most = (service + writing) * (2 if seen.inside > 1 else 1)
        mean_us = min(waited, max(most, _flush_by_threads(seen) or 0.0))
        return Part(name="log flush", mean_us=mean_us, service_us=min(service, mean_us), source=source)
    if seen.threads is None:
        return None
    return Part(name="log flush", mean_us=waited * seen.threads.at_log.share, source=source)


def _flush_service(seen: Observed) -> tuple[float | None, float, Message]:
    """Return the time of one commit's flushes, and of the writes before them, and who reports it.

    On a disk that answers flushes at once, the writes are the flush. None: not known; 0: there are none.
    """
    flushes = _flushes_each(seen)
    if flushes is not None and flushes < SELDOM / max(seen.inside, 1):
        return 0.0, 0.0, say("no commit flushes anything")
    for disks, account in ((seen.disks, "the kernel's"), (seen.virtual, "the virtual disk's")):
        logs = [one for one in holding(disks, seen.log_roles) if _flush_is_timed(seen, one)]
        if not logs:
            continue
        form = "by {account} account of {disks}"
        if all(one.answers_at_once for one in logs):
            form += "; writes are the flush there"
        return *_by_disks(seen, logs), say(form, account=account, disks=named(logs))
    return _by_threads(seen), 0.0, say("by the threads found at the log")


def _flush_is_timed(seen: Observed, disk: Disk) -> bool:
    """Return whether it is known how long a flush takes there: some disks get none that are asked for."""
    if disk.flush is None:
        return False
    asked = _flushes_each(seen) is not None or (
        seen.threads is not None and seen.threads.at_log.share > SELDOM
    )
    return bool(disk.flush.mean_us) or (asked and disk.answers_at_once)


def _by_threads(seen: Observed) -> float | None:
    """Return the flushes of a commit by the threads: of one client all, of several one of each log."""
    if seen.inside == 1 or seen.threads is None:
        return _flush_by_threads(seen)
    counted = seen.account_per_s
    redo, binlog = seen.threads.logging(REDO), seen.threads.logging(BINLOG)
    logs = ((counted.log_flushes, redo), (counted.binlog_groups, binlog))
    times = [found.threads / rate * MICRO if rate else None for rate, found in logs if found.threads]
    known = [one for one in times if one is not None]
    return sum(known) if known and len(known) == len(times) else None


def _by_disks(seen: Observed, logs: Sequence[Disk]) -> tuple[float, float]:
    """Return the time of one commit's flushes and writes: of one client all, of several those of a group.

    If the server does not report groups, a commit of several clients flushes each log once, on the slowest
    disk.
    """
    times = [_flush_us(disk) for disk in logs]
    if seen.inside == 1 and seen.per_s:
        rates = [_flushes_per_s(seen, disk) for disk in logs]
        flushes = sum(rate * time[0] for rate, time in zip(rates, times, strict=True))
        writes = sum(
            min(disk.write.per_s, rate) * time[1] for disk, rate, time in zip(logs, rates, times, strict=True)
        )
        return flushes / seen.per_s, writes / seen.per_s
    slowest = max(times)
    of_group = [flushes_of_group(seen, disk) for disk in logs]
    known = [one for one in of_group if one is not None]
    if len(known) < len(logs):
        count = logs_of_commit(seen) * _commits_each(seen)
        return slowest[0] * count, slowest[1] * count
    flush, write = (
        max(sum(count * time[kind] for count, time in zip(known, times, strict=True)), slowest[kind])
        * _commits_each(seen)
        for kind in (0, 1)
    )
    return flush, write


def _flush_us(disk: Disk) -> tuple[float, float]:
    """Return the time of a flush, and of the write before it.

    The write counts as no longer than the flush, since pages are written meanwhile too. On a disk that
    answers flushes at once, the write is the flush.
    """
    flush_us = (disk.flush.mean_us if disk.flush else None) or 0.0
    write_us = disk.write.mean_us or 0.0
    return (write_us + flush_us, 0.0) if disk.answers_at_once else (flush_us, min(write_us, flush_us))


def _flushes_per_s(seen: Observed, disk: Disk) -> float:
    """Return the flushes of a disk; one that answers at once may get none of those that are asked for."""
    sent = disk.flush.per_s if disk.flush else 0.0
    if not disk.answers_at_once:
        return sent
    asked = seen.account_per_s.log_flushes
    return min(disk.write.per_s, max(sent, seen.commits_per_s or 0.0 if asked is None else asked))


def flushes_of_group(seen: Observed, disk: Disk) -> float | None:
    """Return how often a disk is flushed for commits that share it; None if the server does not report that.

    At most twice for each log, since a file system may flush its own journal with it. Flushes of data files
    on the same disk are taken off; if the server does not count those, the number is not known.
    """
    groups = seen.account_per_s.binlog_groups or seen.account_per_s.log_flushes
    of_pages = 0.0 if alone_on(seen, disk) else seen.account_per_s.page_flushes
    if not groups or of_pages is None:
        return None
    return min(max(_flushes_per_s(seen, disk) - of_pages, 0.0) / groups, 2.0 * logs_of_commit(seen))


def alone_on(seen: Observed, disk: Disk) -> bool:
    """Return whether a disk is known to hold logs alone."""
    return bool(disk.roles) and set(disk.roles) <= set(seen.log_roles) - set(DATA)


def flushed_logs(seen: Observed) -> tuple[Role, ...]:
    """Return the logs that a commit flushes one after the other: redo, and the binary log with it.

    With `innodb_flush_log_at_trx_commit` relaxed it is the binary log alone, if that is flushed.
    """
    if "binlog" not in seen.log_roles:
        return seen.log_roles[:1]
    groups = seen.account_per_s.binlog_groups or 0
    counted = groups > 0 and seen.settings.get("sync_binlog") == "1"
    if not counted and (seen.threads is None or seen.threads.at(["flushing"], BINLOG).share <= SELDOM):
        return REDO
    relaxed = seen.settings.get("innodb_flush_log_at_trx_commit") in ("0", "2")
    return BINLOG if relaxed else REDO + BINLOG


def logs_of_commit(seen: Observed) -> int:
    """Return how many logs a commit flushes one after the other."""
    return max(len(flushed_logs(seen)), 1)


def _flushes_each(seen: Observed) -> float | None:
    """Return flushes of a log for a transaction: as the server asked, or else as the disks got them.

    A disk without a volatile cache gets none although they are asked for: then the threads decide.
    """
    if seen.account_each.log_flushes is not None:
        return seen.account_each.log_flushes
    disks = holding(seen.disks, seen.log_roles) or holding(seen.virtual, seen.log_roles)
    sent = [one.flush.per_s for one in disks if one.flush]
    if any(sent) and seen.per_s:
        return sum(sent) / seen.per_s
    nobody = seen.threads is not None and seen.threads.at_log.threads == 0
    return 0.0 if nobody and seen.per_s else None


def _commit_wait(seen: Observed) -> tuple[float | None, str]:
    """Return what a transaction's commits take beyond what a statement computes, and what commits it."""
    times = seen.statements
    one_statement = (seen.cpu.work_us or 0.0) / seen.statement_count if seen.statement_count else 0.0
    one_statement += seen.loaders.round_trip_us if seen.loaders else 0.0
    if times.commit_us is not None:
        computed = max(one_statement, 0.0 if seen.embedded else times.begin_us or 0.0)
        return max(times.commit_us - computed, 0.0), "COMMIT"
    if times.write_us is None:
        return None, ""
    count = (seen.commits_per_s or 0.0) / seen.per_s if seen.per_s else 0.0
    return max(times.write_us - one_statement * count, 0.0), "autocommitted writes"


def _commits_each(seen: Observed) -> float:
    return max((seen.commits_per_s or 0.0) / seen.per_s, 1.0) if seen.per_s else 1.0


def _flush_by_threads(seen: Observed) -> float | None:
    """Return how long a transaction's own thread is at the log: N = X R of the threads found at it."""
    if seen.threads is None or not seen.per_s:
        return None
    return seen.threads.at_log.threads / seen.per_s * MICRO


# ---------------------------------------------------------------- pages


def data_reads(seen: Observed) -> Part | None:
    """Return the wait for pages: by the server's clock, its threads, or their number and the disk's time."""
    disks = holding(seen.disks, DATA)
    count = sum(one.read.per_s for one in disks) / seen.per_s if disks and seen.per_s else None
    if count is not None and count < SELDOM:
        return None
    timed_s, asked = seen.account_each.page_read_s, seen.account_each.page_reads
    threads = seen.threads.serving(["reading"], DATA) if seen.threads else None
    one_us = mean_read_us(disks)
    if timed_s is not None:
        mean_us, source = timed_s * MICRO, say("the server's clock of its page reads")
    elif threads is not None and seen.per_s:
        mean_us = threads / seen.per_s * MICRO
        source = say("{n:2} of the clients' threads found reading", n=threads)
    elif asked is not None and count is not None and one_us is not None:
        mean_us = min(asked, count) * one_us
        source = say("{n:2} page reads of {time} each", n=min(asked, count), time=us(one_us))
    else:
        return None
    service_us = _read_service(disks, count, mean_us)
    return Part(name="data reads", mean_us=mean_us, service_us=service_us, source=source)


def _read_service(disks: Sequence[Disk], count: float | None, mean_us: float) -> float | None:
    """Return the disk's own work for the reads: its busy time for each, if it serves them one by one."""
    one_us = mean_read_us(disks)
    if count is None or one_us is None:
        return None
    busy = [one.busy for one in disks if one.one_at_a_time and one.busy is not None]
    requests = sum(one.read.per_s + one.write.per_s for one in disks)
    own_us = min(one_us, sum(busy) / requests * MICRO) if len(busy) == len(disks) and requests else one_us
    return min(count * own_us, mean_us)


def page_writes(seen: Observed) -> Part | None:
    """Return the time in which clients' own threads write pages, or flush the files that hold them."""
    threads = seen.threads.serving(["writing"], DATA) if seen.threads else None
    if seen.threads is None or threads is None or not seen.per_s:
        return None
    threads += 0.0 if "data" in seen.log_roles else seen.threads.serving(["flushing"], DATA) or 0.0
    if not threads:
        return None
    source = say("{n:2} of the clients' threads found writing or flushing data", n=threads)
    return Part(name="page writes", mean_us=threads / seen.per_s * MICRO, source=source)


def locks(seen: Observed) -> Part | None:
    """Return the wait for locks: by the server's clock; SQLite's writers wait at BEGIN IMMEDIATE."""
    if seen.queue_us is not None:
        own_us = (seen.cpu.work_us or 0.0) / seen.statement_count if seen.statement_count else 0.0
        completed, latency = seen.completed_us, seen.latency_us
        source = say("BEGIN IMMEDIATE")
        if completed is not None and latency is not None and latency > STARVED * completed:
            source = say("BEGIN IMMEDIATE, and the waits of writers that completed nothing: N = X R")
        return Part(name="locks", mean_us=max(seen.queue_us - own_us, 0.0), source=source)
    timed_s = seen.account_each.lock_wait_s
    if timed_s is None:
        return None
    return Part(name="locks", mean_us=timed_s * MICRO, source=say("the server's clock of its lock waits"))


# ---------------------------------------------------------------- computing


def load_generator(seen: Observed) -> Part | None:
    """Return the load generator's own time: between statements, and until a reply has been read.

    With a driver that blocks, it is not known when a reply was there to be read. Then it is the CPU time that
    the load generator used for a transaction, and None if that is not known either.
    """
    if seen.completed_us is None:
        return None
    in_statements = seen.statements.all_us
    mean_us = max(seen.completed_us - in_statements, 0.0) if in_statements is not None else 0.0
    used_us = seen.cpu.used_us.get("load")
    if seen.embedded:
        source = say("between two statements")
    elif seen.delay_us is not None:
        mean_us += seen.delay_us * (seen.statement_count or 0.0)
        source = say("between two statements, and reading replies")
    elif used_us is not None:
        mean_us = max(mean_us, used_us)
        source = say(
            "its CPU time, or the time between two statements if that is longer; when replies arrived is not "
            "known"
        )
    else:
        return None
    return Part(name="load generator", mean_us=mean_us, source=source)


def network(seen: Observed) -> Part | None:
    """Return the time of a transaction's round trips, one for each statement, as measured without a load."""
    if seen.loaders is None or not seen.statement_count:
        return None
    n, trip_us = seen.statement_count, seen.loaders.round_trip_us
    source = say("{n:2} statements, each a round trip of {time} before the load", n=n, time=us(trip_us))
    return Part(name="network", mean_us=n * trip_us, source=source)


def _computing(seen: Observed, left_us: float) -> Iterator[Part]:
    work_us = seen.cpu.work_us
    if work_us is None:
        return
    # Not by the number of threads found computing: the sampler needs a CPU too, and sees them less often.
    computed_us = min(work_us, left_us)
    source = say(
        "the {who} CPU time of {time}",
        who="load generator's" if seen.embedded or seen.bare else "server's",
        time=us(work_us),
    )
    if computed_us < work_us * 0.9:
        source = say("{source}; {rest}", source=source, rest=_where_the_rest_is(seen))
    yield Part(name="CPU", mean_us=computed_us, source=source)
    waited_us = _waited_for_cpu(seen, computed_us)
    if waited_us is None:
        return
    source = say("the kernel's account of threads that are ready to run")
    if waited_us > left_us - computed_us:
        form = "{source}, {time} in all; no more of it fits beside the other parts"
        source = say(form, source=source, time=us(waited_us))
    yield Part(name="waiting for a CPU", mean_us=min(waited_us, left_us - computed_us), source=source)


def _where_the_rest_is(seen: Observed) -> str:
    """Return where CPU time was used for which a transaction's other parts leave no room."""
    if seen.bare:
        return "the rest was used while requests were at the disks"
    if seen.embedded:
        return "the rest was used within the waits, for flushing or for trying the lock again"
    return "the rest is that of background threads, or was used within the waits"


def _waited_for_cpu(seen: Observed, computed_us: float) -> float | None:
    """Return the wait of server and load for a CPU: the kernel's account, or threads found ready to run."""
    known = [seen.cpu.waited_us["load"]] if "load" in seen.cpu.waited_us else []
    if not seen.embedded and not seen.bare:
        if "server" in seen.cpu.waited_us:
            known.append(seen.cpu.waited_us["server"])
        elif seen.threads is not None and seen.per_s:
            known.append(max(seen.threads.at(["computing"]).threads / seen.per_s * MICRO - computed_us, 0.0))
    return sum(known) if known else None


def _of_files(seen: Observed, per_s: float) -> Iterator[Part]:
    """Return the time of a request on bare files at the disks, by kind of request."""
    kinds: tuple[tuple[PartName, float], ...] = (
        ("data reads", sum((one.read.present or 0.0) for one in seen.disks)),
        ("page writes", sum((one.write.present or 0.0) for one in seen.disks)),
    )
    for name, present in kinds:
        # At most all clients can wait at a time: pages that are written behind make no client wait.
        mean_us = min(present, seen.clients) / per_s * MICRO
        yield Part(
            name=name, mean_us=mean_us, source=say("{n:2} requests at the disks on average", n=present)
        )
