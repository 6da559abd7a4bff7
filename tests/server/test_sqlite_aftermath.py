"""SQLite after a crash: whoever writes is killed, the journal is played back, and damage is found."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from diskproof.families.sqlite import SQLITE
from diskproof.server import lifecycle, sqlite
from diskproof.server.base import ServerFailedError, ServerTooSlowError
from diskproof.server.lifecycle import wait_until
from diskproof.server.log import ServerLog
from diskproof.server.sqlite import SqliteServer
from diskproof.system.processes import Starter
from support.servers import Images, connect, make_dirs, start

WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(f"PRAGMA journal_mode = {sys.argv[2]}")
connection.execute("PRAGMA cache_size = 2")  # what is not committed is written too
for row in range(1000, 1015):
    connection.execute("BEGIN")
    connection.execute("UPDATE sbtest2 SET c = ?", (f"of {row}",))
    connection.execute("INSERT INTO sbtest1 VALUES (?, 'late')", (row,))
    connection.execute("COMMIT")
connection.execute("BEGIN")
connection.execute("UPDATE sbtest2 SET c = 'never'")
print(row, flush=True)
sys.stdin.read()
"""

KIND = SqliteServer("sqlite", "unknown")


@pytest.mark.parametrize("journal_mode", ["wal", "delete", "truncate", "persist"])
def test_what_a_killed_writer_left_is_whole(
    root: Path, starter: Starter, images: Images, journal_mode: str
) -> None:
    dirs = images.restore(KIND, root)
    arguments = [sys.executable, "-c", WRITER, str(dirs.data / "sbtest.db"), journal_mode]
    piped = subprocess.PIPE
    with subprocess.Popen(arguments, stdin=piped, stdout=piped, text=True) as writer:
        assert writer.stdout is not None
        last = int(writer.stdout.readline())
        writer.kill()
    assert len(list(dirs.data.iterdir())) > 1, "a journal or a log lies beside the database"

    running = start(KIND, dirs, starter, variables={"journal_mode": journal_mode})
    assert running.rows("SELECT id FROM sbtest1 WHERE c LIKE 'late%' ORDER BY id DESC LIMIT 1") == [(last,)]
    assert running.rows("SELECT DISTINCT c FROM sbtest2") == [(f"of {last}",)], (
        "nothing of what was under way"
    )
    assert running.damage() == []
    assert running.complaints() == []
    assert [setting.observed for setting in running.read_settings() if setting.name == "journal_mode"] == [
        journal_mode
    ]


def test_a_damaged_database_says_so(root: Path, starter: Starter, images: Images) -> None:
    dirs = images.restore(KIND, root)
    running = start(KIND, dirs, starter)
    file = dirs.data / "sbtest.db"
    whole = file.read_bytes()

    with connect(running) as client:
        client.run("CREATE INDEX by_c ON sbtest1 (c)")
    file.write_bytes(file.read_bytes().replace(b"row 250", b"rov 250", 1))
    (found,) = start(KIND, dirs, starter).damage()
    assert "missing from index by_c" in found

    page = 3 * SQLITE.page_bytes
    file.write_bytes(whole[:page] + b"\xa5" * SQLITE.page_bytes + whole[page + SQLITE.page_bytes :])
    assert start(KIND, make_dirs(root), starter).damage()

    file.write_bytes(b"\xa5" * 100 + whole[100:])
    with pytest.raises(ServerFailedError, match="file is not a database"):
        start(KIND, dirs, starter)


def test_an_orphan_of_a_foreign_key_is_damage(root: Path, starter: Starter, images: Images) -> None:
    running = start(KIND, images.restore(KIND, root), starter)
    with connect(running) as client:
        client.run("CREATE TABLE child (parent INTEGER REFERENCES sbtest1 (id))")
        client.run("INSERT INTO child VALUES (-5)")
    assert running.damage() == ["child: row 1 refers to a row of sbtest1 that is missing"]


def test_a_question_has_a_limit(
    root: Path, starter: Starter, images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start(KIND, images.restore(KIND, root), starter)
    monkeypatch.setattr(sqlite, "CHECK_LIMIT_S", 0.2)
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(ServerFailedError, match=r"did not answer 'WITH RECURSIVE.*interrupted"):
        running.rows(endless)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_a_question_that_takes_too_long_is_told_from_one_that_fails(
    root: Path, starter: Starter, images: Images
) -> None:
    running = start(KIND, images.restore(KIND, root), starter)
    assert isinstance(running, sqlite.SqliteRunning)
    with pytest.raises(ServerTooSlowError):
        running.ask(0.05, ENDLESS)
    with pytest.raises(ServerFailedError) as failed:
        running.ask(5.0, "SELECT nothing")
    assert not isinstance(failed.value, ServerTooSlowError)


REFUSED = "(1115, 'Unknown character set')"


def told_of_damage(what: str) -> ServerFailedError:
    error = ServerFailedError(what)
    error.complaints = ["page 7 is torn"]
    return error


@pytest.mark.parametrize(("program", "slow"), [(["sleep", "60"], True), (["true"], False)])
def test_a_start_that_takes_too_long_is_told_from_one_that_fails(program: list[str], slow: bool) -> None:
    with subprocess.Popen(program) as process:
        if not slow:
            process.wait()
        with pytest.raises(ServerFailedError) as failed:
            wait_until(lambda: REFUSED, process, deadline_s=0.05, failure=told_of_damage)
    assert isinstance(failed.value, ServerTooSlowError) == slow
    assert failed.value.complaints == ["page 7 is torn"]
    assert str(failed.value).endswith(REFUSED) == slow, "the last attempt to connect"


@pytest.mark.parametrize(
    ("silent", "failure", "said"),
    [
        (False, told_of_damage, "took no connection within"),
        (True, told_of_damage, "reported damage, then nothing for 60 s"),
        (True, ServerFailedError, "took no connection within"),
    ],
    ids=["speaks", "is stuck", "is slow and sound"],
)
def test_a_server_that_told_of_damage_and_fell_silent_is_not_waited_for_to_the_end(
    tmp_path: Path, silent: bool, failure: Callable[[str], ServerFailedError], said: str
) -> None:
    log = ServerLog(tmp_path / "error.log")
    log.path.write_text("[ERROR] page 7 is torn\n")
    if silent:
        os.utime(log.path, (0, 0))
    with subprocess.Popen(["sleep", "60"]) as process, pytest.raises(ServerTooSlowError, match=said):
        wait_until(lambda: REFUSED, process, deadline_s=0.5, failure=failure, log=log)


def test_a_silent_log_is_read_once_for_each_size_that_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recovery is timed meanwhile, and its log may have gigabytes."""
    monkeypatch.setattr(lifecycle, "LOOK_S", 0.05)
    log = ServerLog(tmp_path / "error.log")
    log.path.write_text("recovering\n")
    os.utime(log.path, (0, 0))
    read: list[str] = []

    def sound(what: str) -> ServerFailedError:
        read.append(what)
        if len(read) == 1:
            log.path.write_text("recovering\nstill\n")
            os.utime(log.path, (0, 0))
        return ServerFailedError(what)

    with subprocess.Popen(["sleep", "60"]) as process, pytest.raises(ServerTooSlowError, match="connection"):
        wait_until(lambda: REFUSED, process, deadline_s=0.5, failure=sound, log=log)
    assert [what for what in read if not what] == ["", ""]


@pytest.mark.parametrize("damaged", [True, False])
def test_a_file_that_was_changed_while_it_served_is_told_in_words(
    root: Path, starter: Starter, images: Images, damaged: bool
) -> None:
    dirs = images.restore(KIND, root)
    running = start(KIND, dirs, starter)
    file = dirs.data / "sbtest.db"
    file.write_bytes(b"no database") if damaged else file.unlink()
    with pytest.raises(ServerFailedError, match="SQLite did not answer"):
        running.read_settings()
    assert damaged or not file.exists()
