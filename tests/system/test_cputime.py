"""CPU time and waiting for it, by the kernel's account of threads that really run."""

import os
import subprocess
import sys
import time

import pytest

from diskproof.results.usage import CpuUse
from diskproof.system import cputime
from diskproof.system.counters import between
from diskproof.system.cputime import CpuAccount

BURN = "import time\nwhile time.process_time() < {seconds}: pass"


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_use_before_the_first_look_does_not_count() -> None:
    burn(0.1)
    account = CpuAccount(lambda: [os.getpid()])
    first = account.look()
    assert first is not None
    assert first.used_s == 0
    burn(0.2)
    used = account.look()
    assert used is not None
    assert 0.15 <= used.used_s <= 0.4


@pytest.mark.skipif(not cputime._kernel_keeps_account(), reason="the kernel keeps no account of waiting")
def test_two_that_share_one_cpu_wait_for_each_other() -> None:
    """Started after the first look: they count from their start."""
    found: list[subprocess.Popen[bytes]] = []
    account = CpuAccount(lambda: [process.pid for process in found])
    assert account.look() is None, "there is nobody yet"
    cpu = str(min(os.sched_getaffinity(0)))
    code = BURN.format(seconds=0.5) + "\ntime.sleep(60)"
    found += [subprocess.Popen(["taskset", "-c", cpu, sys.executable, "-c", code]) for _ in range(2)]
    try:
        end = time.monotonic() + 30
        while (both := account.look()) and both.used_s < 0.9 and time.monotonic() < end:
            time.sleep(0.05)
    finally:
        for process in found:
            process.kill()
            process.wait()
    assert both is not None
    assert both.used_s >= 0.9
    assert both.waited_s is not None
    assert both.waited_s >= 0.3, "while one runs the other waits"
    after = account.look()
    assert after is not None
    assert after.used_s >= both.used_s, "what was used stays used when its process has gone"
    assert after.waited_s == both.waited_s


def test_a_thread_number_given_out_anew_begins_at_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {7: [(7, 100), (8, 900)]}
    monkeypatch.setattr(cputime, "_kernel_keeps_account", lambda: True)
    monkeypatch.setattr(cputime, "_waits_ns", lambda pid: told[pid])
    account = CpuAccount(lambda: [7])
    account.look()
    monkeypatch.setattr(cputime, "MOST_CPU", float("inf"))
    account.look(exact=True)
    told[7] = [(7, 150), (8, 30), (9, 5)]  # 8 is another thread than before
    look = account.look()
    assert look is not None
    assert look.waited_s == pytest.approx(85e-9)


def test_waits_of_thousands_of_threads_are_read_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reading costs 20 ms of CPU here: at 1% of a CPU not before two seconds are over."""
    read = 0

    def slow(_: int) -> list[tuple[int, int]]:
        nonlocal read
        read += 1
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        return [(7, 1000 * read)]

    monkeypatch.setattr(cputime, "_kernel_keeps_account", lambda: True)
    monkeypatch.setattr(cputime, "_waits_ns", slow)
    account = CpuAccount(lambda: [7])
    for _ in range(5):
        account.look()
    assert read == 1
    last = account.look(exact=True)
    assert read == 2
    assert last is not None
    assert last.waited_s == pytest.approx(1e-6)


def test_without_schedstat_there_is_no_waiting_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cputime, "_kernel_keeps_account", lambda: False)
    account = CpuAccount(lambda: [os.getpid()])
    account.look()
    look = account.look()
    assert look is not None
    assert look.waited_s is None
    assert between(CpuUse(used_s=1, waited_s=0.5), CpuUse(used_s=3, waited_s=None)).waited_s is None


def test_between_two_looks() -> None:
    used = between(CpuUse(used_s=1, waited_s=0.5), CpuUse(used_s=3, waited_s=0.75))
    assert used == CpuUse(used_s=2, waited_s=0.25)
