"""A log of ten thousand sessions that were open at once is replayed with as many connections, on time."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from diskproof import load
from diskproof.system.programs import run

SESSIONS = 10_000
STATEMENTS = 4
APART_US = 50
"""Between the statements of two sessions: 20,000 statements a second."""

pytestmark = pytest.mark.timeout(120)


def write_general_log(path: Path) -> None:
    """Let the sessions connect one after the other, take turns, and leave."""
    begin = datetime(2026, 11, 30, 10)
    what = ["Connect\tapp@localhost on shop using TCP/IP"]
    what += [f"Query\tSELECT c FROM t WHERE id = {number}" for number in range(STATEMENTS)]
    what += ["Quit\t"]
    with path.open("w") as log:
        for round_, command in enumerate(what):
            for session in range(SESSIONS):
                at = begin + timedelta(microseconds=APART_US * (SESSIONS * round_ + session))
                log.write(f"{at.isoformat(timespec='microseconds')}Z\t{session + 1:5} {command}\n")


def test_ten_thousand_sessions_are_replayed_at_once(tmp_path: Path) -> None:
    log, recorded = tmp_path / "general.log", tmp_path / "crowd.load"
    write_general_log(log)
    said = load.import_log([str(log)], recorded, shows_progress=False)
    assert f"{SESSIONS} sessions at once" in said
    done = run([str(load.program()), "run", "replay", str(recorded), "--url", "null:", "--json"])
    assert done.code == 0, done.err
    replay = json.loads(done.out.splitlines()[-1])["replay"]
    assert replay["connections"] == SESSIONS
    assert replay["sent"] == replay["statements"] == SESSIONS * STATEMENTS
    # Half of the statements: the machine may have other work.
    assert replay["own_us"]["p50"] < 1000, replay
