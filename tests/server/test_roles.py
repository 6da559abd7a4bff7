"""What a file is, by its name first: a redo log in the wrong directory is still a redo log."""

from pathlib import Path

import pytest

from diskproof.families.mysql import MYSQL
from diskproof.families.postgresql import POSTGRESQL
from diskproof.results.record import Role
from support.servers import make_dirs


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("data/ib_logfile0", "redo"),
        ("data/#innodb_redo/#ib_redo6", "redo"),
        ("data/#innodb_redo/#ib_redo7_tmp", "redo"),
        ("data/aria_log.00000001", "redo"),
        ("redo/ibdata1", "data"),
        ("redo/undo_001", "data"),
        ("redo/sbtest/sbtest1.ibd", "data"),
        ("data/#ib_16384_0.dblwr", "data"),
        ("data/sbtest/#sql-ib1234-56.ibd", "data"),
        ("tmp/#sql3e54_2_0.ibd", "tmp"),
        ("data/ibtmp1", "tmp"),
        ("data/#innodb_temp/temp_10.ibt", "tmp"),
        ("tmp/ibXy12Ab (deleted)", "tmp"),
        ("data/mysql-bin.000003", "binlog"),
        ("data/binlog.index", "binlog"),
        ("data/vm-relay-bin.000001", "binlog"),
        ("log/error.log", None),
        ("run/mysqld.pid", None),
    ],
)
def test_mysql(path: str, role: Role | None, tmp_path: Path) -> None:
    assert make_dirs(tmp_path).role_of(str(tmp_path / path), MYSQL) == role


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("data/pg_wal/000000010000000000000004", "redo"),
        ("data/pg_wal/xlogtemp.12345", "redo"),
        ("redo/archive_status/x.ready", "redo"),
        ("data/base/pgsql_tmp/pgsql_tmp24847.2", "tmp"),
        ("tmp/PG_15_202209061/16385/t3_16400", "tmp"),
        ("data/base/16385/16387_fsm", "data"),
        ("data/global/1262", "data"),
        ("log/error.log", None),
        ("run/.s.PGSQL.5432.lock", None),
    ],
)
def test_postgresql(path: str, role: Role | None, tmp_path: Path) -> None:
    assert make_dirs(tmp_path).role_of(str(tmp_path / path), POSTGRESQL) == role
