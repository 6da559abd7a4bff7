"""The rows of committed transactions, from real binary logs, whole and torn."""

from pathlib import Path

import pytest

from diskproof.server.base import Dirs, ServerFailedError
from diskproof.server.mysql import MysqlServer
from diskproof.server.mysql.binlog import committed_rows, inserted_rows
from diskproof.server.sqlite import SqliteServer
from diskproof.system.processes import Starter
from support.servers import Images, connect, make_dirs, start

PRINTED = """\
BEGIN
### INSERT INTO `sbtest`.`led`
### SET
###   @1=-3 (4294967293)
###   @2=7
###   @3='### INSERT INTO'
### INSERT INTO `sbtest`.`ledger`
### SET
###   @1=99
###   @2=99
### UPDATE `sbtest`.`led`
### WHERE
###   @1=50
###   @2=50
### SET
###   @1=51
###   @2=51
COMMIT/*!*/;
### INSERT INTO `other`.`led`
### SET
###   @1=98
###   @2=98
COMMIT/*!*/;
### INSERT INTO `sbtest`.`led`
### SET
###   @1=4
###   @2=1
ROLLBACK/*!*/;
### INSERT INTO `sbtest`.`led`
### SET
###   @1=4
###   @2=2
"""


def test_rows_count_once_their_transaction_has_committed() -> None:
    lines = PRINTED.splitlines()
    assert list(committed_rows(lines, "led", 2)) == [(-3, 7)]
    assert list(committed_rows([*lines, "COMMIT /* added */"], "led", 1)) == [(-3,), (4,)]
    assert list(committed_rows(lines, r"led(g\w+)?", 2)) == [(-3, 7), (99, 99)], "a pattern"
    with pytest.raises(ServerFailedError, match="row of led without integers in its first 3 columns"):
        list(committed_rows(lines, "led", 3))


def test_what_is_no_reader_is_an_error_and_no_log_is_none(tmp_path: Path) -> None:
    assert inserted_rows(Path("/bin/true"), tmp_path, "led", 2) is None
    (tmp_path / "binlog.000001").touch()
    with pytest.raises(ServerFailedError, match="true does not read it: exit code 0"):
        inserted_rows(Path("/bin/true"), tmp_path, "led", 2)
    with pytest.raises(ServerFailedError, match="reader does not read it"):
        inserted_rows(Path("/nowhere/reader"), tmp_path, "led", 2)


def crashed(kind: MysqlServer, root: Path, starter: Starter, images: Images) -> Dirs:
    """Commit 20 rows, roll one back, and kill the server: in the log, and in the tables."""
    dirs = images.restore(kind, root)
    running = start(kind, dirs, starter)
    with connect(running) as client:
        client.run("CREATE TABLE led (client INTEGER, number INTEGER, words VARCHAR(50))")
        for number in range(1, 21):
            client.run(f"INSERT INTO led VALUES (0, {number}, 'a\nCOMMIT')")
        client.run("BEGIN")
        client.run("INSERT INTO led VALUES (0, 99, 'never')")
        client.run("ROLLBACK")
    running.kill()
    return dirs


def test_a_torn_end_takes_its_transactions_and_no_others(
    mysql_kind: MysqlServer, root: Path, starter: Starter, images: Images
) -> None:
    dirs = crashed(mysql_kind, root, starter, images)
    reader = mysql_kind.installation.binlog_reader()
    assert reader is not None
    log = dirs.binlog / "binlog.000001"
    whole = log.read_bytes()
    before, tail = whole[:-700], whole[-700:]
    found = {}
    for name, contents in {
        "whole": whole,
        "empty": b"",
        "zeros": before + bytes(len(tail)),
        "noise": before + bytes(byte ^ 0xA5 for byte in tail),
        "short": before,
    }.items():
        log.write_bytes(contents)
        rows = inserted_rows(reader, dirs.binlog, "led", 2)
        assert rows is not None
        assert rows == {(0, number) for number in range(1, len(rows) + 1)}, "those before the tear, in order"
        found[name] = len(rows)
    assert (found["whole"], found["empty"]) == (20, 0)
    assert 10 <= found["zeros"] == found["noise"] == found["short"] < 20

    again = start(mysql_kind, make_dirs(root, log="again"), starter)
    rows = again.logged_rows("led", 2)
    assert rows is not None
    assert len(rows) == found["short"]
    assert again.complaints() == [], "a torn end of the log is no damage"
    again.kill()


def test_a_server_without_a_binary_log_has_none(root: Path, starter: Starter, images: Images) -> None:
    kind = SqliteServer("sqlite", "unknown")
    running = start(kind, images.restore(kind, root), starter)
    assert running.logged_rows("led", 2) is None


def test_a_log_that_is_off_is_none(
    mysql_kind: MysqlServer, root: Path, starter: Starter, images: Images
) -> None:
    running = start(mysql_kind, images.restore(mysql_kind, root), starter, variables={"log_bin": "OFF"})
    assert running.logged_rows("led", 2) is None
    running.kill()
