"""One started PostgreSQL: asked, stopped and killed."""

import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.rows import TupleRow

from diskproof.families.postgresql.account import account
from diskproof.families.samples import Samples, Status
from diskproof.results.usage import ServerAccount
from diskproof.server.base import ANSWER_LIMIT_S, CHECK_LIMIT_S, DATABASE
from diskproof.server.lifecycle import describe_death, kill_orphans, kill_tree, wait_for_end
from diskproof.server.postgresql import aftermath, cluster, options
from diskproof.server.process import ServerProcess
from diskproof.system.processes import children
from diskproof.system.run_processes import processes_in
from diskproof.system.shared_memory import Owner, remove

WAITING_SESSIONS = """
    SELECT wait_event_type || ':' || wait_event, count(*) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()
      AND wait_event_type NOT IN ('Activity', 'Client')
    GROUP BY 1"""

Connection = psycopg.Connection[TupleRow]


class PostgresqlRunning(ServerProcess[Connection]):
    """A started PostgreSQL."""

    driver_error = psycopg.Error
    version: tuple[int, ...]
    memory: Owner
    """Whose shared memory it leaves if it is killed."""
    _onlooker: Connection | None = None

    @property
    def pids(self) -> list[int]:
        """The server's processes now: the first one, its helpers, one for each connection."""
        if self.alive:
            return [self._process.pid, *children(self._process.pid)]
        return [orphan.pid for orphan in processes_in([self._dirs.data])]

    @property
    def url(self) -> str:
        """Where diskproof-load finds the database."""
        return f"postgresql://{cluster.SUPERUSER}@localhost/{DATABASE}?socket={quote(str(self._dirs.run))}"

    def refuses_connections(self) -> str:
        """Return why the server cannot be asked yet; empty if it can."""
        return super().refuses_connections() if self._says_ready() else "it has not reported that it is ready"

    def make_database(self) -> None:
        """Make the workloads' database and the tablespace for temporary files."""
        self._query(f"CREATE TABLESPACE {options.TMP_TABLESPACE} LOCATION '{self._dirs.tmp.resolve()}'")
        self._query(f"CREATE DATABASE {DATABASE}")

    def _observed(self) -> Mapping[str, tuple[str, str]]:
        rows = self._query("SELECT name, setting, coalesce(unit, '') FROM pg_settings")
        return {name.lower(): (setting, unit) for name, setting, unit in rows}

    def status(self) -> Status:
        """Return the statistics of the database, the WAL and the checkpointer, named ``view.column``.

        A backend hands its counts in at most once a second.
        """
        figures: list[tuple[str, object]] = []
        for view in self._statistics_views():
            where = f" WHERE datname = '{DATABASE}'" if view == "pg_stat_database" else ""
            for (row,) in self._query(f"SELECT row_to_json(v) FROM {view} v{where}"):  # noqa: S608 - ours
                figures += [
                    (f"{view}.{name}", value) for name, value in row.items() if not name.endswith("id")
                ]
        return self._family.status(figures)

    def account(self, samples: Samples) -> ServerAccount:
        """Return what the statuses of a while say."""
        names = "'track_io_timing', 'track_wal_io_timing'"
        rows = self._query(f"SELECT name FROM pg_settings WHERE setting = 'on' AND name IN ({names})")  # noqa: S608
        on = {name for (name,) in rows}
        return account(samples, times_input="track_io_timing" in on, times_wal="track_wal_io_timing" in on)

    def waiting_sessions(self) -> dict[str, int] | None:
        """Return how many backends of clients wait for what, by ``wait_event_type:wait_event``.

        From version 10 on, which distinguishes them from the server's own helpers.
        """
        if self.version < (10,):
            return None
        if self._onlooker is None:
            try:
                self._onlooker = self._connect(None, ANSWER_LIMIT_S)
            except psycopg.Error as error:
                raise self._failed(f"cannot be asked what its sessions wait for: {error}") from error
        return dict(self._ask(self._onlooker, ANSWER_LIMIT_S, WAITING_SESSIONS))

    def settle(self) -> None:
        """Vacuum, freeze and analyse: what autovacuum would do to freshly loaded tables."""
        self._ask_at_length(["VACUUM (FREEZE, ANALYZE)", "CHECKPOINT"])

    def preload(self) -> None:
        """Read tables and indexes by pg_prewarm: a scan would keep to a small ring of buffers."""
        self._ask_at_length(
            [
                "CREATE EXTENSION IF NOT EXISTS pg_prewarm",
                "SELECT sum(pg_prewarm(oid)) FROM pg_class WHERE relkind IN ('r', 'i') "
                "AND relnamespace = 'public'::regnamespace",
            ]
        )

    def stop(self, deadline_s: float = 60.0) -> bool:
        """Shut down with a checkpoint if the data are kept, and at once if they are thrown away."""
        self._disconnect()
        if self.alive:
            self._process.send_signal(signal.SIGINT if self._settings.kept else signal.SIGQUIT)
        ended = wait_for_end(self._process, deadline_s)
        ended = not kill_orphans(self._dirs.data) and ended
        remove(self.memory)  # nothing is left of it unless it had to be killed
        return ended

    def kill(self) -> None:
        """Kill every process of the server, and those that outlived their main process."""
        self._disconnect()
        kill_tree(self._process)
        kill_orphans(self._dirs.data)
        remove(self.memory)

    def _says_ready(self) -> bool:
        """Return whether the server's own pid file calls it ready (PostgreSQL 10 and later).

        Connecting before that would fill its log with refusals. The pid file of a killed server names
        another process.
        """
        if self.version < (10,):
            return True
        try:
            lines = (self._dirs.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return lines[:1] == [str(self._process.pid)] and lines[7:] != [] and lines[7].strip() == "ready"

    def _statistics_views(self) -> list[str]:
        since = {"pg_stat_wal": (14,), "pg_stat_checkpointer": (17,)}
        later = [view for view, version in since.items() if self.version >= version]
        return ["pg_stat_database", "pg_stat_bgwriter", *later]

    def _connect(self, database: str | None, limit_s: float) -> Connection:
        del limit_s  # each answer has its own
        return psycopg.connect(
            host=str(self._dirs.run),
            user=cluster.SUPERUSER,
            dbname=database or "postgres",
            autocommit=True,
            connect_timeout=10,
        )

    def _answer(
        self, connection: Connection, limit_s: float, sql: str, *arguments: object
    ) -> list[tuple[Any, ...]]:
        with _cut_after(limit_s, connection), connection.cursor() as cursor:
            cursor.execute(sql.encode(), arguments or None)
            return cursor.fetchall() if cursor.description else []

    def _damage(self, connection: Connection) -> list[str]:
        return aftermath.damage(
            lambda sql, *arguments: self._answer(connection, CHECK_LIMIT_S, sql, *arguments),
            lambda: describe_death(self._process),
        )

    def _disconnect(self) -> None:
        super()._disconnect()
        if self._onlooker is not None:
            self._onlooker.close()
        self._onlooker = None


@contextmanager
def _cut_after(limit_s: float, connection: Connection) -> Iterator[None]:
    """Shut a connection down if its server does not answer in time; the waiting client sees its end.

    A server that hangs does not enforce its own statement_timeout.
    """
    with socket.socket(fileno=os.dup(connection.fileno())) as own:
        timer = threading.Timer(limit_s, own.shutdown, [socket.SHUT_RDWR])
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
