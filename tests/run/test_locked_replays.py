"""Replays of sessions that lock tables, on real servers: their commits have rows of ours, and block none."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from diskproof import load
from support.given import PASSWORD, TheirMysql9, their_server

pytestmark = pytest.mark.timeout(120)

ROUNDS = 20


def log_of() -> str:
    """Return a general log: two sessions lock a table each at once, the second without autocommit."""
    lines = [
        (7, "Connect\tapp@localhost on load using TCP/IP"),
        (8, "Connect\tapp@localhost on load using TCP/IP"),
    ]
    lines += [(9, "Connect\tapp@localhost on load using TCP/IP"), (8, "Query\tSET autocommit=0")]
    for _ in range(ROUNDS):
        lines += [
            (7, "Query\tLOCK TABLES seven WRITE"),
            (8, "Query\tLOCK TABLE eight AS e WRITE, eight WRITE"),
        ]
        for _ in range(2):
            # Each follows the commits of the others, while the tables of both are locked.
            lines += [
                (7, "Query\tUPDATE seven SET a = a + 1"),
                (9, "Query\tUPDATE nine SET a = a + 1"),
                (8, "Query\tUPDATE eight SET a = a + 1"),
                (8, "Query\tCOMMIT"),
                (7, "Query\tSELECT a FROM nine"),
            ]
        lines += [(8, "Query\tUPDATE eight SET a = a + 1"), (8, "Query\tUNLOCK TABLES")]
        lines += [(7, "Query\tUNLOCK TABLES")]
    return "".join(
        f"2026-11-30T10:00:00.{at:06}Z\t    {session} {line}\n" for at, (session, line) in enumerate(lines)
    )


@pytest.mark.parametrize("kind", ["mariadb", "mysql9"])
@pytest.mark.parametrize("speed", ["1", "max"])
def test_commits_under_locks_have_rows_of_ours(tmp_path: Path, kind: str, speed: str) -> None:
    log, recorded, told = tmp_path / "general.log", tmp_path / "own.load", tmp_path / "told"
    log.write_text(log_of())
    with their_server(kind) as theirs:
        for table in ("seven", "eight", "nine"):
            theirs.ask(
                f"CREATE TABLE {table} (a INT) ENGINE=InnoDB",
                f"INSERT INTO {table} VALUES (0)",
                database="load",
            )
        # Of an earlier load.
        theirs.ask("CREATE TABLE diskproof_commits_0 (client INT) ENGINE=InnoDB", database="load")
        environment = {**os.environ, "DISKPROOF_PASSWORD": PASSWORD}
        url = theirs.url + "?ssl-mode=required" * isinstance(theirs, TheirMysql9)
        replay = ["run", "replay", str(recorded), "--speed", speed, "--url", url, "--json"]
        for argv in (["import", str(log), "-o", str(recorded)], [*replay, "--acknowledgements", str(told)]):
            command = [str(load.program()), *argv]
            done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        summary = json.loads(done.stdout.splitlines()[-1])
        values = [
            theirs.ask(f"SELECT a FROM {table}", database="load")[0][0]
            for table in ("seven", "eight", "nine")
        ]
        tables = theirs.ask("SHOW TABLES LIKE 'diskproof%'", database="load")
        rows = [
            (table, *row)
            for (table,) in tables
            for row in theirs.ask(f"SELECT client, number FROM {table}", database="load")
        ]
    assert values == [2 * ROUNDS, 3 * ROUNDS, 2 * ROUNDS]
    lines = told.read_text().splitlines()
    assert not [line for line in lines if "!" in line], "each write has a row"
    assert sorted(row[1:] for row in rows) == sorted(tuple(map(int, line.split()[:2])) for line in lines)
    counts = {table: sum(row[0] == table for row in rows) for (table,) in tables}
    # The clients are those of the sessions, in their order.
    assert counts == {
        "diskproof_commits": 2 * ROUNDS,
        "diskproof_commits_0": 2 * ROUNDS,
        "diskproof_commits_1": 3 * ROUNDS,
        "diskproof_commits_2": 0,
    }
    assert summary["replay"]["gave_up_order"] == 0, "a session waits for another one, which its lock holds up"
    # The tables stay locked when a row of ours commits: others cannot be read.
    assert [(error["code"], error["count"]) for error in summary["errors"]] == [("1100", 2 * ROUNDS)]
