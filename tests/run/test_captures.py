"""What real clients said to real servers over loopback becomes a load, and the load says it again."""

import json
import os
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pymysql
import pytest

from diskproof import load
from support.given import PASSWORD, Theirs, their_server
from support.wire import captured, needs_packets

pytestmark = [pytest.mark.timeout(200), needs_packets]

VALUES: list[tuple[int, str | None]] = [
    (1, "it's"),
    (-2, 'a "quoted" \\ word'),
    (3, None),
    (4, "Übergröße\nund 日本"),
    (5, "x" * 200_000),
]


def program(*arguments: str, theirs: Theirs) -> str:
    environment = {**os.environ, "DISKPROOF_PASSWORD": PASSWORD}
    argv = [str(load.program()), *arguments, "--url", theirs.url]
    done = subprocess.run(argv, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def client(theirs: Theirs) -> Any:
    place = urlsplit(theirs.url)
    if theirs.scheme == "mysql":
        return pymysql.connect(
            host=place.hostname,
            port=place.port or 0,
            user="app",
            password=PASSWORD,
            database="load",
            ssl_disabled=True,
            autocommit=True,
        )
    where = f"host={place.hostname} port={place.port} user=app dbname=load sslmode=disable"
    return psycopg.connect(where, password=PASSWORD, autocommit=True)


def say(theirs: Theirs) -> None:
    """Let an application's own library say what is not easily written down."""
    with closing(client(theirs)) as connection, connection.cursor() as cursor:
        mark = "%s" if theirs.scheme == "mysql" else "%b"
        for number, text in VALUES:
            cursor.execute(f"INSERT INTO notes VALUES ({mark}, %s)", (number, text))
        cursor.execute("SELECT id FROM notes WHERE id > %s", (0,))
        assert len(cursor.fetchall()) == 4
        with pytest.raises((pymysql.Error, psycopg.Error)):
            cursor.execute("SELECT nothing FROM nowhere")


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_what_clients_say_is_captured_and_said_again(tmp_path: Path, kind: str) -> None:
    with their_server(kind) as theirs:
        with closing(client(theirs)) as connection:
            kind_of = "MEDIUMTEXT CHARSET utf8mb4" if theirs.scheme == "mysql" else "TEXT"
            connection.cursor().execute(f"CREATE TABLE notes (id INT, words {kind_of})")
        program("prepare", "oltp", "--tables", "1", "--rows", "300", theirs=theirs)
        with captured(tmp_path / "wire.pcap", theirs.port):
            say(theirs)
            # One client meets no deadlock, which a replay need not meet again.
            options = ["--tables", "1", "--rows", "300", "--clients", "1", "--seconds", "2", "--rate", "50"]
            said = program("run", "oltp", *options, "--json", theirs=theirs)
        summary = json.loads(said.splitlines()[-1])
        argv = [str(load.program()), "import", "wire.pcap", "-o", "wire.load"]
        made = subprocess.run(argv, cwd=tmp_path, check=False, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        count = int(made.stdout.split(": ", 1)[1].split()[0])
        # What the generator counts, the application's own, and what sessions ask when they begin.
        assert summary["statements"] + len(VALUES) + 2 <= count <= summary["statements"] + 60, made.stdout
        assert "Not read" not in made.stdout, made.stdout
        with closing(client(theirs)) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT * FROM notes ORDER BY id")
            before = cursor.fetchall()
            cursor.execute("DELETE FROM notes")
        again = program("run", "replay", str(tmp_path / "wire.load"), "--json", theirs=theirs)
        replay = json.loads(again.splitlines()[-1])["replay"]
        assert replay["sent"] == replay["statements"] == count, replay
        assert replay["refusals_in_replay_only"] == replay["refusals_in_log_only"] == 0, replay
        assert replay["refusals_in_both"] == 1, replay
        assert replay["rows_compared"] > summary["statements"] / 2
        with closing(client(theirs)) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT * FROM notes ORDER BY id")
            assert cursor.fetchall() == before


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_preparations_are_captured_and_made_again(tmp_path: Path, kind: str) -> None:
    lines = []
    for value in range(20):
        at = f"10:00:00.{value:03}"
        if kind == "mariadb":
            said = ["Prepare\tSELECT 1 + ?", f"Execute\tSELECT 1 + {value}", "Close stmt\t"]
            lines += [f"2026-11-30T{at}000Z\t    7 {line}\n" for line in said]
        else:
            told = "LOG:  duration: 0.1 ms "
            said = [f"{told} {what} p1: SELECT 1 + $1::int" for what in ("parse", "execute")]
            said += [f"DETAIL:  parameters: $1 = '{value}'"]
            lines += [f"2026-11-30 {at} UTC [7] app@load {line}\n" for line in said]
    (tmp_path / "own.log").write_text("".join(lines))
    load.import_log([str(tmp_path / "own.log")], tmp_path / "own.load", shows_progress=False)
    replay = ("run", "replay", "--speed", "max", "--json")
    with their_server(kind) as theirs:
        with captured(tmp_path / "wire.pcap", theirs.port):
            first = program(*replay, str(tmp_path / "own.load"), theirs=theirs)
        load.import_log([str(tmp_path / "wire.pcap")], tmp_path / "wire.load", shows_progress=False)
        second = program(*replay, str(tmp_path / "wire.load"), theirs=theirs)
    for summary in (first, second):
        certificate = json.loads(summary.splitlines()[-1])["replay"]
        assert certificate["preparations"] == certificate["preparations_recorded"] == 20, certificate
        assert [certificate["prepared"], certificate["prepared_as_text"]] == [20, 0], certificate
