"""A replay on real servers prepares what the log prepared, and does no harm where it cannot."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from diskproof import load
from support.given import PASSWORD, TheirMysql9, Theirs, their_server

pytestmark = pytest.mark.timeout(120)


def replayed(log: Path, theirs: Theirs) -> dict[str, Any]:
    """Import a log and replay it as fast as its order allows; return the run's summary."""
    recorded = log.with_suffix(".load")
    environment = {**os.environ, "DISKPROOF_PASSWORD": PASSWORD}
    url = theirs.url + "?ssl-mode=required" * isinstance(theirs, TheirMysql9)
    for argv in (
        ["import", str(log), "-o", str(recorded)],
        ["run", "replay", str(recorded), "--url", url, "--json"],
    ):
        done = subprocess.run(
            [str(load.program()), *argv], env=environment, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


def test_a_refused_preparation_is_no_error_of_the_run(tmp_path: Path) -> None:
    said = [
        "Connect\tapp@localhost on load using TCP/IP",
        "Prepare\tSELECT a FROM missing WHERE a = ?",
        *(f"Execute\tSELECT a FROM missing WHERE a = {value}" for value in (5, 6)),
        "Prepare\tSELECT 1 + ?",
        "Execute\tSELECT 1 + 2",
        "Quit\t",
    ]
    log = tmp_path / "general.log"
    log.write_text("".join(f"2026-11-30T10:00:00.{at:06}Z\t    7 {line}\n" for at, line in enumerate(said)))
    with their_server("mariadb") as theirs:
        summary = replayed(log, theirs)
    replay = summary["replay"]
    assert [replay["prepared"], replay["prepared_as_text"], replay["sent"]] == [1, 2, 3]
    assert [(error["code"], error["count"]) for error in summary["errors"]] == [("1146", 2)]


@pytest.mark.parametrize("kind", ["mariadb", "mysql9"])
def test_what_the_log_prepares_each_time_is_prepared_each_time(tmp_path: Path, kind: str) -> None:
    said = ["Connect\tapp@localhost on load using TCP/IP", "Prepare\tSELECT 2 + ?"]
    for value in range(40):
        said += ["Prepare\tSELECT 1 + ?", f"Execute\tSELECT 1 + {value}", "Close stmt\t"]
        said += [f"Execute\tSELECT 2 + {value}"]
    log = tmp_path / "general.log"
    log.write_text("".join(f"2026-11-30T10:00:00.{at:06}Z\t    7 {line}\n" for at, line in enumerate(said)))
    with their_server(kind) as theirs:

        def counted() -> list[int]:
            names = ("Com_stmt_prepare", "Com_stmt_close")
            return [int(theirs.ask(f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1]) for name in names]

        before = counted()
        servers_own = theirs.folder / "general.log"
        theirs.ask(f"SET GLOBAL general_log_file = '{servers_own}'", "SET GLOBAL general_log = ON")
        summary = replayed(log, theirs)
        theirs.ask("SET GLOBAL general_log = OFF")
        prepared, closed = (now - then for now, then in zip(counted(), before, strict=True))
        again = replayed(servers_own, theirs)["replay"]
    replay = summary["replay"]
    assert replay["preparations"] == replay["preparations_recorded"] == prepared == 41
    assert again["preparations"] == again["preparations_recorded"] == 41, "as the server wrote it down"
    assert closed >= 39, "the next one takes the place of the one before"
    assert [replay["prepared"], replay["prepared_as_text"], replay["sent"]] == [80, 0, 80]
    assert not summary["errors"], summary["errors"]


def test_postgresql_prepares_in_a_transaction_what_it_has_taken_before(tmp_path: Path) -> None:
    def execution(value: int) -> list[str]:
        parse, execute = (
            f"LOG:  duration: 0.1 ms  {what} p1: SELECT 1 + $1::int" for what in ("parse", "execute")
        )
        return [parse, execute, f"DETAIL:  parameters: $1 = '{value}'"]

    said = [*execution(1), "LOG:  statement: BEGIN", *execution(2), *execution(3), "LOG:  statement: COMMIT"]
    log = tmp_path / "postgresql.log"
    log.write_text(
        "".join(f"2026-11-30 10:00:00.{at:03} UTC [7] app@load {line}\n" for at, line in enumerate(said))
    )
    with their_server("postgresql") as theirs:
        theirs.ask("ALTER SYSTEM SET log_min_duration_statement = 0", "SELECT pg_reload_conf()")
        summary = replayed(log, theirs)
        server_log = (theirs.folder / "log").read_text()
    replay = summary["replay"]
    assert server_log.count(" parse own0_0: SELECT 1 + $1") == 3, server_log
    assert replay["preparations"] == replay["preparations_recorded"] == 3
    assert [replay["prepared"], replay["prepared_as_text"], replay["sent"]] == [3, 0, 5]
    assert not summary["errors"], summary["errors"]


def test_postgresql_keeps_its_transactions_and_its_operators(tmp_path: Path) -> None:
    of_one = ("execute p1: SELECT 1 + $1::int", "parameters: $1 = '1'")
    # The server cannot tell the type of such a value, and refuses to prepare it; as text it is no error.
    unclear = ("execute p2: SELECT $1 IS NULL", "parameters: $1 = '1'")
    said = [
        ("statement: BEGIN", ""),
        unclear,
        of_one,
        ("statement: COMMIT", ""),
        of_one,
        ("statement: DISCARD ALL", ""),
        of_one,
        ("execute p3: SELECT '{\"a\": 1}'::jsonb ? 'a'", ""),
        ("statement: DEALLOCATE p1", ""),
        of_one,
    ]
    log = tmp_path / "postgresql.log"
    with log.open("w") as out:
        for at, (line, detail) in enumerate(said):
            begin = f"2026-11-30 10:00:00.{at:03} UTC [7] app@load "
            out.write(f"{begin}LOG:  {line}\n")
            if detail:
                out.write(f"{begin}DETAIL:  {detail}\n")
    with their_server("postgresql") as theirs:
        summary = replayed(log, theirs)
    replay = summary["replay"]
    assert [replay["prepared"], replay["prepared_as_text"], replay["sent"]] == [3, 3, 9]
    assert replay["left_out"] == {}, "a DEALLOCATE is of the log's own names"
    assert not summary["errors"], summary["errors"]
