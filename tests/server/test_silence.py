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
