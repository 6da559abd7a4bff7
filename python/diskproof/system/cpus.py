"""CPUs: those that a run may use, and those of them that are kept for what is under test."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from diskproof.refusal import RefusalError

SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
"""CPUs that are one core (Documentation/admin-guide/cputopology.rst of the Linux kernel)."""


@dataclass(frozen=True)
class Division:
    """The CPUs of a run in two parts, by the kernel's numbers."""

    held: tuple[int, ...]
    """For what is under test, and for nothing else that the run starts."""
    others: tuple[int, ...]
    """For everything else; the same as `held` where the run has no more."""
    idle: tuple[int, ...] = ()
    """For nothing: the other threads of the cores that are held."""


def divide(count: int) -> Division:
    """Set `count` CPUs aside, the last ones; RefusalError where the run may use fewer.

    The first CPUs are where interrupts go unless somebody has said otherwise. Threads of one core share
    its speed: where there are more cores than asked for, each CPU is a core of its own, whose other threads
    stay idle. Where there are not, threads of a core stay on one side, as far as the number allows.
    """
    usable = sorted(os.sched_getaffinity(0))
    if count > len(usable):
        have = "1 CPU" if len(usable) == 1 else f"{len(usable)} CPUs"
        raise RefusalError(
            f"`design.cpus` is {count}, and the run may use {have} of this machine: "
            f"`cpus = {len(usable)}` or less, or leave it out"
        )
    by_core = sorted(usable, key=lambda cpu: (_core(cpu), cpu))
    cores = [tuple(threads) for _, threads in groupby(by_core, _core)]
    if count < len(cores):
        return Division(
            held=tuple(sorted(core[0] for core in cores[-count:])),
            others=tuple(sorted(cpu for core in cores[:-count] for cpu in core)),
            idle=tuple(sorted(cpu for core in cores[-count:] for cpu in core[1:])),
        )
    held, others = sorted(by_core[-count:]), sorted(by_core[:-count])
    return Division(tuple(held), tuple(others or held))


def usable() -> tuple[int, ...]:
    """Return the CPUs that this process and what it starts may use."""
    return tuple(sorted(os.sched_getaffinity(0)))


def half(cpus: Collection[int]) -> tuple[int, ...]:
    """Return the last half of some CPUs, of an odd number the smaller part; empty of one CPU.

    Threads of one core stay together: half of them are half of
    the cores, as far as their number allows, and not each core with half of its threads.
    """
    by_core = sorted(cpus, key=lambda cpu: (_core(cpu), cpu))
    return tuple(sorted(by_core[(len(by_core) + 1) // 2 :]))


@contextmanager
def kept_to(cpus: Iterable[int]) -> Iterator[None]:
    """Keep this process to some CPUs, all its threads and what they start, until the end of the block."""
    before = os.sched_getaffinity(0)
    _keep_all_threads(cpus)
    try:
        yield
    finally:
        _keep_all_threads(before)


@contextmanager
def starting_on(cpus: Collection[int] | None) -> Iterator[None]:
    """Let what is started within the block run on some CPUs alone; None: on those of this process.

    A new process has the CPUs of the thread that started it (sched_setaffinity(2)), from its first
    instruction on: no thread of it can have been elsewhere.
    """
    if cpus is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def allowed_cpus(pids: Iterable[int]) -> list[int]:
    """Return the CPUs on which any thread of some processes may run; empty where all of them are gone."""
    found: set[int] = set()
    for pid in pids:
        for thread in _threads(pid):
            try:
                found |= os.sched_getaffinity(thread)
            except ProcessLookupError:
                continue
    return sorted(found)


def _keep_all_threads(cpus: Iterable[int]) -> None:
    """Keep every thread; one that ends meanwhile needs nothing, and one that begins has its parent's CPUs."""
    wanted = set(cpus)
    for thread in _threads(os.getpid()):
        try:
            os.sched_setaffinity(thread, wanted)
        except ProcessLookupError:
            continue


def _threads(pid: int) -> list[int]:
    try:
        return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def _core(cpu: int) -> int:
    """Return the first CPU of the same core; the CPU itself where the kernel does not tell."""
    try:
        first = Path(SIBLINGS.format(cpu)).read_text().replace("-", ",").split(",")[0]
    except OSError:
        return cpu
    return int(first)
