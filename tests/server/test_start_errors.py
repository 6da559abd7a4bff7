"""Why a server did not start: its first error stands in the first line, where tables and progress show it."""

import re
from pathlib import Path

import pytest

from diskproof.results.machine import ServerFacts
from diskproof.server.base import Settings
from diskproof.server.log import ServerLog, why_not_started

FACTS = ServerFacts(name="db", family="mysql", flavour="MariaDB", version="10.11.6")

MARIADB = """2026-11-22  0:01:02 0 [Note] InnoDB: Starting crash recovery from checkpoint LSN=1
2026-11-22  0:01:02 0 [ERROR] InnoDB: Missing FILE_CHECKPOINT(1) at 2
2026-11-22  0:01:02 0 [ERROR] Plugin 'InnoDB' init function returned error.
"""
POSTGRESQL = """2026-11-22 00:01:02 UTC [7] FATAL:  the database system is starting up
2026-11-22 00:01:02 UTC [8] PANIC:  could not locate a valid checkpoint record
"""


@pytest.mark.parametrize(
    ("said", "first"),
    [
        (MARIADB, "it died: [ERROR] InnoDB: Missing FILE_CHECKPOINT(1) at 2"),
        (POSTGRESQL, "it died: PANIC:  could not locate a valid checkpoint record"),
        ("some words\n", "it died"),
        ("", "it died"),
    ],
)
def test_the_first_line_has_the_first_error(tmp_path: Path, said: str, first: str) -> None:
    log = ServerLog(tmp_path / "error.log")
    log.path.write_text(said)
    settings = Settings(common={}, level={})
    lines = str(why_not_started(FACTS, settings, re.compile(r"(\w+) refused"), "it died", log)).splitlines()
    assert lines[0] == f"MariaDB 10.11.6 {first}"
    assert lines[1] == f"last lines of {log.path}:"
    assert lines[2:] == (said.splitlines() or ["(empty)"])
