"""A replay lets the server explain what it read: plans differ without an index, and have no values."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from diskproof import load
from support.given import AS_APP, PASSWORD, TheirMysql9, Theirs, their_server

pytestmark = pytest.mark.timeout(120)

QUERY = "SELECT stock FROM goods WHERE name = 'Ann Miller' ORDER BY stock"

SAID = [
    QUERY,
    QUERY.replace("Ann", "Bob"),
    "UPDATE goods SET stock = 1 WHERE id = 1",
    "SELECT none FROM goods",
]

TABLES = (
    "CREATE TABLE goods (id INT PRIMARY KEY, name VARCHAR(40), stock INT)",
    "CREATE INDEX by_name ON goods (name)",
    "INSERT INTO goods WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
    "SELECT i, concat('n', i), i FROM n",
)

ANALYZE = {"mysql": "ANALYZE TABLE goods", "postgresql": "ANALYZE goods"}

NO_INDEX = {"mysql": "DROP INDEX by_name ON goods", "postgresql": "DROP INDEX by_name"}

PLANS = {
    "mysql": ("filesort (goods ref by_name", "filesort (goods ALL"),
    "postgresql": ("Sort (Index Scan by_name goods)", "Sort (Seq Scan goods)"),
}

LINES = {
    "mysql": "2026-11-30T10:00:00.{:06}Z\t    7 Query\t{}\n",
    "postgresql": "2026-11-30 10:00:00.{:03} UTC [7] app@load LOG:  statement: {}\n",
}


def plans(folder: Path, theirs: Theirs, said: list[str], *options: str) -> dict[str, str]:
    """Replay statements; return the plans in the certificate by their statements."""
    log, recorded = folder / "own.log", folder / "own.load"
    log.write_text("".join(LINES[theirs.scheme].format(at, sql) for at, sql in enumerate(said)))
    environment = {**os.environ, "DISKPROOF_PASSWORD": PASSWORD}
    url = theirs.url + "?ssl-mode=required" * isinstance(theirs, TheirMysql9)
    for argv in (
        ["import", str(log), "-o", str(recorded)],
        ["run", "replay", str(recorded), "--url", url, "--json", *options],
    ):
        done = subprocess.run(
            [str(load.program()), *argv], env=environment, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])["replay"]["plans"]
    return found


@pytest.mark.parametrize("kind", ["mariadb", "mysql9", "postgresql"])
def test_a_plan_names_the_key_and_no_value(tmp_path: Path, kind: str) -> None:
    with their_server(kind) as theirs:
        theirs.ask(AS_APP[theirs.scheme], *TABLES, ANALYZE[theirs.scheme], database="load")
        before = plans(tmp_path, theirs, SAID, "--explain")
        theirs.ask(AS_APP[theirs.scheme], NO_INDEX[theirs.scheme], database="load")
        after = plans(tmp_path, theirs, SAID, "--explain")
        assert not plans(tmp_path, theirs, SAID)
    (name,) = before.keys() & after.keys()
    assert name.startswith("SELECT stock FROM goods WHERE name=? ORDER BY stock")
    for found, expected in zip((before, after), PLANS[theirs.scheme], strict=True):
        assert len(found) == 1, "what only writes or is refused has no plan"
        assert expected in found[name]
        assert "Miller" not in found[name]


def test_to_explain_writes_nothing(tmp_path: Path) -> None:
    """The planner runs what is said to be immutable."""
    made = [
        "CREATE TABLE ticks (id INT)",
        "CREATE FUNCTION inner_tick() RETURNS int LANGUAGE plpgsql VOLATILE AS "
        "'BEGIN INSERT INTO ticks VALUES (1); RETURN 1; END'",
        "CREATE FUNCTION tick() RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN inner_tick(); END'",
    ]
    with their_server("postgresql") as theirs:
        theirs.ask("SET ROLE app", *made, database="load")
        for option, rows in ((), 1), (("--explain",), 2):
            said = ["BEGIN", "COMMIT", "SELECT 1 FROM ticks WHERE id = tick()"]
            assert not plans(tmp_path, theirs, said, *option)
            assert theirs.ask("SELECT count(*) FROM ticks", database="load") == [(rows,)]
