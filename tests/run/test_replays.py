"""A log becomes a load, and a study replays it on the user's own tables; hostile statements go nowhere."""

import os
import subprocess
from pathlib import Path

import pytest

from diskproof import load
from diskproof.results.folder import RunFolder
from support.command import diskproof_here, open_for_others
from support.given import their_server, write_password

pytestmark = pytest.mark.timeout(200)

STUDY = """
question = "How fast is our own load?"
[design]
blocks = 2
warm_up_s = 0
measure_s = 3
memory = ["64 MiB"]
repeat_disturbed = false
[servers.own]
family = "{family}"
[storages.memory]
ram = "1 GiB"
[tunings.safest]
[tunings.fast]
[workloads.own]
kind = "replay"
file = "own.load"
prepare = "tables.sql"
explain = true
"""

TABLES = (
    "CREATE TABLE goods (id INT PRIMARY KEY, stock INT);\nINSERT INTO goods VALUES (1, 5), (2, 5), (3, 5);\n"
)

HOSTILE = {
    "mysql": [
        "DROP DATABASE mysql",
        "SET GLOBAL max_connections = 1",
        "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE goods",
        "SHUTDOWN",
        "SELECT * FROM mysql.user",
    ],
    "postgresql": [
        "DROP DATABASE postgres",
        "ALTER SYSTEM SET port = 1",
        "COPY goods FROM PROGRAM 'id'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT 1; COPY goods FROM PROGRAM 'id'",
        "BEGIN; COPY goods TO PROGRAM 'id'; COMMIT",
    ],
}


def statements(family: str) -> list[tuple[int, float, str]]:
    """Return session, second and text of what two sessions did in two seconds."""
    made = []
    for number in range(160):
        session, at_s = 7 + number % 2, number * 0.0125
        made += [
            (session, at_s, "BEGIN"),
            (session, at_s + 0.001, f"UPDATE goods SET stock = stock + 1 WHERE id = {number % 2 + 1}"),
            (session, at_s + 0.002, "COMMIT"),
            (session, at_s + 0.003, "SELECT stock FROM goods WHERE id = 3"),
        ]
    return made + [(9, 1.0, text) for text in HOSTILE[family]]


def slow_log(said: list[tuple[int, float, str]]) -> str:
    entries = (
        f"# Time: 2026-11-28T10:15:{at_s:09.6f}Z\n# User@Host: a[a] @ localhost []  Id: {session}\n"
        f"# Query_time: 0.000200  Lock_time: 0.000000 Rows_sent: {int(text.startswith('SELECT stock'))}  "
        f"Rows_examined: 0\nuse shop;\nSET timestamp=1795860921;\n{text};\n"
        for session, at_s, text in said
    )
    return "".join(entries)


def postgresql_log(said: list[tuple[int, float, str]]) -> str:
    entries = (
        f"2026-11-28 10:15:{at_s:06.3f} UTC [{session}] a@shop LOG:  duration: 0.200 ms  statement: {text}\n"
        for session, at_s, text in said
    )
    return "".join(entries)


LOGS = {"mysql": slow_log, "postgresql": postgresql_log}


def written(folder: Path, family: str, tables: str = TABLES) -> None:
    said = sorted(statements(family), key=lambda one: one[1])
    (folder / "own.log").write_text(LOGS[family](said))
    result = diskproof_here(folder, "load", "import", "own.log", "--output", "own.load")
    assert not result.returncode, result.stderr
    assert "3 sessions" in result.stdout
    (folder / "study.toml").write_text(STUDY.format(family=family))
    (folder / "tables.sql").write_text(tables)


@pytest.mark.parametrize("family", LOGS)
def test_a_log_is_replayed_on_the_user_s_tables(tmp_path: Path, family: str) -> None:
    written(tmp_path, family)
    open_for_others(tmp_path)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 10, 11, 12), result.stdout + result.stderr  # 12: late beside others
    (path,) = (tmp_path / "runs" / "study").iterdir()
    trials = RunFolder.open(path).trials()
    for trial in trials:
        assert trial.load is not None
        said = trial.load.replay
        assert said is not None
        assert said.left_out == {"it would leave the database": len(HOSTILE[family])}
        assert said.sent == said.statements - len(HOSTILE[family]) == 640
        assert said.refusals_in_replay_only == said.rows_different == said.gave_up_order == 0
        assert said.commits == 160
        assert "goods" in said.plans["SELECT stock FROM goods WHERE id=?"]
        assert len(said.plans) == 1
        assert not [one for one in trial.findings if one.check in ("replay-data", "replay-sent")]
    report = (path / "report.md").read_text()
    if result.returncode != 12:
        assert "The least true trial of each cell." in report
        assert "UPDATE goods SET stock=stock+? WHERE id=?" in report


OURS = 'family = "mysql"\n[storages.memory]\nram = "1 GiB"\n[tunings.safest]\n[tunings.fast]\n'


def test_a_log_is_replayed_on_a_server_that_is_there_already(tmp_path: Path) -> None:
    written(tmp_path, "mysql")
    text = (tmp_path / "study.toml").read_text()
    assert OURS in text
    with their_server("mariadb") as theirs:
        there = f'url = "{theirs.url}"\npassword_file = "{write_password(tmp_path)}"\n'
        text = text.replace('memory = ["64 MiB"]\n', "").replace("blocks = 2", "blocks = 1")
        (tmp_path / "study.toml").write_text(text.replace(OURS, there))
        result = diskproof_here(tmp_path, "run", "study.toml")
        assert result.returncode in (0, 10, 11, 12), result.stdout + result.stderr
        (path,) = (tmp_path / "runs" / "study").iterdir()
        (trial,) = RunFolder.open(path).trials()
        assert trial.finished, trial.findings
        assert theirs.ask("SELECT SUM(stock) FROM goods", database="load") == [(15 + 160,)]


def test_other_data_are_found_out(tmp_path: Path) -> None:
    written(tmp_path, "mysql", TABLES.replace("stock INT", "stocks INT"))
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert "of the statements, which it did not in the log" in " ".join(result.stdout.split())
    assert result.returncode == 12


def test_a_replay_s_study_is_refused_before_anything_starts(tmp_path: Path) -> None:
    written(tmp_path, "mysql")
    study = tmp_path / "study.toml"
    text = study.read_text()
    for wrong, words in (
        (text.replace('"mysql"', '"postgresql"'), "another family of servers"),
        (text.replace("own.load", "own.log"), "is no load"),
        (text.replace("own.load", "none.load"), "there is no file"),
        (text + "clients = [4]\n", "the log's sessions"),
        (text + "begin = 900\n", "lies behind the load's end"),
        (text + "speed = -1\n", "speed"),
        (text + 'database = "crm"\n', "no statement of the database"),
    ):
        study.write_text(wrong)
        result = diskproof_here(tmp_path, "plan", "study.toml")
        assert result.returncode == 2, wrong
        assert words in " ".join(result.stderr.split()), result.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no log of statements is recognised"),
        (b"CREATE TABLE t (a INT);\n", "no log of statements is recognised"),
        (b"2026-11-28 10:15:21.123 UTC [7] LOG:  checkpoint starting: time\n", "log_min_duration_statement"),
        (b"11/28/26 10:15 x LOG:  duration: 1 ms  statement: SELECT 1\n", "--prefix"),
        (b"\x1f\x8b\x08\x00broken", "own.log"),
    ],
)
def test_what_is_no_log_is_refused_in_words(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "own.log").write_bytes(content)
    result = diskproof_here(tmp_path, "load", "import", "own.log", "-o", "own.load")
    assert result.returncode in (1, 2)
    assert words in result.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["own.log"]


def test_a_pipe_is_refused_before_it_is_fenced_in(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "own.log")
    result = diskproof_here(tmp_path, "load", "import", "own.log", "-o", "own.load")
    assert result.returncode == 2
    assert "own.log: it is a pipe, not a regular file" in result.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["own.log"]


def test_a_file_that_is_no_load_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "own.log").write_text(slow_log(statements("mysql")))
    (tmp_path / "precious").write_text("mine")
    result = diskproof_here(tmp_path, "load", "import", "own.log", "-o", "precious")
    assert result.returncode == 2
    assert "name another file" in result.stderr
    assert (tmp_path / "precious").read_text() == "mine"


def test_an_anonymous_load_has_none_of_the_log_s_values(tmp_path: Path) -> None:
    said = [(7, number * 0.01, f"SELECT 'Ann Miller', {4_711_000 + number}") for number in range(50)]
    (tmp_path / "own.log").write_text(slow_log(said))
    argv = [str(load.program()), "import", "own.log", "-o", "own.load", "--anonymise"]
    subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True)
    content = (tmp_path / "own.load").read_bytes()
    assert b"Miller" not in content
    assert b"47110" not in content
