"""A server's own account, from statuses that real servers told before and after 300 updates of single rows.

Each update is a transaction; the tables are small, the level is the safest, and one client works alone.
"""

import pytest

from diskproof.families.mysql import MYSQL
from diskproof.families.mysql import account as mysql
from diskproof.families.postgresql import account as postgresql
from diskproof.families.samples import Samples, Status
from diskproof.results.usage import ServerAccount

Recorded = dict[str, tuple[float, float]]
"""Name -> (before, after), counters and levels."""

SECONDS = 4.0

MARIADB_10_11: Recorded = {
    "Binlog_commits": (1, 300),
    "Binlog_group_commits": (1, 300),
    "Innodb_buffer_pool_read_requests": (1224, 7675),
    "Innodb_buffer_pool_reads": (166, 170),
    "Innodb_buffer_pool_wait_free": (0, 0),
    "Innodb_data_fsyncs": (2, 305),
    "Innodb_pages_written": (0, 0),
    "Innodb_row_lock_time": (0, 0),
    "Innodb_row_lock_waits": (0, 0),
    "Innodb_buffer_pool_pages_dirty": (31, 258),
    "Innodb_buffer_pool_pages_total": (12675, 12675),
    "Innodb_checkpoint_age": (1658, 198153),
    "Innodb_checkpoint_max_age": (80819529, 80819529),
    "Innodb_history_list_length": (1, 0),
}

MYSQL_5_6: Recorded = {
    "Innodb_buffer_pool_read_requests": (981, 7525),
    "Innodb_buffer_pool_reads": (187, 191),
    "Innodb_buffer_pool_wait_free": (0, 0),
    "Innodb_data_fsyncs": (2, 304),
    "Innodb_os_log_fsyncs": (2, 303),
    "Innodb_pages_written": (0, 0),
    "Innodb_row_lock_time": (0, 0),
    "Innodb_row_lock_waits": (0, 0),
    "file_summary.binlog.flush_s": (0.027944046, 1.100217629),
    "file_summary.innodb_data_file.read_s": (0.222869437, 0.244601797),
    "file_summary.innodb_log_file.flush_s": (0.010233423, 1.512636126),
    "Innodb_buffer_pool_pages_dirty": (6, 265),
    "Innodb_buffer_pool_pages_total": (12799, 12799),
    "innodb_metrics.trx_rseg_history_len": (11, 310),
}

MYSQL_9_7: Recorded = {
    "Innodb_buffer_pool_read_requests": (15249, 20576),
    "Innodb_buffer_pool_reads": (832, 839),
    "Innodb_buffer_pool_wait_free": (0, 0),
    "Innodb_data_fsyncs": (59, 398),
    "Innodb_os_log_fsyncs": (7, 341),
    "Innodb_pages_written": (0, 205),
    "Innodb_row_lock_time": (0, 0),
    "Innodb_row_lock_waits": (0, 0),
    "file_summary.binlog.flush_s": (0.026428737, 1.258682271),
    "file_summary.innodb_data_file.read_s": (0.620614965, 0.634021114),
    "file_summary.innodb_log_file.flush_s": (0.433539824, 1.931897975),
    "Innodb_buffer_pool_pages_dirty": (186, 551),
    "Innodb_buffer_pool_pages_total": (12800, 12800),
    "innodb_metrics.trx_rseg_history_len": (5, 75),
    "Innodb_redo_log_logical_size": (48640, 424448),
    "Innodb_redo_log_capacity_resized": (100663296, 100663296),
}

POSTGRESQL_15: Recorded = {
    "pg_stat_database.xact_commit": (194, 483),
    "pg_stat_database.blks_read": (847, 905),
    "pg_stat_database.blks_hit": (16674, 17912),
    "pg_stat_database.blk_read_time": (21.632, 22.25),
    "pg_stat_bgwriter.checkpoints_req": (3, 3),
    "pg_stat_bgwriter.buffers_checkpoint": (1079, 1079),
    "pg_stat_bgwriter.buffers_clean": (0, 0),
    "pg_stat_bgwriter.buffers_backend": (361, 361),
    "pg_stat_wal.wal_sync": (1, 290),
    "pg_stat_wal.wal_sync_time": (29.385, 1695.86),
    "pg_stat_database.numbackends": (1, 1),
}

POSTGRESQL_LEVELS = {"pg_stat_database.numbackends"}


def mysql_samples(recorded: Recorded) -> Samples:
    """Sort as the server's own rows are sorted."""
    return Samples(
        (at_s, MYSQL.status((name, f"{values[end]:f}") for name, values in recorded.items()))
        for end, at_s in enumerate((100.0, 100.0 + SECONDS))
    )


def postgresql_samples(recorded: Recorded) -> Samples:
    return Samples(
        (
            100.0 + end * SECONDS,
            Status(
                counters={
                    name: both[end] for name, both in recorded.items() if name not in POSTGRESQL_LEVELS
                },
                gauges={name: both[end] for name, both in recorded.items() if name in POSTGRESQL_LEVELS},
            ),
        )
        for end in (0, 1)
    )


def told(account: ServerAccount) -> set[str]:
    return {name for name, value in account.model_dump().items() if value is not None}


def changed(recorded: Recorded, **differences: float) -> Recorded:
    """Let counters grow by so much; names with a dot are written with two underscores."""
    names = {name: name.replace("__", ".") for name in differences}
    assert set(names.values()) <= recorded.keys()
    return recorded | {names[name]: (10.0, 10.0 + by) for name, by in differences.items()}


def test_mariadb_tells_of_groups_and_of_the_age_of_its_checkpoint() -> None:
    account = mysql.account(mysql_samples(MARIADB_10_11))
    assert account.binlog_commits == account.binlog_groups
    assert account.binlog_commits == pytest.approx(300, abs=2)
    assert account.page_requests is not None
    assert account.page_requests > 1000
    assert account.page_reads == 4
    before, after = MARIADB_10_11["Innodb_checkpoint_age"]
    limit = MARIADB_10_11["Innodb_checkpoint_max_age"][1]
    assert account.checkpoint_age_mean == pytest.approx((before + after) / 2 / limit)
    assert account.checkpoint_age_max == pytest.approx(after / limit)
    assert account.dirty_share_mean is not None
    assert 0 < account.dirty_share_mean < 0.1
    untold = {"log_flushes", "log_flush_s", "binlog_flush_s", "page_read_s", "page_flushes"}
    assert not untold & told(account), "counted with other files, or not timed"


@pytest.mark.parametrize("recorded", [MYSQL_5_6, MYSQL_9_7], ids=["5.6", "9.7"])
def test_mysql_tells_of_flushes_and_their_time(recorded: Recorded) -> None:
    account = mysql.account(mysql_samples(recorded))
    assert account.log_flushes is not None
    assert 300 <= account.log_flushes <= 350
    assert account.log_flush_s is not None
    assert 1 < account.log_flush_s < SECONDS, "seconds, of picoseconds"
    assert account.binlog_flush_s is not None
    assert 1 < account.binlog_flush_s < SECONDS
    assert account.page_reads is not None
    assert account.page_read_s is not None
    assert 0.001 < account.page_read_s / account.page_reads < 0.01
    assert account.page_flushes is not None
    assert 0 <= account.page_flushes < 10, "without those of the log, which are counted with them"
    before, after = recorded["innodb_metrics.trx_rseg_history_len"]
    assert account.history_growth_per_s == pytest.approx((after - before) / SECONDS)
    assert {"binlog_commits", "binlog_groups"}.isdisjoint(told(account))


def test_more_flushes_of_the_log_than_of_all_files_say_nothing_of_pages() -> None:
    """Up to MySQL 5.7 a flush of the log counts although another thread makes it."""
    before, after = MYSQL_5_6["Innodb_data_fsyncs"]
    recorded = MYSQL_5_6 | {"Innodb_os_log_fsyncs": (before, after + 1)}
    account = mysql.account(mysql_samples(recorded))
    assert account.log_flushes == after + 1 - before
    assert account.page_flushes is None


def test_the_age_of_a_checkpoint_in_mysql() -> None:
    """Two of the 32 files of the log are kept free; 5.6 tells of no age."""
    recorded = MYSQL_9_7 | {
        "Innodb_redo_log_logical_size": (10e6, 30e6),
        "Innodb_redo_log_capacity_resized": (64e6, 64e6),
    }
    account = mysql.account(mysql_samples(recorded))
    assert account.checkpoint_age_mean == pytest.approx(20 / 60)
    assert account.checkpoint_age_max == pytest.approx(30 / 60)
    assert "checkpoint_age_max" not in told(mysql.account(mysql_samples(MYSQL_5_6)))


@pytest.mark.parametrize("recorded", [MARIADB_10_11, MYSQL_5_6, MYSQL_9_7], ids=["mariadb", "5.6", "9.7"])
def test_waits_and_their_units(recorded: Recorded) -> None:
    account = mysql.account(
        mysql_samples(
            changed(
                recorded,
                Innodb_row_lock_waits=7,
                Innodb_row_lock_time=2500,
                Innodb_buffer_pool_wait_free=11,
            )
        )
    )
    assert account.lock_waits == 7
    assert account.lock_wait_s == pytest.approx(2.5), "of milliseconds"
    assert account.clean_page_waits == 11


def test_the_performance_schema_tells_in_picoseconds() -> None:
    rows = [("wait/io/file/sql/binlog", 1_500_000_000_000, 2_000_000, 250_000_000_000)]
    assert dict(mysql.file_metrics(rows)) == {
        "file_summary.binlog.read_s": "1.500000000",
        "file_summary.binlog.write_s": "0.000002000",
        "file_summary.binlog.flush_s": "0.250000000",
    }


def test_postgresql_tells_of_its_wal() -> None:
    account = postgresql.account(postgresql_samples(POSTGRESQL_15), times_input=True, times_wal=True)
    assert account.commits == account.log_flushes
    assert account.commits == pytest.approx(300, abs=40), "a backend hands its counts in once a second"
    assert account.log_flush_s is not None
    assert 1 < account.log_flush_s < SECONDS, "seconds, of milliseconds"
    assert account.page_requests is not None
    assert account.page_reads is not None
    assert account.page_requests > account.page_reads > 0
    assert account.page_read_s is not None
    assert account.checkpoint_stalls == 0
    assert {"checkpoint_age_max", "clean_page_waits", "binlog_groups"}.isdisjoint(told(account))


def test_times_that_are_not_taken_are_no_zeros() -> None:
    untimed = POSTGRESQL_15 | {
        "pg_stat_database.blk_read_time": (0, 0),
        "pg_stat_wal.wal_sync_time": (0, 0),
    }
    account = postgresql.account(postgresql_samples(untimed), times_input=False, times_wal=False)
    assert account.page_read_s is None
    assert account.log_flush_s is None
    assert account.log_flushes


def test_an_old_postgresql_without_a_view_of_its_wal() -> None:
    old = {name: values for name, values in POSTGRESQL_15.items() if "pg_stat_wal" not in name}
    account = postgresql.account(postgresql_samples(old), times_input=True, times_wal=False)
    assert account.log_flushes is None
    assert account.commits


def test_a_new_postgresql_has_its_checkpoints_elsewhere() -> None:
    new = {name: values for name, values in POSTGRESQL_15.items() if "pg_stat_bgwriter" not in name}
    new |= {"pg_stat_checkpointer.num_requested": (1, 4), "pg_stat_bgwriter.buffers_clean": (0, 9)}
    account = postgresql.account(postgresql_samples(new), times_input=True, times_wal=True)
    assert account.checkpoint_stalls == 3
    assert account.page_writes is None, "what backends wrote is not told here"


def test_postgresql_18_has_its_flushes_and_pages_in_one_view() -> None:
    new = {name: values for name, values in POSTGRESQL_15.items() if "pg_stat_wal.wal_sync" not in name}
    new |= {
        "pg_stat_io.wal.fsyncs": (7, 299),
        "pg_stat_io.wal.fsync_time": (20.0, 1020.0),
        "pg_stat_io.relation.fsyncs": (0, 12),
        "pg_stat_io.relation.write_time": (1.0, 5.0),
    }
    account = postgresql.account(postgresql_samples(new), times_input=True, times_wal=True)
    assert (account.log_flushes, account.page_flushes) == (292, 12)
    assert account.log_flush_s == pytest.approx(1.0)
    assert account.page_write_s == pytest.approx(0.004)
    untimed = postgresql.account(postgresql_samples(new), times_input=False, times_wal=False)
    assert (untimed.log_flushes, untimed.log_flush_s, untimed.page_write_s) == (292, None, None)


# ---------------------------------------------------------------- samples


def test_levels_are_followed_through_every_sample() -> None:
    levels = [Status({}, {"age": age, "size": 100.0}) for age in (10.0, 40.0, 10.0)]
    samples = Samples((float(second), level) for second, level in enumerate(levels))
    assert samples.mean("age") == 20
    assert samples.highest_share("age", "size") == 0.4
    assert samples.growth_per_s("age") == 0
    assert samples.highest_share("age", "none") is None


def test_a_counter_that_is_not_there_at_both_ends_says_nothing() -> None:
    samples = Samples([(0.0, Status({"a": 1.0}, {})), (1.0, Status({"a": 3.0, "b": 3.0}, {}))])
    assert samples.count("a") == 2
    assert samples.count("b") is None
    assert samples.count("a", "b") is None
    assert samples.count("a", "a") == 4


def test_of_no_sample_and_of_one_alone_nothing_follows() -> None:
    samples = Samples()
    assert samples.count("a") is None
    assert samples.mean("a") is None
    assert samples.growth_per_s("a") is None
    samples.add(0.0, Status({"a": 1.0}, {"b": 1.0}))
    assert samples.count("a") == 0
    assert samples.growth_per_s("b") is None, "no time has passed"
    assert told(mysql.account(Samples())) == set()
