"""A server in main memory, so that the client is what is compared and not the disk."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from diskproof.families import Family
from diskproof.server.base import Dirs, Running
from diskproof.server.registry import find
from diskproof.storage.layout import Layout
from diskproof.storage.places import Places
from diskproof.study.storages import StorageChoice
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter

BOUNDED = {"innodb_max_purge_lag": "2000000", "innodb_log_file_size": str(2**30)}
"""Updates wait while purge is further behind than that. On one core an endless load would otherwise fill the
memory with undo logs: the faster the machine, the sooner.

And the log does not become full. Clients that wait for room in it spin; on Linux 6.18 the scheduler then let
io_uring's worker, whose writes make room, wait for minutes on that core: it was runnable and never ran."""


@dataclass(frozen=True)
class Server:
    """A running server and its address."""

    running: Running
    socket: Path
    database: str = "sbtest"

    @property
    def url(self) -> str:
        """As diskproof-load is given it."""
        return self.running.url

    @contextmanager
    def on(self, cpus: set[int]) -> Iterator[None]:
        """Hold every thread of the server to these CPUs for a while."""
        before = os.sched_getaffinity(0)
        self._hold(cpus)
        try:
            yield
        finally:
            self._hold(before)

    def _hold(self, cpus: set[int]) -> None:
        # A new thread has the CPUs of the one that made it, which is among these.
        # A session's process may end meanwhile.
        for pid in self.running.pids:
            with suppress(FileNotFoundError, ProcessLookupError):
                for thread in Path(f"/proc/{pid}/task").iterdir():
                    os.sched_setaffinity(int(thread.name), cpus)


def mariadb_in_memory(max_clients: int) -> AbstractContextManager[Server]:
    """Start MariaDB as `in_memory` does."""
    return in_memory("mysql", max_clients)


@contextmanager
def in_memory(family: Family, max_clients: int) -> Iterator[Server]:
    """Start a server on a tmpfs at the unsafe level; it is gone at the end."""
    journal = Journal.begin("bench")
    try:
        starter = Starter(journal)
        layout = Layout("bench", StorageChoice.model_validate({"ram": "4 GiB"}), Places(journal))
        runtime = journal.directory(Path(tempfile.gettempdir()) / f"diskproof-{journal.mark}")
        for name in ("run", "log"):
            (runtime / name).mkdir()
        dirs = Dirs(**layout.fresh(), run=runtime / "run", log=runtime / "log")
        kind = find(family)
        kind.initialise(dirs, starter)
        settings = kind.loading_settings(dirs, memory_bytes=2**30, max_clients=max_clients)
        bounded = BOUNDED if family == "mysql" else {}
        settings = replace(settings, level={**settings.level, **bounded})
        running = kind.start(dirs, settings, starter)
        try:
            yield Server(running, next(path for path in dirs.run.iterdir() if path.is_socket()))
        finally:
            running.stop()
    finally:
        journal.finish()
