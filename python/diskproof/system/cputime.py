"""CPU time that processes use and wait for, thread by thread."""

import math
import os
import threading
import time
from collections.abc import Callable

from diskproof.results.usage import CpuUse
from diskproof.system.counters import cpu_time_s
from diskproof.system.kernel import kernel_says

MOST_CPU = 0.01
"""Share of one CPU that reading the waits may cost: a thousand threads are read about every two seconds."""


class CpuAccount:
    """Follows processes from its first look on.

    When a thread ends, its waiting time since the last reading is lost: at most a second, or a few with
    thousands of threads. Its running time stays with its process, and a child's with its parent.
    """

    def __init__(self, pids: Callable[[], list[int]]) -> None:
        """Follow the processes that `pids` returns at each look; later ones count from their start."""
        self._pids = pids
        self._begun = False
        self._used_at_first_s = self._used_s = 0.0
        self._waited_ns = 0
        self._seen_ns: dict[tuple[int, int], int] = {}
        self._met = False
        self._read_again_at_s = -math.inf
        self._keeps_account = _kernel_keeps_account()

    def look(self, *, exact: bool = False) -> CpuUse | None:
        """Return what was used and waited for since the first look; None while there was no process.

        If there are so many threads that looking would cost more than `MOST_CPU`, the waiting time is that of
        the last reading. With `exact`, and at the first look, it is always read.

        `waited_s` is the time in which threads were ready to run and had no CPU (the second figure of
        schedstat, in ns: Documentation/scheduler/sched-stats.rst of the Linux kernel).
        """
        pids = self._pids()
        self._met |= bool(pids)
        # If all processes are gone, nothing can be read any more: keep the last figure.
        self._used_s = max(self._used_s, cpu_time_s(pids))
        if self._keeps_account and (exact or time.monotonic() >= self._read_again_at_s):
            began_s = time.thread_time()
            self._add_waits(pids)
            self._read_again_at_s = time.monotonic() + (time.thread_time() - began_s) / MOST_CPU
        if not self._begun:
            self._begun, self._used_at_first_s = True, self._used_s
        if not self._met:
            return None
        return CpuUse(
            used_s=self._used_s - self._used_at_first_s,
            waited_s=self._waited_ns / 1e9 if self._keeps_account else None,
        )

    def _add_waits(self, pids: list[int]) -> None:
        now_ns = {(pid, tid): waited_ns for pid in pids for tid, waited_ns in _waits_ns(pid)}
        if self._begun:
            for thread, waited_ns in now_ns.items():
                before_ns = self._seen_ns.get(thread, 0)
                # A reused number begins at 0.
                self._waited_ns += waited_ns - before_ns if waited_ns >= before_ns else waited_ns
        self._seen_ns = now_ns


def _waits_ns(pid: int) -> list[tuple[int, int]]:
    """Return for each thread of a process how long it has waited for a CPU since it began."""
    tasks = f"/proc/{pid}/task"
    found = []
    try:
        for tid in os.listdir(tasks):  # noqa: PTH208 - of a thousand threads a second, names alone
            try:
                with open(f"{tasks}/{tid}/schedstat", "rb", buffering=0) as file:  # noqa: PTH123 - likewise
                    found.append((int(tid), int(file.read().split()[1])))
            except (FileNotFoundError, ProcessLookupError):
                continue
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def _kernel_keeps_account() -> bool:
    """Return whether schedstat exists and counts: if it does not count, each of its figures is 0."""
    text = kernel_says(f"/proc/self/task/{threading.get_native_id()}/schedstat")
    return text is not None and int(text.split()[0]) > 0  # this thread runs
