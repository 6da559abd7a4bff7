"""Where the time of a mean transaction goes: its waits, by whoever measured them, and what was computed.

Nothing is counted twice. A COMMIT computes as well as it waits, so one statement's CPU time is taken off;
background threads compute for a transaction while it waits, so that no more CPU time is put into it than its
waits leave room for. What no part explains stays unexplained.
"""

from collections.abc import Iterator

from diskproof.analysis.limits.disks import MICRO, Disk, holding
from diskproof.analysis.limits.observed import Observed, begins, commits
from diskproof.analysis.limits.shapes import Part, PartName, Split
from diskproof.analysis.words import digits
from diskproof.results.record import Role

DATA: tuple[Role, ...] = ("data",)
REDO: tuple[Role, ...] = ("redo",)
BINLOG: tuple[Role, ...] = ("binlog",)

AT_ONCE = 0.1
"""Of a write's time: a flush that takes no more has next to nothing to write, as without a volatile cache."""

STARVED = 1.05
"""By so much the clients' time exceeds the latency of what they completed, before that is told of."""

SELDOM = 0.01
"""Fewer of something than one in a hundred transactions take no time of a mean one."""


def split_of(seen: Observed) -> Split | None:
    """Return where a transaction's time goes; None where there are none, or their latency is not known.

    None, too, of a job of which too much was counted and not timed. Of a load on bare files it is a
    request's time at the disks.
    """
    latency = seen.latency_us
    if latency is None or not seen.per_s or not seen.speaks_of_the_load:
        return None
    parts = list(_of_files(seen) if seen.bare else _waits(seen))
    left = max(latency - sum(part.mean_us for part in parts), 0.0)
    parts += _computing(seen, left)
    return Split(latency_us=latency, parts=[part for part in parts if part.mean_us > 0])


def _waits(seen: Observed) -> Iterator[Part]:
    for found in (log_flush(seen), data_reads(seen), page_writes(seen), locks(seen), load_generator(seen)):
        if found is not None:
            yield found


# ---------------------------------------------------------------- the log


def log_flush(seen: Observed) -> Part | None:
    """Return the wait for the log: what COMMIT takes beyond computing, as far as flushes explain it.

    An autocommitted write is its own COMMIT. At the most it waits for the flush under way and then its own,
    each with the write before it, of each log; a longer COMMIT waited for something else too. Where nobody
    knows how long a flush takes, COMMIT waits for one at as many moments as one was seen. Where by the
    server's settings no commit waits for one, there is none, however busy others keep the log.
    """
    if not seen.covers_tables or seen.no_commit_waits:
        return None
    (service, writing), how = flush_service(seen)
    waited, statement = _commit_wait(seen)
    if service == 0 or waited is None:
        return None
    source = f"{statement} beyond what a statement computes; {how}"
    if service is not None:
        most = (service + writing) * (2 if seen.inside > 1 else 1)
        mean_us = min(waited, max(most, _flush_by_threads(seen) or 0.0))
        return Part(name="log flush", mean_us=mean_us, service_us=min(service, mean_us), source=source)
    found = seen.at_the_log()
    if found is None:
        return None
    return Part(name="log flush", mean_us=waited * found[0], source=source)


def flush_service(seen: Observed) -> tuple[tuple[float | None, float], str]:
    """Return how long the flushes of one commit take, and the writes before them, and who says so.

    On a disk that answers flushes at once the writes are the flush. None: that is not known; 0: there are
    none.
    """
    flushes = flushes_each(seen)
    if flushes is not None and flushes < SELDOM / max(seen.inside, 1):
        return (0.0, 0.0), "no commit flushes anything"
    for disks, account in ((seen.disks, "the kernel's"), (seen.virtual, "the virtual disk's")):
        logs = [one for one in holding(disks, seen.log_roles) if _flush_is_timed(seen, one)]
        if logs:
            written = ", whose writes are the flush" if all(map(answers_at_once, logs)) else ""
            return _by_disks(seen, logs), f"by {account} account of {_named(logs)}{written}"
    return (_by_threads(seen), 0.0), "by the threads that were found at the log"


def answers_at_once(disk: Disk) -> bool:
    """Tell whether a disk has no volatile cache to be flushed: it is sent no flushes, or answers at once."""
    if disk.flush is None or not disk.write.mean_us:
        return False
    return (disk.flush.mean_us or 0.0) <= AT_ONCE * disk.write.mean_us


def _flush_is_timed(seen: Observed, disk: Disk) -> bool:
    """Tell whether it is known how long a flush takes there: one that is sent none may be asked for none."""
    if disk.flush is None:
        return False
    at_log = seen.at_the_log()
    asked = flushes_each(seen) is not None or (at_log is not None and at_log[0] > SELDOM)
    return bool(disk.flush.mean_us) or (asked and answers_at_once(disk))


def _by_threads(seen: Observed) -> float | None:
    """Return the flushes of a commit by the threads: of one client all, of several one of each log."""
    if seen.inside == 1:
        return _flush_by_threads(seen)
    rates = {
        REDO: seen.account_per_s(lambda account: account.log_flushes),
        BINLOG: seen.account_per_s(lambda account: account.binlog_groups),
    }
    found = {roles: seen.at_the_log(roles) for roles in (REDO, BINLOG)}
    times = [
        threads[1] / rate * MICRO if rate else None
        for roles, rate in rates.items()
        if (threads := found[roles]) and threads[1]
    ]
    known = [one for one in times if one is not None]
    return sum(known) if known and len(known) == len(times) else None


def _by_disks(seen: Observed, logs: list[Disk]) -> tuple[float, float]:
    """Return the time of one commit's flushes and writes: of one client all, of several those of a group.

    Where the server does not tell of groups, a commit of several clients flushes each log once, on the
    slowest disk.
    """
    each_us = {disk.name: _flush_us(disk) for disk in logs}
    if seen.inside == 1 and seen.per_s:
        rates = [(disk, _flushes_per_s(seen, disk)) for disk in logs]
        flushes = sum(rate * each_us[disk.name][0] for disk, rate in rates)
        writes = sum(min(disk.write.per_s, rate) * each_us[disk.name][1] for disk, rate in rates)
        return flushes / seen.per_s, writes / seen.per_s
    slowest_us = max(each_us.values())
    of_group = [_flushes_of_group(seen, disk) for disk in logs]
    known = [one for one in of_group if one is not None]
    if len(known) < len(logs):
        times = logs_of_commit(seen) * _commits_each(seen)
        return slowest_us[0] * times, slowest_us[1] * times
    sums = [
        sum(times * each_us[disk.name][kind] for disk, times in zip(logs, known, strict=True))
        for kind in (0, 1)
    ]
    return tuple(  # type: ignore[return-value]
        max(total, one) * _commits_each(seen) for total, one in zip(sums, slowest_us, strict=True)
    )


def _flush_us(disk: Disk) -> tuple[float, float]:
    """Return the time of a flush, and of the write before it.

    That is taken as no longer than the flush, for pages are written meanwhile as well; where a flush is
    answered at once, the write is the flush.
    """
    flush_us = (disk.flush.mean_us if disk.flush else None) or 0.0
    write_us = disk.write.mean_us or 0.0
    return (write_us + flush_us, 0.0) if answers_at_once(disk) else (flush_us, min(write_us, flush_us))


def _flushes_per_s(seen: Observed, disk: Disk) -> float:
    """Return the flushes of a disk; one that answers at once may be sent none of those that are asked for."""
    sent = disk.flush.per_s if disk.flush else 0.0
    if not answers_at_once(disk):
        return sent
    asked = seen.account_per_s(lambda account: account.log_flushes)
    return min(disk.write.per_s, max(sent, seen.commits_per_s or 0.0 if asked is None else asked))


def _flushes_of_group(seen: Observed, disk: Disk) -> float | None:
    """Return how often a disk is flushed for commits that share it; None where the server does not tell.

    No more than twice for each log: a file system may have a journal to flush with it. Flushes of data files
    on the same disk are taken off; where the server does not count those, it is not known.
    """
    groups = seen.account_per_s(lambda account: account.binlog_groups)
    groups = groups or seen.account_per_s(lambda account: account.log_flushes)
    of_pages = seen.account_per_s(lambda account: account.page_flushes)
    if alone_on(seen, disk):
        of_pages = 0.0
    if not groups or of_pages is None:
        return None
    return min(max(_flushes_per_s(seen, disk) - of_pages, 0.0) / groups, 2.0 * logs_of_commit(seen))


def alone_on(seen: Observed, disk: Disk) -> bool:
    """Tell whether nothing but logs lies on a disk, by what is known of it."""
    return bool(disk.roles) and set(disk.roles) <= set(seen.log_roles) - set(DATA)


def flushed_logs(seen: Observed) -> tuple[Role, ...]:
    """Return the logs that are flushed one after the other at a commit: redo, and the binary log with it.

    With `innodb_flush_log_at_trx_commit` relaxed the binary log alone, where that is flushed.
    """
    if seen.family != "mysql":
        return seen.log_roles[:1]
    groups = seen.account_per_s(lambda account: account.binlog_groups)
    found = seen.found("flushing", BINLOG)
    binlog = (groups or 0) > 0 and seen.setting("sync_binlog") == "1"
    if not binlog and (found is None or found[0] <= SELDOM):
        return REDO
    return BINLOG if seen.setting("innodb_flush_log_at_trx_commit") in ("0", "2") else REDO + BINLOG


def logs_of_commit(seen: Observed) -> int:
    """Return how many logs are flushed one after the other at a commit."""
    return max(len(flushed_logs(seen)), 1)


def flushes_each(seen: Observed) -> float | None:
    """Return flushes of a log for a transaction: as the server asked, or else as the disks were sent.

    That a disk was sent none tells nothing of one without a volatile cache: then the threads do.
    """
    asked = seen.account_each(lambda account: account.log_flushes)
    if asked is not None:
        return asked
    disks = holding(seen.disks, seen.log_roles) or holding(seen.virtual, seen.log_roles)
    sent = [one.flush.per_s for one in disks if one.flush]
    if any(sent) and seen.per_s:
        return sum(sent) / seen.per_s
    found = seen.at_the_log()
    return None if found is None or not seen.per_s else (0.0 if found[1] == 0 else None)


def _commit_wait(seen: Observed) -> tuple[float | None, str]:
    commit, begin = seen.time_in(commits), seen.time_in(begins)
    one_statement = (seen.work_us or 0.0) / seen.statements if seen.statements else 0.0
    if commit is not None:
        computed = max(one_statement, 0.0 if begin is None or seen.embedded else begin)
        return max(commit - min(computed, commit), 0.0), "COMMIT"
    writes = seen.time_in(lambda one: one.kind == "write")
    if writes is None:
        return None, ""
    count = (seen.commits_per_s or 0.0) / seen.per_s if seen.per_s else 0.0
    return max(writes - one_statement * count, 0.0), "autocommitted writes"


def _commits_each(seen: Observed) -> float:
    return max((seen.commits_per_s or 0.0) / seen.per_s, 1.0) if seen.per_s else 1.0


def _flush_by_threads(seen: Observed) -> float | None:
    """Return how long a transaction's own thread is at the log: N = X R of the threads found at it."""
    found = seen.at_the_log()
    return None if found is None or not seen.per_s else found[1] / seen.per_s * MICRO


# ---------------------------------------------------------------- pages


def data_reads(seen: Observed) -> Part | None:
    """Return the wait for pages: by the server's clock, its threads, or their number and the disk's time."""
    disks = holding(seen.disks, DATA)
    count = sum(one.read.per_s for one in disks) / seen.per_s if disks and seen.per_s else None
    if count is not None and count < SELDOM:
        return None
    timed = seen.account_each(lambda account: account.page_read_s)
    threads = seen.served("reading", DATA)
    each = read_mean_us(disks)
    asked = seen.account_each(lambda account: account.page_reads)
    if timed is not None:
        mean_us, source = timed * MICRO, "the server's clock of its page reads"
    elif threads is not None and seen.per_s:
        mean_us = threads / seen.per_s * MICRO
        source = f"{digits_of(threads)} of the clients' threads found reading"
    elif asked is not None and count is not None and each is not None:
        number = min(asked, count)
        mean_us, source = number * each, f"{digits_of(number)} page reads of {_ms(each)} each"
    else:
        return None
    return Part(
        name="data reads", mean_us=mean_us, service_us=_read_service(disks, count, mean_us), source=source
    )


def read_mean_us(disks: list[Disk]) -> float | None:
    """Return what a read of some disks takes in the mean; None where nobody counted."""
    known = [(one.read.per_s, one.read.mean_us) for one in disks if one.read.mean_us is not None]
    total = sum(rate for rate, _ in known)
    return sum(rate * mean for rate, mean in known) / total if total else None


def _read_service(disks: list[Disk], count: float | None, mean_us: float) -> float | None:
    """Return the disk's own work for the reads: of one that serves one by one, its time busy with each."""
    each = read_mean_us(disks)
    if count is None or each is None:
        return None
    busy = [one.busy for one in disks if one.one_at_a_time and one.busy is not None]
    requests = sum(one.read.per_s + one.write.per_s for one in disks)
    own = min(each, sum(busy) / requests * MICRO) if len(busy) == len(disks) and requests else each
    return min(count * own, mean_us)


def page_writes(seen: Observed) -> Part | None:
    """Return the time that clients' own threads write pages, or flush the files that hold them."""
    written = seen.served("writing", DATA)
    flushed = seen.served("flushing", DATA) if "data" not in seen.log_roles else None
    if written is None or not seen.per_s:
        return None
    threads = written + (flushed or 0.0)
    if not threads:
        return None
    return Part(
        name="page writes",
        mean_us=threads / seen.per_s * MICRO,
        source=f"{digits_of(threads)} of the clients' threads found writing data or flushing it",
    )


def locks(seen: Observed) -> Part | None:
    """Return the wait for locks: by the server's clock; SQLite's writers wait at BEGIN IMMEDIATE."""
    if seen.queue_us is not None:
        own = (seen.work_us or 0.0) / seen.statements if seen.statements else 0.0
        completed, latency = seen.completed_us, seen.latency_us
        starved = completed is not None and latency is not None and latency > STARVED * completed
        source = (
            "BEGIN IMMEDIATE, and the waits of writers that completed nothing: N = X R" if starved else ""
        )
        return Part(name="locks", mean_us=max(seen.queue_us - own, 0.0), source=source or "BEGIN IMMEDIATE")
    timed = seen.account_each(lambda account: account.lock_wait_s)
    if timed is None:
        return None
    return Part(name="locks", mean_us=timed * MICRO, source="the server's clock of its lock waits")


# ---------------------------------------------------------------- computing


def load_generator(seen: Observed) -> Part | None:
    """Return the load generator's own time: between statements, and until a reply has been read.

    Of a driver that blocks nobody knows when a reply was there to be read: then it is the CPU time that the
    load generator used for a transaction, and None where that is not known either.
    """
    completed = seen.completed_us
    if completed is None:
        return None
    all_statements = seen.time_in(lambda _: True)
    between = max(completed - all_statements, 0.0) if all_statements is not None else 0.0
    if seen.embedded:
        return Part(name="load generator", mean_us=between, source="between two statements")
    if seen.delay_us is not None:
        reading = seen.delay_us * (seen.statements or 0.0)
        source = "between two statements, and reading replies"
        return Part(name="load generator", mean_us=between + reading, source=source)
    used = seen.cpu_us("load")
    if used is None:
        return None
    return Part(
        name="load generator",
        mean_us=max(between, used),
        source="its CPU time, or what lies between two statements where that is more; when replies were "
        "there to be read is not known",
    )


def _computing(seen: Observed, left: float) -> Iterator[Part]:
    work = seen.work_us
    if work is None:
        return
    found = None if seen.bare else seen.found("computing")
    threads = found[1] / seen.per_s * MICRO if found and seen.per_s else None
    # Not by how many threads were found computing: whoever looks needs a CPU too, and sees them less often.
    computed = min(work, left)
    note = f"; {_the_rest(seen)}" if computed < work * 0.9 else ""
    of_whom = "load generator's" if seen.embedded or seen.bare else "server's"
    yield Part(name="CPU", mean_us=computed, source=f"the {of_whom} CPU time of {_ms(work)}{note}")
    waited = _waited(seen, threads, computed)
    if waited is not None:
        waited_us, source = waited
        room = left - computed
        if waited_us > room:
            source += f", {_ms(waited_us)} in all; no more of it fits beside the other parts"
        yield Part(name="waiting for a CPU", mean_us=min(waited_us, room), source=source)


def _the_rest(seen: Observed) -> str:
    """Say where CPU time is that a transaction's other parts leave no room for."""
    if seen.bare:
        return "the rest was used while requests were at the disks"
    if seen.embedded:
        return "the rest was used within the waits, as by flushing and by trying for the lock again"
    return "the rest is that of background threads, or was used within the waits"


def _waited(seen: Observed, threads_us: float | None, computed_us: float) -> tuple[float, str] | None:
    """Return the wait of server and load for a CPU: the kernel's account, or threads found ready to run."""
    own = None if seen.embedded or seen.bare else seen.waited_us("server")
    load = seen.waited_us("load")
    if own is None and threads_us is not None and not seen.embedded:
        own = max(threads_us - computed_us, 0.0)
    known = [one for one in (own, load) if one is not None]
    if not known:
        return None
    return sum(known), "the kernel's account of threads that are ready to run"


def _of_files(seen: Observed) -> Iterator[Part]:
    """Return the time of a request on bare files at the disks: each kind by its number and mean time."""
    kinds: tuple[tuple[PartName, float], ...] = (
        ("data reads", sum((one.read.present or 0.0) for one in seen.disks)),
        ("page writes", sum((one.write.present or 0.0) for one in seen.disks)),
    )
    for name, present in kinds if seen.per_s else ():
        # No more than all clients can wait at a time: nobody need wait for what was written behind.
        yield Part(
            name=name,
            mean_us=min(present, seen.clients) / (seen.per_s or 1.0) * MICRO,
            source=f"{digits_of(present)} requests at the disks in the mean",
        )


def _named(disks: list[Disk]) -> str:
    return " and ".join(one.name for one in disks)


def _ms(microseconds: float) -> str:
    return f"{digits_of(microseconds / 1000)} ms"


def digits_of(value: float) -> str:
    """Return two significant digits, also of 0."""
    return digits(value, 2) if value > 0 else "0"
