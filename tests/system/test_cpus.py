"""CPUs set aside for what is under test: the kernel's own word on who may run where."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.refusal import RefusalError
from diskproof.system import cpus
from diskproof.system.counters import host_counters
from diskproof.system.cpus import allowed_cpus, divide, half, kept_to
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter

USABLE = sorted(os.sched_getaffinity(0))
needs_two = pytest.mark.skipif(len(USABLE) < 2, reason="one CPU has no other beside it")

WITH_A_CHILD = """
import subprocess, sys, threading
threading.Thread(target=sys.stdin.read, daemon=True).start()
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
print(child.pid, flush=True)
sys.stdin.read()
child.communicate()
"""

BURN_ON = """
import os, sys, time
os.sched_setaffinity(0, [int(sys.argv[1])])
while time.process_time() < 0.2: pass
"""


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path))
    journal = Journal.begin("test of CPUs")
    yield journal
    journal.finish()


@needs_two
def test_a_program_its_threads_and_its_children_keep_to_their_cpus(journal: Journal) -> None:
    starter = Starter(journal, USABLE[-1:])
    process = starter.start(
        [sys.executable, "-c", WITH_A_CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout
    child = int(process.stdout.readline())
    assert len(list(Path(f"/proc/{process.pid}/task").iterdir())) >= 2
    assert allowed_cpus([process.pid, child]) == USABLE[-1:]
    assert sorted(os.sched_getaffinity(0)) == USABLE  # the lab itself is where it was
    process.communicate()
    assert allowed_cpus([process.pid, child]) == []


@needs_two
def test_whoever_starts_nothing_in_particular_shares_the_cpus_of_the_lab(journal: Journal) -> None:
    with kept_to(USABLE[:1]):
        process = Starter(journal).start(["sleep", "60"])
        allowed = allowed_cpus([process.pid])
        process.kill()
        process.wait()
    assert allowed == USABLE[:1]


@needs_two
def test_all_threads_of_the_lab_make_room_and_come_back() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    with pytest.raises(ZeroDivisionError), kept_to(USABLE[:1]):
        during = allowed_cpus([os.getpid()])
        raise ZeroDivisionError
    after = [sorted(os.sched_getaffinity(int(task.name))) for task in Path("/proc/self/task").iterdir()]
    stop.set()
    thread.join()
    assert during == USABLE[:1]
    assert all(cpus == USABLE for cpus in after)
    assert len(after) >= 2


def usable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cores: dict[int, str]) -> None:
    """Let this be a process that may use some CPUs; each core is told as the kernel tells it."""
    for cpu, siblings in cores.items():
        (tmp_path / f"cpu{cpu}").write_text(f"{siblings}\n")
    monkeypatch.setattr(cpus, "SIBLINGS", str(tmp_path / "cpu{}"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(cores))


@pytest.mark.parametrize(
    ("cores", "count", "held", "others", "idle"),
    [
        ({0: "0", 1: "1"}, 1, (1,), (0,), ()),
        ({0: "0", 1: "1"}, 2, (0, 1), (0, 1), ()),
        ({0: "0,4", 4: "0,4", 1: "1,5", 5: "1,5"}, 1, (1,), (0, 4), (5,)),
        ({0: "0,4", 4: "0,4", 1: "1,5", 5: "1,5"}, 2, (1, 5), (0, 4), ()),
        ({0: "0,4", 4: "0,4", 1: "1,5", 5: "1,5"}, 3, (1, 4, 5), (0,), ()),
        ({0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}, 2, (2, 3), (0, 1), ()),
        ({0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3", 4: "4-5", 5: "4-5"}, 2, (2, 4), (0, 1), (3, 5)),
        ({3: "3", 7: "7"}, 1, (7,), (3,), ()),
    ],
)
def test_enough_cores_are_reserved_with_one_thread_each(
    cores: dict[int, str],
    count: int,
    held: tuple[int, ...],
    others: tuple[int, ...],
    idle: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    usable(monkeypatch, tmp_path, cores)
    division = divide(count)
    assert (division.held, division.others, division.idle) == (held, others, idle)


@pytest.mark.parametrize(
    ("cores", "of", "kept"),
    [
        ({0: "0", 1: "1"}, (0, 1), (1,)),
        ({0: "0,4", 4: "0,4", 1: "1,5", 5: "1,5"}, (0, 1, 4, 5), (1, 5)),
        ({0: "0", 1: "1", 2: "2"}, (0, 1, 2), (2,)),
        ({0: "0", 1: "1", 2: "2", 3: "3"}, (2, 3), (3,)),
        ({0: "0"}, (0,), ()),
    ],
)
def test_half_of_some_cpus_is_half_of_their_cores(
    cores: dict[int, str],
    of: tuple[int, ...],
    kept: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    usable(monkeypatch, tmp_path, cores)
    assert half(of) == kept


def test_without_core_numbers_cpus_count_by_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usable(monkeypatch, tmp_path, {0: "0", 1: "1"})
    (tmp_path / "cpu1").unlink()
    assert divide(1).held == (1,)


def test_more_cpus_than_there_are_is_refused() -> None:
    with pytest.raises(
        RefusalError, match=rf"`design.cpus` is {len(USABLE) + 1}, .* `cpus` to {len(USABLE)} or less"
    ):
        divide(len(USABLE) + 1)


@needs_two
def test_the_busy_time_of_some_cpus_is_theirs_alone() -> None:
    """A process that burns on one CPU: that one's time moves, and is part of the whole."""
    before = host_counters(USABLE[-1:])
    subprocess.run([sys.executable, "-c", BURN_ON, str(USABLE[-1])], check=True)
    after = host_counters(USABLE[-1:])
    assert before.held_cpu_busy_s is not None
    assert after.held_cpu_busy_s is not None
    used_s = after.host_cpu_busy_s - before.host_cpu_busy_s
    assert 0.15 <= after.held_cpu_busy_s - before.held_cpu_busy_s <= used_s + 0.02
    assert host_counters().held_cpu_busy_s is None
