"""What the threads of processes do at one moment: on a CPU, in a file, or asleep.

Observations (Linux 6.18; MariaDB 10.11, PostgreSQL 15, SQLite 3 inside the load generator) that explain how
threads are classified:

- A client thread of MariaDB or MySQL waits for statements in ``poll`` on one socket. It waits for row locks,
  for others' commits and for mutexes in a futex. It writes and flushes binary log and redo log itself, but
  from MySQL 8 on a separate thread flushes the redo log while clients wait in a futex.
- Dozens of idle threads sleep in futexes too. So a sleep of unknown reason counts only for threads that once
  waited for a client. Flushing, reading, writing and computing count for all threads.
- PostgreSQL waits for a client in ``epoll_wait`` on a set with its socket, and for a row lock on a set
  without one; for others' commits it sleeps in a futex. Its helpers sleep in sets without sockets.
- SQLite waits for a lock by sleeping and trying again, so the clock is a lock wait for its threads. A worker
  of the load generator that waits for its next transaction sleeps in a timed futex.
- No thread writes the pages that InnoDB writes by asynchronous requests (io_uring, libaio): the thread that
  waits for their completion counts as idle, and the kernel's helpers (``iou-wrk-…``) show no file.
- A disk in memory answers at once, so its threads never sleep: they count as computing.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from diskproof.results.usage import Act
from diskproof.system.syscalls import Purpose, purposes


class Sight(NamedTuple):
    """What one thread does."""

    act: Act
    path: str | None = None
    """The file that it flushes, reads or writes."""
    serves: bool = False
    """Whether it serves a client; False until it is seen waiting for one."""


MOST_KEPT_OPEN = 400
"""Descriptors that stay open between looks, of the 1,024 that a process may usually have."""

_FUTEX_LIMIT = 3
"""The argument of futex(2) with the time limit; 0 is none."""

_COUNTS_DESCRIPTORS: dict[Purpose, int] = {"select": 0, "poll": 1}
"""The argument of a call with the number of descriptors, or one more than the highest of them."""

_FILE_ACTS: dict[Purpose, Act] = {"flush": "flushing", "read": "reading", "write": "writing"}


@dataclass(eq=False)
class _Thread:
    """One thread."""

    pid: int
    path: str
    descriptor: int | None = None
    serves: bool = False
    """Whether it ever waited for a client, or is a worker of an embedded database."""
    sets: dict[int, bool] = field(default_factory=dict)
    """Its epoll sets: whether one contains a socket. A server makes them once and keeps them."""
    idle_as: bytes = b""
    """The kernel's line when it was last idle: most threads are idle in the same call all the time."""

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


class Threads:
    """Looks at the threads of processes; not from two threads at a time.

    A look costs about 5 us of CPU per thread. `renew`, and a look that finds a thread gone, renew the list of
    threads.
    """

    def __init__(self, pids: Callable[[], list[int]], *, embedded_workers: str | None = None) -> None:
        """Look at the processes that `pids` returns whenever the list is renewed.

        If the database is inside another program, only threads whose names begin with `embedded_workers`
        count.
        """
        self._pids = pids
        self._workers = embedded_workers
        self._purposes = purposes()
        self._threads: dict[tuple[int, int], _Thread] = {}
        self._stale = True
        self.refused = self._purposes is None
        """Whether the kernel denies access, or the machine's system calls are unknown."""

    @property
    def serving(self) -> int:
        """How many threads are known to serve clients, busy or not."""
        return sum(thread.serves for thread in self._threads.values())

    def renew(self) -> None:
        """Renew the list of threads at the next look."""
        self._stale = True

    def look(self) -> list[Sight] | None:
        """Return what each busy thread does; None if the kernel denies access, or there is no thread.

        A thread is idle if it waits for a client's next statement, for a clock, or for its own queue of
        requests.
        """
        if self._stale or not self._threads:
            self._list()
        sights = []
        for key, thread in list(self._threads.items()):
            if self.refused:
                break
            try:
                sight = self._sight(thread)
            except PermissionError:
                self.refused = True
            except OSError:  # it has ended
                self._threads.pop(key).close()
                self._stale = True
            else:
                if sight is not None:
                    sights.append(sight)
        return None if self.refused or not self._threads else sights

    def close(self) -> None:
        """Close all descriptors."""
        for thread in self._threads.values():
            thread.close()
        self._threads.clear()

    def _list(self) -> None:
        self._stale = False
        found: set[tuple[int, int]] = set()
        for pid in self._pids():
            tasks = f"/proc/{pid}/task"
            try:
                found.update((pid, int(tid)) for tid in os.listdir(tasks))  # noqa: PTH208 - many, names alone
            except OSError:
                continue
        for key in self._threads.keys() - found:
            self._threads.pop(key).close()
        for pid, tid in sorted(found - self._threads.keys()):
            folder = f"/proc/{pid}/task/{tid}"
            if self._workers is None or _name(folder).startswith(self._workers):
                serves = self._workers is not None
                self._threads[pid, tid] = _Thread(pid, f"{folder}/syscall", serves=serves)

    def _sight(self, thread: _Thread) -> Sight | None:
        """Return what one thread does; None if it is idle."""
        assert self._purposes is not None
        text = self._read(thread)
        if text == thread.idle_as:
            return None
        if text.startswith(b"running"):  # on a CPU, or ready for one
            return Sight("computing", None, thread.serves)
        number, *arguments = text.split()
        purpose = self._purposes.get(number)
        if purpose in _FILE_ACTS:
            path = _link(thread.pid, _descriptor(arguments[0]))
            if path.startswith("/"):
                return Sight(_FILE_ACTS[purpose], path, thread.serves)
            thread.serves |= path.startswith("socket:")  # like a pipe: it waits for the other end
            return None
        sight = self._asleep(thread, purpose, arguments)
        thread.idle_as = text if sight is None else b""
        return sight

    def _asleep(self, thread: _Thread, purpose: Purpose | None, arguments: list[bytes]) -> Sight | None:
        """Return what a thread that sleeps outside of files waits for; None if that does not count."""
        if purpose in _COUNTS_DESCRIPTORS:
            none = arguments[_COUNTS_DESCRIPTORS[purpose]] == b"0x0"
            purpose = "clock" if none else "client"
        if purpose == "client" or (purpose == "set" and self._has_socket(thread, arguments[0])):
            thread.serves = True
            return None
        if self._workers is not None:
            timed = purpose == "futex" and arguments[_FUTEX_LIMIT] != b"0x0"
            return None if timed or purpose in ("queue", "signal") else Sight("waiting", None, thread.serves)
        if thread.serves and purpose in ("futex", "set", None):
            return Sight("waiting", None, thread.serves)
        return None

    def _read(self, thread: _Thread) -> bytes:
        """Return the kernel's line on a thread; OSError if it has ended."""
        if thread.descriptor is not None:
            return os.pread(thread.descriptor, 256, 0)
        descriptor = os.open(thread.path, os.O_RDONLY | os.O_CLOEXEC)
        if len(self._threads) <= MOST_KEPT_OPEN:
            thread.descriptor = descriptor
            return os.pread(descriptor, 256, 0)
        try:
            return os.pread(descriptor, 256, 0)
        finally:
            os.close(descriptor)

    def _has_socket(self, thread: _Thread, argument: bytes) -> bool:
        """Return whether an epoll set contains a socket (fdinfo lists its targets: proc(5))."""
        descriptor = _descriptor(argument)
        if descriptor not in thread.sets:
            try:
                with open(f"/proc/{thread.pid}/fdinfo/{descriptor}") as info:  # noqa: PTH123 - in a loop
                    targets = [line.split()[1] for line in info if line.startswith("tfd:")]
            except FileNotFoundError:  # closed meanwhile
                return False
            kinds = [_link(thread.pid, int(target)) for target in targets]
            thread.sets[descriptor] = any(kind.startswith("socket:") for kind in kinds)
        return thread.sets[descriptor]


def _link(pid: int, descriptor: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/{descriptor}")  # noqa: PTH115 - a Path costs more than the call
    except FileNotFoundError:  # closed meanwhile
        return ""


def _descriptor(argument: bytes) -> int:
    return int(argument, 16) & 0xFFFFFFFF  # the kernel uses the lower half of the register


def _name(folder: str) -> str:
    try:
        with open(f"{folder}/comm") as file:  # noqa: PTH123 - in a loop
            return file.read()
    except OSError:
        return ""
