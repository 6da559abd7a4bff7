"""What the threads of processes are at, this moment: on a CPU, in a file, or asleep for something else.

What was seen (Linux 6.18; MariaDB 10.11, PostgreSQL 15, SQLite 3 inside the load generator), and why threads
are told apart as they are:

- A thread of MariaDB or MySQL that serves a client waits for its statements in ``poll`` on one socket, for
  row locks, for others' commits and for mutexes in a futex, and writes and flushes binary log and redo log
  itself (MySQL 8 and later flush the redo log in a thread of its own, while clients wait in a futex).
  Dozens of idle threads sleep in futexes as well. So a sleep without a known reason counts only of threads
  that were once found waiting for a client; flushing, reading and writing, and computing count of all.
- PostgreSQL waits for a client in ``epoll_wait`` on a set with its socket in it, and for a row lock in
  ``epoll_wait`` too, on a set without one; for others' commits it sleeps in a futex. Its helpers sleep in
  sets without sockets and are told apart as above.
- SQLite waits for a lock by sleeping for a while and trying again: of its threads the clock is such a wait.
  A worker of the load generator that waits for the time of its next transaction sleeps in a timed futex.
- Pages that InnoDB writes by asynchronous requests (io_uring, libaio) are written by nobody: the thread that
  waits for their completion is idle, and the kernel's helpers (``iou-wrk-…``) show no file.
- What a disk in memory answers at once is never found asleep: it counts as computing.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from diskproof.results.usage import Act
from diskproof.system.syscalls import Purpose, purposes


class Sight(NamedTuple):
    """What a thread is at."""

    act: Act
    path: str | None = None
    """Of the file that it flushes, reads or writes."""
    serves: bool = False
    """Whether it serves a client; False as long as it was never found waiting for one."""


MOST_KEPT_OPEN = 400
"""Descriptors that stay open from look to look, of the 1,024 that a process may usually have."""

_FUTEX_LIMIT = 3
"""Which argument of futex(2) is the time after which it goes on; 0 is none."""

_COUNTS_DESCRIPTORS: dict[Purpose, int] = {"select": 0, "poll": 1}
"""Which argument of a call is how many descriptors it waits for, or one more than the highest of them."""

_FILE_ACTS: dict[Purpose, Act] = {"flush": "flushing", "read": "reading", "write": "writing"}


@dataclass(eq=False)
class _Thread:
    """One thread that is looked at."""

    pid: int
    path: str
    descriptor: int | None = None
    serves: bool = False
    """Whether it was ever found waiting for a client, or is a worker of an embedded database."""
    sets: dict[int, bool] = field(default_factory=dict)
    """Of its epoll sets: whether there is a socket in it. A server makes them once and keeps them."""
    idle_as: bytes = b""
    """The kernel's line when it was last found idle: most are idle in one place all the time."""

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


class Threads:
    """Looks at the threads of processes, as often as one likes; not from two threads at a time.

    A look costs about 5 us of CPU a thread. New threads are found when the list is renewed: `renew` does, and
    a look that finds a thread gone.
    """

    def __init__(self, pids: Callable[[], list[int]], *, embedded_workers: str | None = None) -> None:
        """Look at the processes that `pids` names whenever the list is renewed.

        Where the database is inside another program, `embedded_workers` is how the names of those threads
        begin that work in it: no others count.
        """
        self._pids = pids
        self._workers = embedded_workers
        self._purposes = purposes()
        self._threads: dict[tuple[int, int], _Thread] = {}
        self._stale = True
        self._refused = self._purposes is None

    @property
    def refused(self) -> bool:
        """Whether the kernel, or our not knowing it, does not let us look (any more)."""
        return self._refused

    @property
    def serving(self) -> int:
        """How many of the threads are known to serve clients, at work or not."""
        return sum(thread.serves for thread in self._threads.values())

    def renew(self) -> None:
        """List the threads anew at the next look."""
        self._stale = True

    def look(self) -> list[Sight] | None:
        """Return what each thread that is not idle is at; None where the kernel does not let us see it.

        None as well where there is no thread to look at.

        Idle is who waits for a client's next statement, for a clock, or for his own queue of requests.
        """
        if self._stale or not self._threads:
            self._list()
        sights = []
        for key, thread in list(self._threads.items()):
            if self._refused:
                break
            try:
                sight = self._sight(thread)
            except PermissionError:
                self._refused = True
            except OSError:  # it has ended
                self._threads.pop(key).close()
                self._stale = True
            else:
                if sight is not None:
                    sights.append(sight)
        return None if self._refused or not self._threads else sights

    def close(self) -> None:
        """Let go of all descriptors."""
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
        """Return what one thread is at; None: it is idle."""
        assert self._purposes is not None
        text = self._read(thread)
        if text == thread.idle_as:
            return None
        if text.startswith(b"running"):  # on a CPU, or ready for one
            return Sight("computing", None, thread.serves)
        number, *arguments = text.split()
        purpose = self._purposes.get(number)
        if purpose in _FILE_ACTS:
            path = _path(thread.pid, arguments[0])
            if path.startswith("/"):
                return Sight(_FILE_ACTS[purpose], path, thread.serves)
            thread.serves |= path.startswith("socket:")  # as for pipes, another end is waited for
            return None
        sight = self._asleep(thread, purpose, arguments)
        thread.idle_as = text if sight is None else b""
        return sight

    def _asleep(self, thread: _Thread, purpose: Purpose | None, arguments: list[bytes]) -> Sight | None:
        """Return what a thread that sleeps in no file waits for; None: nothing that is counted."""
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
        """Return the kernel's line on a thread; OSError where it has ended."""
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
        """Tell whether an epoll set has a socket in it (its targets stand in fdinfo: proc(5))."""
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


def _path(pid: int, argument: bytes) -> str:
    """Return what lies behind a descriptor, read anew each time: numbers are given out again."""
    return _link(pid, _descriptor(argument))


def _link(pid: int, descriptor: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/{descriptor}")  # noqa: PTH115 - a Path costs more than the call
    except FileNotFoundError:  # closed meanwhile
        return ""


def _descriptor(argument: bytes) -> int:
    return int(argument, 16) & 0xFFFFFFFF  # the kernel takes the lower half of the register


def _name(folder: str) -> str:
    try:
        with open(f"{folder}/comm") as file:  # noqa: PTH123 - in a loop
            return file.read()
    except OSError:
        return ""
