"""A replay on real servers prepares what the log prepared, and does no harm where it cannot."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from diskproof import load
from support.given import PASSWORD, Theirs, their_server

pytestmark = pytest.mark.timeout(120)


def replayed(log: Path, theirs: Theirs) -> dict[str, Any]:
    """Import a log and replay it as fast as its order allows; return the run's summary."""
    recorded = log.with_suffix(".load")
    environment = {**os.environ, "DISKPROOF_PASSWORD": PASSWORD}
    for argv in (
        ["import", str(log), "-o", str(recorded)],
        ["run", "replay", str(recorded), "--url", theirs.url, "--json"],
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
