"""What SHOW GLOBAL STATUS and the tables beside it say of a while, in words that all families share.

From the reference manuals of MySQL 5.6 to 9 and of MariaDB (Server Status Variables; INNODB_METRICS; File I/O
Summary Tables). What a version does not tell stays unknown:

- MariaDB since 10.8 counts flushes of the redo log together with those of all other files.
- MySQL tells of no groups of commits, and its Com_commit knows no statement that commits by itself.
- Seconds in files are told by the performance schema alone, which MySQL has on by default and MariaDB off.
"""

from collections.abc import Iterable
from typing import TypeVar

from diskproof.results.usage import ServerAccount
from diskproof.server.samples import Samples

METRICS = {"lock_deadlocks", "trx_rseg_history_len"}
"""Of information_schema.innodb_metrics, those that count by default and that the status does not have."""

FILE_EVENTS = {
    "wait/io/file/innodb/innodb_log_file",
    "wait/io/file/innodb/innodb_data_file",
    "wait/io/file/sql/binlog",
}
"""Files whose reads, writes and flushes we ask the performance schema for."""

PICOSECOND_S = 1e-12

Number = TypeVar("Number", int, float)

_CAPACITY_SHARE = 30 / 32
"""Of innodb_redo_log_capacity: the log is 32 files, and two are kept free (log0files_capacity.cc)."""


def metric(name: str) -> str:
    """Return the name under which a figure of INNODB_METRICS goes into a status."""
    return f"innodb_metrics.{name}"


def file_metric(file: str, what: str) -> str:
    """Return the name under which a figure of the performance schema goes into a status."""
    return f"file_summary.{file}.{what}"


def file_metrics(rows: Iterable[tuple[str, int, int, int]]) -> list[tuple[str, str]]:
    """Turn rows of (event, picoseconds of reads, of writes, of all else) into figures of a status.

    All else is a flush in all but a few cases: a file is opened and closed once.
    """
    told = []
    for event, *times_ps in rows:
        file = event.rpartition("/")[2]
        for what, picoseconds in zip(("read_s", "write_s", "flush_s"), times_ps, strict=True):
            told.append((file_metric(file, what), f"{picoseconds * PICOSECOND_S:.9f}"))
    return told


def account(told: Samples) -> ServerAccount:
    """Return the account of a while."""
    log_flushes = told.count("Innodb_os_log_fsyncs")
    all_flushes = told.count("Innodb_data_fsyncs")
    age, most = "Innodb_checkpoint_age", "Innodb_checkpoint_max_age"  # MariaDB
    if told.mean(age) is not None:
        age_mean, age_highest = told.mean_share(age, most), told.highest_share(age, most)
    else:
        used, capacity = "Innodb_redo_log_logical_size", "Innodb_redo_log_capacity_resized"  # MySQL 8.0.30
        age_mean = _of_capacity(told.mean_share(used, capacity))
        age_highest = _of_capacity(told.highest_share(used, capacity))
    return ServerAccount(
        log_flushes=log_flushes,
        log_flush_s=told.seconds(file_metric("innodb_log_file", "flush_s")),
        log_buffer_waits=told.count("Innodb_log_waits"),
        binlog_commits=told.count("Binlog_commits"),
        binlog_groups=told.count("Binlog_group_commits"),
        binlog_flush_s=told.seconds(file_metric("binlog", "flush_s")),
        page_requests=told.count("Innodb_buffer_pool_read_requests"),
        page_reads=told.count("Innodb_buffer_pool_reads"),
        page_read_s=told.seconds(file_metric("innodb_data_file", "read_s")),
        page_writes=told.count("Innodb_pages_written"),
        page_flushes=None if log_flushes is None or all_flushes is None else all_flushes - log_flushes,
        clean_page_waits=told.count("Innodb_buffer_pool_wait_free"),
        doublewrite_writes=told.count("Innodb_dblwr_writes"),
        lock_waits=told.count("Innodb_row_lock_waits"),
        lock_wait_s=told.seconds("Innodb_row_lock_time", unit_s=1e-3),
        deadlocks=_first(told.count("Innodb_deadlocks"), told.count(metric("lock_deadlocks"))),
        checkpoint_age_mean=age_mean,
        checkpoint_age_max=age_highest,
        dirty_share_mean=told.mean_share("Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_pages_total"),
        history_growth_per_s=_first(
            told.growth_per_s("Innodb_history_list_length"),
            told.growth_per_s(metric("trx_rseg_history_len")),
        ),
        temporary_tables_on_disk=told.count("Created_tmp_disk_tables"),
    )


def _of_capacity(share: float | None) -> float | None:
    return None if share is None else share / _CAPACITY_SHARE


def _first(one: Number | None, other: Number | None) -> Number | None:
    return other if one is None else one
