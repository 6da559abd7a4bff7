"""The binary log of a real server gives a replay the order of commits, which its general log has wrong."""

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pymysql
import pytest

from diskproof import load
from support.command import diskproof_here
from support.given import PASSWORD, TheirMysql9, Theirs, their_server

pytestmark = pytest.mark.timeout(200)

PAUSE_S = 1.1
"""MariaDB's log has whole seconds: what is more than one apart stays apart in a replay on a busy machine."""

ROUNDS = 20

TABLES = (
    "DROP TABLE IF EXISTS goods, held",
    "CREATE TABLE goods (id INT PRIMARY KEY, stock INT) ENGINE=InnoDB",
    "INSERT INTO goods VALUES (1, 1), (2, 1), (3, 1)",
    "CREATE TABLE held (id INT PRIMARY KEY, n INT) ENGINE=InnoDB",
    "INSERT INTO held VALUES (1, 1)",
)

WAITS = "UPDATE goods SET stock = stock * 2 WHERE id = (SELECT id FROM held WHERE id = 1)"
PASSES_BY = "UPDATE goods SET stock = stock + 10 WHERE id = 1"
IN_TURN = (1 + 10) * 2
OUT_OF_TURN = 1 * 2 + 10


@contextmanager
def client(theirs: Theirs) -> Iterator[Any]:
    """Connect as a client that the server tells apart, and give a function that asks it."""
    with closing(
        pymysql.connect(
            unix_socket=str(theirs.folder / "s"),
            user="root",
            database="load",
            autocommit=True,
            ssl_disabled=True,
        )
    ) as connection:
        yield connection.cursor().execute


def say(theirs: Theirs) -> None:
    """Let one session wait for a row that another one holds, and a third one pass it by."""
    with client(theirs) as holder, client(theirs) as slow, client(theirs) as quick:
        for _ in range(ROUNDS):
            for ask in (slow, quick):
                ask("BEGIN")
                ask("UPDATE goods SET stock = stock + 1 WHERE id > 1")
                ask("SELECT stock FROM goods WHERE id = 3")
                ask("COMMIT")
            time.sleep(0.04)
        holder("BEGIN")
        holder("UPDATE held SET n = n + 1")
        time.sleep(PAUSE_S)
        waiting = threading.Thread(target=slow, args=(WAITS,))
        waiting.start()
        time.sleep(PAUSE_S)
        quick(PASSES_BY)
        time.sleep(PAUSE_S)
        holder("COMMIT")
        waiting.join()


def recorded(theirs: Theirs, folder: Path) -> tuple[Path, list[Path]]:
    """Return the general log, and binary logs that begin before it and end behind it, within an event."""
    log = folder / "general.log"
    theirs.ask(*TABLES, database="load")
    theirs.ask(
        "FLUSH BINARY LOGS",
        "SET GLOBAL log_output = 'FILE'",
        f"SET GLOBAL general_log_file = '{log}'",
        "SET GLOBAL general_log = ON",
    )
    say(theirs)
    assert theirs.ask("SELECT stock FROM goods WHERE id = 1", database="load") == [(IN_TURN,)]
    theirs.ask("SET GLOBAL general_log = OFF")
    theirs.ask("UPDATE goods SET stock = 0", "FLUSH BINARY LOGS", database="load")
    copies = [Path(shutil.copy(path, folder)) for path in sorted(theirs.folder.glob("binary.0*[0-9]"))]
    with copies[-1].open("ab") as live:
        live.write(b"half of a head")
    return log, copies


def replayed(theirs: Theirs, recording: Path) -> tuple[int, dict[str, Any]]:
    """Replay it on new tables; return the stock that the order made, and the certificate."""
    theirs.ask(*TABLES, database="load")
    url = theirs.url + "?ssl-mode=required" * isinstance(theirs, TheirMysql9)
    argv = [str(load.program()), "run", "replay", str(recording), "--url", url, "--json"]
    environment = {**os.environ, "DISKPROOF_PASSWORD": PASSWORD}
    done = subprocess.run(argv, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    ((stock,),) = theirs.ask("SELECT stock FROM goods WHERE id = 1", database="load")
    return stock, json.loads(done.stdout.splitlines()[-1])["replay"]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("mariadb", ()),
        ("mariadb11", ("--binlog-format=ROW",)),
        ("mysql9", ()),
        ("mysql9", ("--binlog-transaction-compression=ON",)),
    ],
)
def test_a_replay_keeps_the_order_of_the_binary_log(
    tmp_path: Path, kind: str, options: tuple[str, ...]
) -> None:
    tmp_path.chmod(0o755)
    with their_server(kind, "--server-id=7", "--log-bin=../binary", *options) as theirs:
        log, binary_logs = recorded(theirs, tmp_path)
        assert len(binary_logs) >= 3
        own, timed = tmp_path / "own.load", tmp_path / "timed.load"
        argv = ["load", "import", log, "-o", own, "--binlog", *binary_logs]
        made = diskproof_here(tmp_path, *map(str, argv))
        assert made.returncode == 0, made.stderr
        commits = 2 * ROUNDS + 3
        assert f"{commits} of {commits} commits have the binary log's order" in made.stdout
        assert "1  a binary log that ends within an event\n" in made.stdout
        assert diskproof_here(tmp_path, "load", "import", str(log), "-o", str(timed)).returncode == 0
        stock, certificate = replayed(theirs, own)
        assert certificate["ordered"] == [commits, commits]
        assert certificate["commits"] == commits
        assert certificate["gave_up_order"] == certificate["refusals_in_replay_only"] == 0
        assert (stock, certificate["commits_overtook"]) == (IN_TURN, 0)
        # By the general log, the one that waited for a row has ended when it began, and the other follows it.
        stock, certificate = replayed(theirs, timed)
        assert certificate["ordered"] is None
        assert stock == OUT_OF_TURN


def test_what_gives_no_order_is_refused_in_words(tmp_path: Path) -> None:
    def refused(log: Path, *binary_logs: Path) -> str:
        argv = ["load", "import", str(log), "-o", "own.load", "--binlog", *map(str, binary_logs)]
        done = diskproof_here(tmp_path, *argv)
        assert done.returncode in (1, 2), done.stdout
        assert not list(tmp_path.glob("own.load*"))
        return done.stderr

    general, postgresql, none = (tmp_path / name for name in ("general.log", "postgresql.log", "none"))
    general.write_text("2026-11-30T10:00:00.000100Z\t    7 Query\tUPDATE goods SET stock = 0\n")
    postgresql.write_text(
        "2026-11-30 10:00:00.123 UTC [7] LOG:  duration: 1.0 ms  statement: DELETE FROM goods\n"
    )
    assert "No such file" in refused(general, none)
    assert "no binary log" in refused(general, general)
    with their_server("mariadb", "--server-id=7", "--log-bin=../binary", "--binlog-format=ROW") as theirs:
        theirs.ask(*TABLES, database="load")
        [binary] = theirs.folder.glob("binary.0*")
        assert "PostgreSQL's log" in refused(postgresql, binary)
        assert "of the same server and time" in refused(general, binary)
