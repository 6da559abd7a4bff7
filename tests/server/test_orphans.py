"""What PostgreSQL's main process leaves behind when it is killed: still known, and ended."""

import ctypes
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from diskproof.server.base import Running, ServerKind, ServerNotFoundError
from diskproof.server.postgresql import PostgresqlRunning, PostgresqlServer, find_postgresql
from diskproof.system import shared_memory
from diskproof.system.journal import Journal, clean
from diskproof.system.processes import Starter
from diskproof.system.run_processes import processes_of
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


def segments(column: int = 1) -> set[str]:
    """Return the numbers (or keys: column 0) of all System V shared memory of this machine (proc(5))."""
    return {line.split()[column] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}


def files() -> set[Path]:
    """Return the files of PostgreSQL's shared memory."""
    return set(shared_memory.FILES.glob("PostgreSQL.*"))


def test_a_killed_server_leaves_nothing_in_the_kernel(
    postgresql: ServerKind, root: Path, starter: Starter, images: Images
) -> None:
    running = start(postgresql, images.restore(postgresql, root), starter)
    assert isinstance(running, PostgresqlRunning)
    of_it = set(mapped_files(running.pids))
    assert len(of_it) > 1, "the list, and what a helper of the server has made"
    lock = Path(root / "data" / "postmaster.pid").read_text().splitlines()[6].split()[1]
    assert shared_memory.remove(running.memory) == [], "a living server keeps its own"
    assert lock in segments()
    running.kill()
    assert lock not in segments()
    assert not of_it & files()


def mapped_files(pids: list[int]) -> list[Path]:
    """Return the files of shared memory that processes have mapped."""
    lines = []
    for pid in pids:
        with suppress(OSError):
            lines += Path(f"/proc/{pid}/maps").read_text().splitlines()
    return [Path(line.split()[5]) for line in lines if "/dev/shm/PostgreSQL." in line]


DOOMED = """
    import sys
    from pathlib import Path
    from diskproof.server.postgresql import PostgresqlServer, find_postgresql
    from diskproof.system.journal import Journal
    from diskproof.system.processes import Starter
    from support.servers import make_dirs
    journal = Journal.begin("doomed")
    place = journal.directory(Path(sys.argv[1]) / "place")
    place.chmod(0o755)
    server = PostgresqlServer(find_postgresql(), "postgresql")
    dirs = make_dirs(place)
    print(journal.mark, flush=True)
    server.initialise(dirs, Starter(journal))
"""


def test_clean_removes_the_shared_memory_of_a_run_killed_amid_a_start(
    postgresql: ServerKind, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed as soon as initdb or the server has a segment: none of them has answered by then."""
    del postgresql
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where it finds what tests share
    data = root / "place" / "data"
    for wait_s in (0.0, 0.05, 0.8):
        program = [sys.executable, "-c", textwrap.dedent(DOOMED), str(root)]
        doomed = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
        assert doomed.stdout is not None
        mark = doomed.stdout.readline().strip()
        key = str(ctypes.c_int32(data.stat().st_ino).value)
        end = time.monotonic() + 20
        while key not in segments(0) and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(wait_s)
        of_it = set(mapped_files([process.pid for process in processes_of(mark)]))
        doomed.kill()
        doomed.communicate()
        assert all(item.done for item in clean())
        assert key not in segments(0)
        assert not of_it & files()
