"""A load generator that hangs: the lab gives up, and says where it stood."""

from pathlib import Path

import pytest

from diskproof import load
from diskproof.system.processes import Starter


def test_a_silent_load_is_given_up_with_what_its_threads_wait_for(starter: Starter, tmp_path: Path) -> None:
    """Nobody lets it begin, so after `ready` it says nothing."""
    silent = load.Load(starter, "null:", "oltp", ["--clients", "1", "--seconds", "1"], tmp_path / "log")
    try:
        events = silent.events(1.0 - load.SILENCE_S)
        assert next(events)["event"] == "ready"
        with pytest.raises(load.LoadFailedError, match=r"nothing for 1 s; its threads: \d+ x .* in \w+"):
            next(events)
    finally:
        silent.end()


FAILED = """#!/bin/sh
exec <&-
echo '{"event": "ready", "protocol": 1}'
sleep 0.3
echo '{"event": "failed", "code": "lost", "message": "the server is gone"}'
"""


def test_what_a_load_says_that_failed_as_it_was_to_go_on_is_heard(
    starter: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    program.write_text(FAILED)
    program.chmod(0o755)
    monkeypatch.setattr(load, "program", lambda: program)
    failed = load.Load(starter, "null:", "oltp", [], tmp_path / "log")
    with pytest.raises(load.LoadFailedError, match="the server is gone"):
        try:
            for event in failed.events(1.0):
                assert event["event"] == "ready"
                failed.go_on()
        finally:
            failed.end()
