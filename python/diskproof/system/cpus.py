"""The CPUs that a run may use, and those that are reserved for what is measured."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.system.kernel import kernel_says

SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
"""CPUs of one core (Documentation/admin-guide/cputopology.rst of the Linux kernel)."""


@dataclass(frozen=True)
class Division:
    """The CPUs of a run in two parts, by the kernel's numbers."""

    held: tuple[int, ...]
    """For what is measured, and for nothing else that the run starts."""
    others: tuple[int, ...]
    """For everything else; the same as `held` if the run has no more."""
    idle: tuple[int, ...] = ()
    """For nothing: the other threads of the held cores."""


def divide(count: int) -> Division:
    """Reserve `count` CPUs, the last ones; RefusalError if the run may use fewer.

    Interrupts go to the first CPUs by default. Threads of one core share its speed. If there are more cores
    than requested, each CPU is a core of its own, whose other threads stay idle. If not, the threads of a
    core stay on one side as far as the number allows.
    """
    usable = sorted(os.sched_getaffinity(0))
    if count > len(usable):
        have = "1 CPU" if len(usable) == 1 else f"{len(usable)} CPUs"
        raise RefusalError(
            f"`design.cpus` is {count}, but the run may use {have} of this machine: "
            f"set `cpus` to {len(usable)} or less, or leave it out"
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
    """Return the CPUs that this process and its children may use."""
    return tuple(sorted(os.sched_getaffinity(0)))


def half(cpus: Collection[int]) -> tuple[int, ...]:
    """Return the last half of some CPUs, the smaller part of an odd number; empty for one CPU.

    Threads of one core stay together: half of the CPUs are half of the cores, as far as their number allows.
    """
    by_core = sorted(cpus, key=lambda cpu: (_core(cpu), cpu))
    return tuple(sorted(by_core[(len(by_core) + 1) // 2 :]))


@contextmanager
def kept_to(cpus: Iterable[int]) -> Iterator[None]:
    """Keep this process, all its threads and its children on some CPUs until the end of the block."""
    before = os.sched_getaffinity(0)
    _keep_all_threads(cpus)
    try:
        yield
    finally:
        _keep_all_threads(before)


@contextmanager
def starting_on(cpus: Collection[int] | None) -> Iterator[None]:
    """Start programs within the block on some CPUs only; None: on those of this process.

    A new process inherits the CPUs of the thread that started it (sched_setaffinity(2)) from its first
    instruction on.
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
    """Return the CPUs on which any thread of some processes may run; empty if all of them are gone."""
    found: set[int] = set()
    for pid in pids:
        for thread in _threads(pid):
            try:
                found |= os.sched_getaffinity(thread)
            except ProcessLookupError:
                continue
    return sorted(found)


def _keep_all_threads(cpus: Iterable[int]) -> None:
    """Set the CPUs of every thread. A new thread inherits its parent's CPUs."""
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
    """Return the first CPU of the same core; the CPU itself if the kernel does not report it."""
    return int((kernel_says(SIBLINGS.format(cpu)) or str(cpu)).replace("-", ",").split(",")[0])
