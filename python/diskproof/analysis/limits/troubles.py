"""Known problems: each a function that finds one in what a cell observed, with its remedy."""

from collections.abc import Callable, Iterator

from diskproof.analysis.limits.disks import BINLOG, MICRO, REDO, holding
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Trouble
from diskproof.analysis.limits.split import logs_of_commit
from diskproof.analysis.limits.thresholds import (
    ALONE,
    CROWD,
    FEW_ROWS,
    GROWING,
    LITTLE,
    NEAR_STALLS,
    PURGE_BATCHES,
    SELDOM,
)
from diskproof.families import Family, of
from diskproof.families.durability import flushes_alone
from diskproof.families.options import Server, server_named
from diskproof.results.limit import Limit
from diskproof.wording import Message, counted, per_s, say, share, us

Seek = Callable[[Observed, Limit | None], Iterator[Trouble]]


def troubles_of(seen: Observed, limit: Limit | None) -> list[Trouble]:
    """Return the known problems that a cell shows."""
    return [trouble for seek in TROUBLES for trouble in seek(seen, limit)]


def small_redo_log(seen: Observed, _: Limit | None) -> Iterator[Trouble]:
    """Find a redo log that fills up before the pages are written."""
    oldest, stalls = seen.account.checkpoint_age_max, seen.account.checkpoint_stalls
    if not stalls and (oldest is None or oldest < NEAR_STALLS):
        return
    said = []
    if oldest is not None:
        form = "it was up to {age} of the way to where clients must wait"
        said.append(say(form, age=share(min(oldest, 1.0))))
    if stalls:
        said.append(say("{n} {n:was|were} forced or waited for", n=counted(stalls, "checkpoint")))
    yield Trouble(
        name="redo log too small",
        says=say("{said:/; }", said=said),
        remedy=say(
            "enlarge the log (`innodb_log_file_size` or `innodb_redo_log_capacity`, `max_wal_size`) until a "
            "checkpoint has minutes to write its pages"
        ),
        source="MySQL manual, “Optimizing InnoDB Redo Logging”; PostgreSQL manual, “WAL Configuration”",
    )


def purge_falls_behind(seen: Observed, _: Limit | None) -> Iterator[Trouble]:
    """Find undo history that grows by more than half of what is committed, and by more than a batch."""
    growth, commits = seen.account.history_growth_per_s, seen.commits_per_s
    if growth is None or not commits or growth < GROWING * commits:
        return
    if growth * (seen.counted_s or 0.0) < PURGE_BATCHES:
        return
    yield Trouble(
        name="purge falling behind",
        says=say(
            "the undo history grew by {growth}, at {commits}",
            growth=per_s(growth),
            commits=per_s(commits, "commits"),
        ),
        remedy=say(
            "use more purge threads (`innodb_purge_threads`), or `innodb_max_purge_lag`; look for a "
            "transaction that never ends"
        ),
        source="MySQL manual, “Purge Configuration”",
    )


def page_flushing_falls_behind(seen: Observed, _: Limit | None) -> Iterator[Trouble]:
    """Find clients that wait for a clean page."""
    waits, dirty = seen.account_each.clean_page_waits, seen.account.dirty_share_mean
    if waits is None or waits < SELDOM or not seen.per_s:
        return
    says = say("clients waited {n:2} times a second for a clean page", n=waits * seen.per_s)
    if dirty is not None:
        says = say("{waits}, {dirty} of the pool being changed pages", waits=says, dirty=share(dirty))
    yield Trouble(
        name="page flushing falling behind",
        says=says,
        remedy=say(
            "use more page cleaners (`innodb_page_cleaners`), a higher `innodb_io_capacity`, a deeper "
            "`innodb_lru_scan_depth`, or more memory"
        ),
        source="MySQL manual, “Configuring Buffer Pool Flushing”",
    )


def two_logs_flushed(seen: Observed, limit: Limit | None) -> Iterator[Trouble]:
    """Find commits that wait for the redo log and for the binary log, one after the other."""
    if limit != "log flush" or logs_of_commit(seen) < 2:
        return
    redo, binlog = ({one.name for one in holding(seen.disks, roles)} for roles in (REDO, BINLOG))
    apart = redo and binlog and redo != binlog
    where = f"two disks, {' and '.join(sorted(redo | binlog))}" if apart else "one disk"
    says = say("each commit flushes the redo and the binary log, on {where}", where=where)
    if seen.threads is not None:
        says = say(
            "{says}: the redo at {redo} of moments, the binary log at {binlog}",
            says=says,
            redo=share(seen.threads.at(["flushing"], REDO).share),
            binlog=share(seen.threads.at(["flushing"], BINLOG).share),
        )
    yield Trouble(
        name="binlog and redo flushing to different disks" if apart else "two flushes a commit",
        says=says,
        remedy=say(
            "put both logs on the disk with the shortest flush; without replication and point-in-time "
            "recovery `skip_log_bin` saves one of the two"
        ),
        source="MySQL manual, “The Binary Log”, on sync_binlog",
    )


def one_hot_row(seen: Observed, _: Limit | None) -> Iterator[Trouble]:
    """Find lock waits of many clients on few rows."""
    waited_s, latency = seen.account_each.lock_wait_s, seen.latency_us
    rows = next((one.rows for one in seen.data), None)
    if waited_s is None or not latency or rows is None or seen.clients < 2:
        return
    if waited_s * MICRO / latency < LITTLE or rows >= FEW_ROWS * seen.clients:
        return
    yield Trouble(
        name="one hot row",
        says=say(
            "a transaction waits {time} of {whole} for row locks; {rows} for {clients}",
            time=us(waited_s * MICRO),
            whole=us(latency),
            rows=counted(rows, "row"),
            clients=counted(seen.clients, "client"),
        ),
        remedy=say("spread what is counted over more rows, or change it last, right before COMMIT"),
        source="Gray and Reuter, “Transaction Processing”, 1993, section 7.11, on hot spots",
    )


def group_commit_not_forming(seen: Observed, limit: Limit | None) -> Iterator[Trouble]:
    """Find many clients that nevertheless flush one by one."""
    commits, per_s_now = seen.commits_per_s, seen.per_s
    if limit != "log flush" or seen.clients < CROWD or not commits or not per_s_now or seen.family is None:
        return
    if seen.embedded:
        remedy = say("SQLite has one writer at a time: put more into a transaction")
        each = (seen.disk_flushes or 0.0) * per_s_now / commits
    else:
        remedy = _to_share_flushes(seen, seen.family)
        groups = seen.account_per_s.binlog_groups
        each = (seen.account_per_s.log_flushes or 0.0 if groups is None else groups) / commits
    if each >= ALONE:
        yield Trouble(
            name="group commit not forming",
            says=say("{n} clients, and yet {each:2} flushes a commit", n=seen.clients, each=each),
            remedy=remedy,
            source="DeWitt et al., “Implementation techniques for main memory database systems”, SIGMOD 1984",
        )


def _to_share_flushes(seen: Observed, family: Family) -> Message:
    if seen.server and flushes_alone(seen.server, seen.settings):
        since = of(family).groups_binlog_since.items()
        return say(
            "{server} is too old: it flushes the binary log for one commit at a time. Commits share a flush "
            "from {since:/, } on",
            server=seen.server.title,
            since=[say("{server}", server=Server(flavour, version).title) for flavour, version in since],
        )
    delays = [
        name
        for name, first in of(family).group_delays.items()
        if seen.server is None or _is_since(seen.server, server_named(first))
    ]
    turns = say("look for what takes turns before the flush (a hot row, one table lock)")
    if not delays:
        return turns
    return say(
        "{turns}; a short wait for others ({delays:/, }) enlarges groups",
        turns=turns,
        delays=[f"`{one}`" for one in delays],
    )


def _is_since(server: Server, first: Server) -> bool:
    same_kind = server.flavour in {None, first.flavour} or (server.is_mysql and first.is_mysql)
    return same_kind and server.since(*(first.version or ())) is not False


TROUBLES: tuple[Seek, ...] = (
    small_redo_log,
    purge_falls_behind,
    page_flushing_falls_behind,
    two_logs_flushed,
    group_commit_not_forming,
    one_hot_row,
)
