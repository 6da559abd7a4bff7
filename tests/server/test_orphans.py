"""What PostgreSQL's main process leaves behind when it is killed: still known, and ended."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from diskproof.server.base import Running, ServerKind, ServerNotFoundError
from diskproof.server.postgresql import PostgresqlServer, find_postgresql
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter
from support.servers import Images, connect, start


@pytest.fixture
def postgresql() -> ServerKind:
    try:
        return PostgresqlServer(find_postgresql(), "postgresql")
    except ServerNotFoundError as error:
        pytest.skip(str(error))


@contextmanager
def orphan_of(running: Running) -> Iterator[int]:
    """Kill the main process while a backend is too busy to notice (here: stopped); yield its pid."""
    with connect(running) as client:
        ((backend,),) = client.run("SELECT pg_backend_pid()")
        os.kill(backend, signal.SIGSTOP)
        os.kill(running.pids[0], signal.SIGKILL)
        end = time.monotonic() + 10
        while (running.alive or len(running.pids) > 1) and time.monotonic() < end:
            time.sleep(0.01)
        yield backend


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("verb", ["kill", "stop"])
def test_a_backend_that_outlives_the_server_is_known_and_ended(
    postgresql: ServerKind, root: Path, starter: Starter, images: Images, verb: str
) -> None:
    running = start(postgresql, images.restore(postgresql, root), starter)
    with orphan_of(running) as backend:
        assert not running.alive
        assert running.pids == [backend]
        if verb == "kill":
            running.kill()
        else:
            assert not running.stop(), "it did not end by itself"
        assert is_gone(backend)
        assert running.pids == []


def test_clean_ends_a_backend_that_outlives_the_server(
    postgresql: ServerKind, root: Path, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    journal = Journal.begin("a run that is killed")
    place = journal.directory(root / "place")
    place.chmod(0o755)
    running = start(postgresql, images.restore(postgresql, place), Starter(journal))
    with orphan_of(running) as backend:
        undone = journal.finish()
        assert is_gone(backend)
    assert all(item.done for item in undone)
    assert f"process {backend}" in [item.what for item in undone]
    assert not place.exists()
