"""The known shapes of trouble: each a function that finds one in what a cell observed, with its remedy."""

from collections.abc import Callable, Iterator

from diskproof.analysis.evidence import FULL_SHARE
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.demands import parties_of_cpu
from diskproof.analysis.limits.disks import MICRO, holding
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.shapes import Trouble
from diskproof.analysis.limits.signals.judge import AGE_OF_STALLS, LITTLE
from diskproof.analysis.limits.split import BINLOG, DATA, REDO, SELDOM, digits_of, logs_of_commit
from diskproof.analysis.limits.words import milliseconds, share
from diskproof.results.limit import Limit
from diskproof.results.record import format_bytes

GROWING = 0.5
"""Half of what is committed stays unpurged: the history grows without end."""

CROWD = 4
"""Clients from which on several commits should find themselves before one flush."""

ALONE = 0.8
"""Log flushes a commit from which on hardly any share one."""

FEW_ROWS = 100
"""Rows for each client below which writers often want the same one."""

Seek = Callable[[Gathered, Observed, Limit | None], Iterator[Trouble]]


def troubles_of(gathered: Gathered, seen: Observed, limit: Limit | None) -> list[Trouble]:
    """Return the shapes of trouble that a cell shows; empty of a sound one."""
    return [trouble for seek in TROUBLES for trouble in seek(gathered, seen, limit)]


def small_redo_log(_: Gathered, seen: Observed, __: Limit | None) -> Iterator[Trouble]:
    """Find a redo log that fills up before the pages are written."""
    oldest = seen.account(lambda account: account.checkpoint_age_max)
    stalls = seen.account(lambda account: account.checkpoint_stalls)
    if not stalls and (oldest is None or oldest < AGE_OF_STALLS):
        return
    full = (
        f"it was up to {share(min(oldest, 1.0))} of the way to where clients must wait"
        if oldest is not None
        else ""
    )
    waits = f"{stalls:g} checkpoints were forced or waited for" if stalls else ""
    yield Trouble(
        name="redo log too small",
        says="; ".join(one for one in (full, waits) if one),
        remedy="enlarge the log (`innodb_log_file_size` or `innodb_redo_log_capacity`, `max_wal_size`) until "
        "a checkpoint has minutes to write its pages",
        source="MySQL manual, “Optimizing InnoDB Redo Logging”; PostgreSQL manual, “WAL Configuration”",
    )


ONE_TURN = 10_000
"""Transactions that purge may leave: it works in batches, and takes them off its list later still. A
judgement: by default the list is shortened after each 128 batches of hundreds of pages
(`innodb_purge_rseg_truncate_frequency`, `innodb_purge_batch_size`)."""


def purge_falls_behind(_: Gathered, seen: Observed, __: Limit | None) -> Iterator[Trouble]:
    """Find undo history that grows by more than half of what is committed, for more than purge's one turn."""
    growth, commits = seen.account(lambda account: account.history_growth_per_s), seen.commits_per_s
    if growth is None or not commits or growth < GROWING * commits:
        return
    if growth * (seen.counted_s or 0.0) < ONE_TURN:
        return
    yield Trouble(
        name="purge falling behind",
        says=f"the undo history grew by {growth:,.0f} a second, at {commits:,.0f} commits a second",
        remedy="more purge threads (`innodb_purge_threads`), or `innodb_max_purge_lag`; look for a "
        "transaction that is never ended",
        source="MySQL manual, “Purge Configuration”",
    )


def page_flushing_falls_behind(_: Gathered, seen: Observed, __: Limit | None) -> Iterator[Trouble]:
    """Find clients that wait for a clean page."""
    waits, per_s = seen.account_each(lambda account: account.clean_page_waits), seen.per_s
    if waits is None or waits < SELDOM or not per_s:
        return
    dirty = seen.account(lambda account: account.dirty_share_mean)
    of_pool = f", {share(dirty)} of the pool being changed pages" if dirty is not None else ""
    yield Trouble(
        name="page flushing falling behind",
        says=f"clients waited {waits * per_s:,.1f} times a second for a clean page{of_pool}",
        remedy="more page cleaners (`innodb_page_cleaners`), a higher `innodb_io_capacity`, a deeper "
        "`innodb_lru_scan_depth`, or more memory",
        source="MySQL manual, “Configuring Buffer Pool Flushing”",
    )


def two_logs_flushed(_: Gathered, seen: Observed, limit: Limit | None) -> Iterator[Trouble]:
    """Find commits that wait for the redo log and for the binary log, one after the other."""
    if limit != "log flush" or seen.family != "mysql" or logs_of_commit(seen) < 2:
        return
    redo, binlog = ({one.name for one in holding(seen.disks, roles)} for roles in (REDO, BINLOG))
    apart = redo and binlog and redo != binlog
    found = seen.found("flushing", REDO), seen.found("flushing", BINLOG)
    shares = (
        f": the redo at {share(found[0][0])} of moments, the binary log at {share(found[1][0])}"
        if found[0] and found[1]
        else ""
    )
    disks = f"on two disks, {' and '.join(sorted(redo | binlog))}" if apart else "on one disk"
    yield Trouble(
        name="binlog and redo flushing to different disks" if apart else "two flushes a commit",
        says=f"each commit flushes the redo and the binary log, {disks}{shares}",
        remedy="put both on the disk with the shortest flush; where nothing replicates from the server and "
        "no point-in-time recovery is wanted, `skip_log_bin` saves one of the two",
        source="MySQL manual, “The Binary Log”, on sync_binlog",
    )


def doublewrite_on_a_slow_device(_: Gathered, seen: Observed, limit: Limit | None) -> Iterator[Trouble]:
    """Find pages that are written twice on a disk that has no time left."""
    twice = seen.account_each(lambda account: account.doublewrite_writes)
    busy = [one for one in holding(seen.disks, DATA) if (one.busy or 0.0) >= FULL_SHARE and one.one_at_a_time]
    if not twice or twice < SELDOM or not busy or limit not in ("page writes", "data reads"):
        return
    yield Trouble(
        name="doublewrite on a slow device",
        says=f"{digits_of(twice)} writes of the doublewrite buffer a transaction on {busy[0].name}, which is "
        f"busy {share(busy[0].busy or 0.0)} of the time",
        remedy="a storage that writes pages atomically needs no doublewrite; else give the pages a disk of "
        "their own or more memory, and keep it on",
        source="MySQL manual, “Doublewrite Buffer”",
    )


def data_in_memory(gathered: Gathered, seen: Observed, _: Limit | None) -> Iterator[Trouble]:
    """Find a load that only reads, over several storages or memory sizes, and reads nothing from any disk."""
    plan = gathered.plan
    asked = (
        len({cell.storage for cell in plan.cells}) > 1 or len({cell.memory_bytes for cell in plan.cells}) > 1
    )
    reads = seen.side.reads
    if seen.bare or not asked or seen.side.writes_anything or not seen.side.reads_anything:
        return
    if reads is None or reads >= SELDOM:
        return
    sizes = f": {format_bytes(seen.data_bytes)} of data" if seen.data_bytes else ""
    yield Trouble(
        name="data fits in memory",
        says=f"{digits_of(reads)} reads a transaction reached the disk{sizes}, "
        f"{format_bytes(seen.cell.memory_bytes)} of buffers; the storage has no part in this figure",
        remedy="more rows, or less memory, until pages are read; or ask this of writes alone",
        source="Gray, “The Benchmark Handbook”, 1993: the data must scale with what is measured",
    )


def client_is_the_limit(_: Gathered, seen: Observed, limit: Limit | None) -> Iterator[Trouble]:
    """Find a load generator that holds its server back."""
    if limit != "load generator":
        return
    own = parties_of_cpu(seen).get("load")
    has = (
        f"the load generator has {share(own)} of the CPU time used"
        if own is not None
        else "its workers are full"
    )
    yield Trouble(
        name="the client as the limit",
        says=has,
        remedy="hold server and load to CPUs of their own, give the load more of them or another machine, or "
        "prepare its statements",
        source="Schroeder, Wierman and Harchol-Balter, “Open versus closed: a cautionary tale”, NSDI 2006, "
        "on what a closed loop measures when its clients are slow",
    )


def one_hot_row(_: Gathered, seen: Observed, __: Limit | None) -> Iterator[Trouble]:
    """Find lock waits where few rows are there for many clients."""
    waited, latency = seen.account_each(lambda account: account.lock_wait_s), seen.latency_us
    rows = next((one.trial.data.rows for one in seen.trials if one.trial.data), None)
    if waited is None or not latency or rows is None or seen.clients < 2:
        return
    if waited * MICRO / latency < LITTLE or rows >= FEW_ROWS * seen.clients:
        return
    yield Trouble(
        name="one hot row",
        says=f"a transaction waits {milliseconds(waited * MICRO)} of {milliseconds(latency)} for row locks; "
        f"{rows:,} rows for {seen.clients} clients",
        remedy="spread what is counted over more rows, or change it last, right before COMMIT",
        source="Gray and Reuter, “Transaction Processing”, 1993, section 7.11, on hot spots",
    )


def _flushes_a_commit(seen: Observed, commits_per_s: float) -> float:
    """Return flushes of one log for each commit: groups of the binary log, else flushes of the redo log."""
    groups = seen.account_per_s(lambda account: account.binlog_groups)
    flushes = seen.account_per_s(lambda account: account.log_flushes)
    return (groups if groups is not None else flushes or 0.0) / commits_per_s


def group_commit_not_forming(_: Gathered, seen: Observed, limit: Limit | None) -> Iterator[Trouble]:
    """Find many clients that nevertheless flush one by one."""
    commits, per_s = seen.commits_per_s, seen.per_s
    if limit != "log flush" or seen.clients < CROWD or not commits or not per_s or seen.family is None:
        return
    if seen.embedded:
        remedy = "SQLite has one writer at a time: put more into a transaction"
        each = (seen.side.flushes or 0.0) * per_s / commits
    else:
        remedy = (
            "see what takes turns before the flush (a hot row, one table lock); a short wait for others "
            "(`binlog_group_commit_sync_delay`, `binlog_commit_wait_usec`, `commit_delay`) enlarges them"
        )
        each = _flushes_a_commit(seen, commits)
    if each >= ALONE:
        yield Trouble(
            name="group commit not forming",
            says=f"{seen.clients} clients, and yet {each:.2g} flushes a commit",
            remedy=remedy,
            source="DeWitt et al., “Implementation techniques for main memory database systems”, SIGMOD 1984",
        )


TROUBLES: tuple[Seek, ...] = (
    small_redo_log,
    purge_falls_behind,
    page_flushing_falls_behind,
    two_logs_flushed,
    group_commit_not_forming,
    doublewrite_on_a_slow_device,
    one_hot_row,
    data_in_memory,
    client_is_the_limit,
)
