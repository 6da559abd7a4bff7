"""When a server's options came and went: facts, each with its source.

Only what bears on a measurement of storage, or stands in the option files that people publish. Of what is
not here nothing is claimed. MySQL's facts hold for Percona Server of that number too.
"""

import re
from dataclasses import dataclass
from typing import Literal

Flavour = Literal["MySQL", "Percona Server", "MariaDB", "PostgreSQL"]

Version = tuple[int, ...]
"""As far as it is told: ``(8, 0)`` is a series, of which nobody says which release it is."""

MYSQL_REFERENCE = "MySQL Server Version Reference, Option and Variable Changes"
MYSQL_5_7 = "MySQL 5.7 Reference Manual, Options and Variables Added, Deprecated, or Removed in 5.7"
MYSQL_8_0 = "MySQL 8.0 Reference Manual, Options and Variables Added, Deprecated, or Removed in 8.0"
MARIADB = "MariaDB Server documentation, change history of the option"
MARIADB_START = (
    "MariaDB Server documentation, change history of the option; MariaDB 10.11.19 says it on its start"
)
PERCONA = "Percona Server documentation, Thread pool"
POSTGRESQL = "PostgreSQL release notes, Migration to that version"


@dataclass(frozen=True)
class Life:
    """When one option of a family of servers was there; each bound None where none is known."""

    name: str
    flavour: Flavour
    source: str
    since: Version | None = None
    deprecated: Version | None = None
    removed: Version | None = None
    never: bool = False
    """No version of this flavour has it."""
    still_taken: bool = False
    """Whether a server without it takes the option all the same, and does nothing; others do not start."""
    instead: str = ""
    """What does its work now."""


def _mysql(
    names: str,
    *,
    since: Version | None = None,
    deprecated: Version | None = None,
    removed: Version | None = None,
    instead: str = "",
    source: str = MYSQL_REFERENCE,
) -> tuple[Life, ...]:
    return tuple(
        Life(name, "MySQL", source, since, deprecated, removed, instead=instead) for name in names.split()
    )


def _mariadb(
    names: str,
    *,
    since: Version | None = None,
    deprecated: Version | None = None,
    removed: Version | None = None,
    still_taken: bool = False,
    instead: str = "",
) -> tuple[Life, ...]:
    source = MARIADB_START if still_taken else MARIADB
    return tuple(
        Life(name, "MariaDB", source, since, deprecated, removed, still_taken=still_taken, instead=instead)
        for name in names.split()
    )


def _never(flavour: Flavour, names: str, source: str, instead: str = "") -> tuple[Life, ...]:
    return tuple(Life(name, flavour, source, never=True, instead=instead) for name in names.split())


QUERY_CACHE = (
    "query_cache_size query_cache_type query_cache_limit query_cache_min_res_unit "
    "query_cache_wlock_invalidate"
)

LIVES: tuple[Life, ...] = (
    # ---------------------------------------------------------------- MySQL, and Percona Server with it
    *_mysql(QUERY_CACHE, deprecated=(5, 7, 20), removed=(8, 0, 3)),
    *_mysql(
        "innodb_file_format innodb_file_format_check innodb_file_format_max innodb_large_prefix",
        deprecated=(5, 7, 7),
        removed=(8, 0, 0),
        source="MySQL worklogs 7703 (deprecated) and 7704 (removed)",
    ),
    *_mysql("innodb_checksums", deprecated=(5, 6, 3), removed=(8, 0, 0), instead="innodb_checksum_algorithm"),
    *_mysql("innodb_support_xa", deprecated=(5, 7, 10), removed=(8, 0, 0)),
    *_mysql("innodb_locks_unsafe_for_binlog", deprecated=(5, 6, 3), removed=(8, 0, 0)),
    *_mysql(
        "innodb_stats_sample_pages",
        deprecated=(5, 6, 3),
        removed=(8, 0, 0),
        instead="innodb_stats_transient_sample_pages",
    ),
    *_mysql(
        "innodb_undo_logs",
        deprecated=(5, 7, 19),
        removed=(8, 0, 2),
        instead="innodb_rollback_segments",
        source="MySQL worklog 10322; " + MYSQL_8_0,
    ),
    *_mysql(
        "innodb_additional_mem_pool_size innodb_use_sys_malloc",
        deprecated=(5, 6, 3),
        removed=(5, 7, 4),
        source=MYSQL_5_7,
    ),
    *_mysql(
        "thread_concurrency", deprecated=(5, 6, 1), removed=(5, 7, 2), instead="innodb_thread_concurrency"
    ),
    *_mysql("log_warnings", deprecated=(5, 7, 2), removed=(8, 0, 3), instead="log_error_verbosity"),
    *_mysql(
        "expire_logs_days", deprecated=(8, 0, 3), removed=(8, 2, 0), instead="binlog_expire_logs_seconds"
    ),
    *_mysql("sync_frm", deprecated=(5, 7, 6), removed=(8, 0, 0)),
    *_mysql("secure_auth", deprecated=(5, 7, 5), removed=(8, 0, 3)),
    *_mysql("date_format datetime_format time_format", removed=(8, 0, 3)),
    *_mysql(
        "default_authentication_plugin",
        deprecated=(8, 0, 27),
        removed=(8, 4, 0),
        instead="authentication_policy",
    ),
    *_mysql("binlog_transaction_dependency_tracking", deprecated=(8, 0, 35), removed=(8, 4, 0)),
    *_mysql(
        "innodb_log_file_size innodb_log_files_in_group",
        deprecated=(8, 0, 30),
        instead="innodb_redo_log_capacity",
        source="MySQL 8.0 Reference Manual, section Redo Log; Changes in MySQL 8.0.30",
    ),
    *_mysql("innodb_redo_log_capacity", since=(8, 0, 30), source="Changes in MySQL 8.0.30"),
    *_mysql(
        "innodb_doublewrite_files innodb_doublewrite_pages innodb_doublewrite_batch_size "
        "innodb_doublewrite_dir",
        since=(8, 0, 20),
    ),
    *_mysql("innodb_dedicated_server", since=(8, 0, 3)),
    *_mysql("innodb_use_fdatasync", since=(8, 0, 26)),
    *_mysql("innodb_idle_flush_pct", since=(8, 0, 18)),
    *_mysql("innodb_log_writer_threads", since=(8, 0, 22)),
    *_mysql("binlog_expire_logs_seconds", since=(8, 0, 1)),
    *_mysql("innodb_page_cleaners", since=(5, 7, 4), source=MYSQL_5_7),
    *_mysql("innodb_buffer_pool_chunk_size", since=(5, 7, 5), source=MYSQL_5_7),
    *_mysql("innodb_log_write_ahead_size", since=(5, 7, 4), source=MYSQL_5_7),
    *_mysql("innodb_temp_data_file_path", since=(5, 7, 1), source=MYSQL_5_7),
    *_mysql(
        "binlog_group_commit_sync_delay binlog_group_commit_sync_no_delay_count",
        since=(5, 7, 5),
        source=MYSQL_5_7,
    ),
    *_mysql("super_read_only", since=(5, 7, 8), source=MYSQL_5_7),
    *_mysql("innodb_buffer_pool_instances", since=(5, 5, 4), source="MySQL 5.5 Reference Manual, InnoDB"),
    *_mysql("innodb_flush_neighbors", since=(5, 6, 3), source="MySQL 5.6 Reference Manual, InnoDB"),
    *_mysql(
        "innodb_flush_log_at_timeout innodb_io_capacity_max",
        since=(5, 6, 6),
        source="MySQL 5.6 Reference Manual, InnoDB",
    ),
    *_never(
        "MySQL",
        "thread_pool_max_threads thread_pool_idle_timeout thread_pool_oversubscribe",
        PERCONA + "; MySQL Reference Manual: MySQL's own pool is a plugin of Enterprise Edition",
    ),
    *_never(
        "MySQL",
        "aria_pagecache_buffer_size aria_log_dir_path aria_log_file_size binlog_commit_wait_count "
        "binlog_commit_wait_usec innodb_log_file_buffering innodb_log_file_write_through "
        "innodb_data_file_buffering innodb_data_file_write_through log_basename",
        MARIADB + " (an option of MariaDB alone)",
    ),
    *_never(
        "MySQL",
        "logdir",
        "MySQL 5.1 Reference Manual, Server Command Options, where it is not",
        "innodb_log_group_home_dir for the redo log, log_bin for the binary log",
    ),
    # ---------------------------------------------------------------- MariaDB
    *_mariadb(
        "innodb_buffer_pool_instances innodb_page_cleaners",
        deprecated=(10, 5, 1),
        removed=(10, 6, 0),
        still_taken=True,
    ),
    *_mariadb(
        "innodb_log_files_in_group",
        deprecated=(10, 5, 2),
        removed=(10, 6, 0),
        still_taken=True,
        instead="innodb_log_file_size for the whole log",
    ),
    *_mariadb(
        "innodb_file_format innodb_file_format_check innodb_file_format_max innodb_large_prefix",
        deprecated=(10, 2, 2),
        removed=(10, 6, 0),
        still_taken=True,
    ),
    *_mariadb(
        "innodb_thread_concurrency innodb_commit_concurrency innodb_concurrency_tickets",
        deprecated=(10, 5, 5),
        removed=(10, 6, 0),
        still_taken=True,
    ),
    *_mariadb(
        "innodb_undo_logs innodb_rollback_segments",
        deprecated=(10, 5, 0),
        removed=(10, 6, 0),
        still_taken=True,
    ),
    *_mariadb("thread_concurrency", removed=(10, 5, 1), still_taken=True),
    *_mariadb("innodb_support_xa", deprecated=(10, 2, 0), removed=(10, 3, 0)),
    *_mariadb("innodb_additional_mem_pool_size innodb_use_sys_malloc", removed=(10, 2, 2)),
    *_mariadb("innodb_use_mtflush innodb_mtflush_threads", removed=(10, 3, 2)),
    *_mariadb("innodb_change_buffering", deprecated=(10, 9, 0), removed=(11, 0, 0)),
    *_mariadb("innodb_defragment", removed=(11, 1, 0)),
    *_mariadb(
        "innodb_flush_method",
        deprecated=(11, 0, 1),
        instead="innodb_data_file_buffering and innodb_log_file_buffering",
    ),
    *_mariadb("innodb_log_file_buffering", since=(10, 8, 4)),
    *_mariadb(
        "innodb_data_file_buffering innodb_data_file_write_through innodb_log_file_write_through",
        since=(11, 0, 1),
    ),
    *_mariadb("binlog_expire_logs_seconds", since=(10, 6, 0)),
    *_mariadb("innodb_temp_data_file_path", since=(10, 2, 2)),
    *_never(
        "MariaDB",
        "innodb_redo_log_capacity innodb_dedicated_server innodb_doublewrite_files innodb_doublewrite_pages "
        "innodb_use_fdatasync innodb_log_writer_threads binlog_group_commit_sync_delay super_read_only",
        MYSQL_REFERENCE + " (an option of MySQL alone); MariaDB 10.11.19 does not start with it",
    ),
    *_never(
        "MariaDB", "logdir", "MariaDB Server documentation, where it is not", "innodb_log_group_home_dir"
    ),
    # ---------------------------------------------------------------- PostgreSQL
    Life("checkpoint_segments", "PostgreSQL", POSTGRESQL, removed=(9, 5, 0), instead="max_wal_size"),
    Life("max_wal_size", "PostgreSQL", POSTGRESQL, since=(9, 5, 0)),
    Life("min_wal_size", "PostgreSQL", POSTGRESQL, since=(9, 5, 0)),
    Life("wal_keep_segments", "PostgreSQL", POSTGRESQL, removed=(13, 0, 0), instead="wal_keep_size"),
    Life("default_with_oids", "PostgreSQL", POSTGRESQL, removed=(12, 0, 0)),
    Life("wal_init_zero", "PostgreSQL", POSTGRESQL, since=(12, 0, 0)),
    Life("wal_recycle", "PostgreSQL", POSTGRESQL, since=(12, 0, 0)),
    Life("stats_temp_directory", "PostgreSQL", POSTGRESQL, removed=(15, 0, 0)),
    Life("old_snapshot_threshold", "PostgreSQL", POSTGRESQL, removed=(17, 0, 0)),
)

_BY_NAME = {(life.name, life.flavour): life for life in LIVES}


RELEASE, LAST_PATCH = 3, 999
"""Numbers of a release of the MySQL family, and one above all that there are."""


@dataclass(frozen=True)
class Server:
    """Which server it is, as far as told."""

    flavour: Flavour | None
    """None: of the MySQL family, no more is told."""
    version: Version | None

    @property
    def is_postgresql(self) -> bool:
        """Whether it has PostgreSQL's options and not those of the MySQL family."""
        return self.flavour == "PostgreSQL"

    @property
    def is_mysql(self) -> bool:
        """Whether MySQL's numbers hold for it."""
        return self.flavour in {"MySQL", "Percona Server"}

    @property
    def words(self) -> str:
        """Name it: ``Percona Server 5.7.27``."""
        number = "" if self.version is None else " " + ".".join(map(str, self.version))
        return (self.flavour or "the server") + number

    def since(self, *version: int) -> bool | None:
        """Tell whether it is of at least this version; None where its version is not told that far."""
        if self.version is None:
            return None
        told = len(self.version)
        if self.version == version[:told] and any(version[told:]):
            return None
        return self.version >= version[:told]

    @property
    def releases(self) -> tuple["Server", ...]:
        """Return the first and the last release that it may be; itself where its release is told."""
        if self.version is None or self.is_postgresql or len(self.version) >= RELEASE:
            return (self,)
        padding = RELEASE - len(self.version)
        return tuple(Server(self.flavour, self.version + (patch,) * padding) for patch in (0, LAST_PATCH))

    def life(self, name: str) -> Life | None:
        """Return what is known of an option on this flavour."""
        if self.flavour is None:
            return None
        found = _BY_NAME.get((name, self.flavour))
        if found is None and self.flavour == "Percona Server":
            found = _BY_NAME.get((name, "MySQL"))
            # Percona's own options are no business of MySQL's facts about what it never had.
            return None if found and found.never and name.startswith("thread_pool_") else found
        return found


def server_named(told: str) -> Server:
    """Return the server that a text names: ``Percona Server 5.7.27-30``, ``10.11.19-MariaDB (Debian 12)``.

    A bare number is told by what it can be: 10 and above are MariaDB's, 5, 8 and 9 MySQL's, unless it carries
    Percona's release behind a dash.
    """
    number = re.search(r"(\d{1,3})(?:\.(\d{1,3}))?(?:\.(\d{1,3}))?(-\d)?", told)
    found = tuple(int(one) for one in number.groups()[:3] if one is not None) if number else ()
    version = found if len(found) > 1 else None
    words = told.lower()
    if "postgres" in words:
        return Server("PostgreSQL", found or None)
    if "mariadb" in words or (version and 10 <= version[0] < 20):
        return Server("MariaDB", version)
    if "percona" in words or (number and number[4] and "mysql" not in words):
        return Server("Percona Server", version)
    return Server("MySQL" if "mysql" in words or version else None, version)
