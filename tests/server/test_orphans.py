"""What PostgreSQL's main process leaves behind when it is killed: still known, and ended."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diskproof.server.base import Running, ServerKind, ServerNotFoundError
from diskproof.server.postgresql import PostgresqlServer, cluster, find_postgresql
from diskproof.system.journal import Journal, clean
from diskproof.system.processes import Starter
from support.servers import Images, connect, is_gone, start


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


def segments() -> set[str]:
    """Return the numbers of all System V shared memory of this machine (proc(5))."""
    return {line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}


def test_a_killed_server_leaves_no_lock_in_the_kernel(
    postgresql: ServerKind, root: Path, starter: Starter, images: Images
) -> None:
    dirs = images.restore(postgresql, root)
    running = start(postgresql, dirs, starter)
    segment = cluster.lock_segment(dirs)
    assert segment in segments()
    running.kill()
    assert segment not in segments()
    assert cluster.lock_segment(dirs) == segment, "its pid file still names it"
    (dirs.data / "postmaster.pid").write_text("")
    assert cluster.lock_segment(dirs) is None


KILLED_RUN = """
    import os, signal, sys, time
    from pathlib import Path
    from diskproof.server.postgresql import PostgresqlServer, find_postgresql
    from diskproof.system.journal import Journal
    from diskproof.system.processes import Starter, mapped_files
    from support.servers import connect, make_dirs, start
    journal = Journal.begin("doomed")
    dirs = make_dirs(Path(sys.argv[1]))
    running = start(PostgresqlServer(find_postgresql(), "postgresql"), dirs, Starter(journal))
    with connect(running) as client:
        client.run("SELECT 1")
    time.sleep(0.2)
    mapped = {file for pid in running.pids for file in mapped_files(pid)}
    print(*(file for file in mapped if "PostgreSQL." in file.name), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_clean_removes_the_shared_memory_of_a_killed_runs_server(
    postgresql: ServerKind, root: Path, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    images.restore(postgresql, root)
    program = [sys.executable, "-c", textwrap.dedent(KILLED_RUN), str(root)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where it finds what tests share
    killed = subprocess.run(program, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    segments = [Path(word) for word in killed.stdout.split()]
    assert len(segments) > 1, "the list, and what a helper of the server has made"
    undone = clean()
    assert all(item.done for item in undone)
    assert {f"file {segment}" for segment in segments} <= {item.what for item in undone}
    assert not [segment for segment in segments if segment.exists()]
