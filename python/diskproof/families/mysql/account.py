"""What SHOW GLOBAL STATUS and the tables beside it say of a while, in words that all families share.

From the reference manuals of MySQL 5.6 to 9 and of MariaDB (Server Status Variables; INNODB_METRICS; File I/O
Summary Tables). What a version does not report stays unknown:

- MariaDB since 10.8 counts flushes of the redo log together with those of all other files.
- MySQL reports no groups of commits, and its Com_commit leaves out statements that commit by themselves.
- Only the performance schema reports seconds in files. MySQL has it on by default, MariaDB off.
"""

from collections.abc import Iterable
from typing import Any

from diskproof.families.samples import Samples, first
from diskproof.results.usage import ServerAccount

METRICS = {"trx_rseg_history_len"}
"""Of information_schema.innodb_metrics, those that count by default and that the status does not have."""

FILE_EVENTS = {
    "wait/io/file/innodb/innodb_log_file",
    "wait/io/file/innodb/innodb_data_file",
    "wait/io/file/sql/binlog",
}
"""Files whose reads, writes and flushes we ask the performance schema for."""

PICOSECOND_S = 1e-12

_CAPACITY_SHARE = 30 / 32
"""Of innodb_redo_log_capacity: the log is 32 files, and two are kept free (log0files_capacity.cc)."""


def metric(name: str) -> str:
    """Return the name under which a figure of INNODB_METRICS goes into a status."""
    return f"innodb_metrics.{name}"


def file_metrics(rows: Iterable[tuple[Any, ...]]) -> list[tuple[str, str]]:
    """Turn rows of (event, picoseconds of reads, of writes, of all else) into figures of a status.

    All else is a flush in nearly all cases: a file is opened and closed once.
    """
    return [
        (f"file_summary.{event.rpartition('/')[2]}.{what}", f"{time_ps * PICOSECOND_S:.9f}")
        for event, *times_ps in rows
        for what, time_ps in zip(("read_s", "write_s", "flush_s"), times_ps, strict=True)
    ]


def account(samples: Samples) -> ServerAccount:
    """Return the account of a while."""
    log_flushes, all_flushes = samples.count("Innodb_os_log_fsyncs"), samples.count("Innodb_data_fsyncs")
    age, most, used = "Innodb_checkpoint_age", "Innodb_checkpoint_max_age", 1.0  # MariaDB
    if samples.mean(age) is None:  # MySQL 8.0.30
        age, most = "Innodb_redo_log_logical_size", "Innodb_redo_log_capacity_resized"
        used = _CAPACITY_SHARE
    mean, highest = samples.mean_share(age, most), samples.highest_share(age, most)
    return ServerAccount(
        log_flushes=log_flushes,
        log_flush_s=samples.seconds("file_summary.innodb_log_file.flush_s"),
        binlog_commits=samples.count("Binlog_commits"),
        binlog_groups=samples.count("Binlog_group_commits"),
        binlog_flush_s=samples.seconds("file_summary.binlog.flush_s"),
        page_requests=samples.count("Innodb_buffer_pool_read_requests"),
        page_reads=samples.count("Innodb_buffer_pool_reads"),
        page_read_s=samples.seconds("file_summary.innodb_data_file.read_s"),
        page_writes=samples.count("Innodb_pages_written"),
        page_flushes=_page_flushes(log_flushes, all_flushes),
        clean_page_waits=samples.count("Innodb_buffer_pool_wait_free"),
        lock_waits=samples.count("Innodb_row_lock_waits"),
        lock_wait_s=samples.seconds("Innodb_row_lock_time", unit_s=1e-3),
        checkpoint_age_mean=None if mean is None else mean / used,
        checkpoint_age_max=None if highest is None else highest / used,
        dirty_share_mean=samples.mean_share(
            "Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_pages_total"
        ),
        history_growth_per_s=first(
            samples.growth_per_s("Innodb_history_list_length"),
            samples.growth_per_s(metric("trx_rseg_history_len")),
        ),
    )


def _page_flushes(log: int | None, all_files: int | None) -> int | None:
    """Return the flushes of data files. None if more of the log were counted than of all files.

    Up to MySQL 5.7 a flush of the log counts although another thread makes it (fil0fil.c, fil_flush).
    """
    return None if log is None or all_files is None or log > all_files else all_files - log
