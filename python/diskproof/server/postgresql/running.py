"""One started PostgreSQL: asked, stopped and killed."""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import psycopg
from psycopg.rows import BaseRowFactory, TupleRow, dict_row, tuple_row

from diskproof.results.record import Role
from diskproof.results.trial import Setting
from diskproof.results.usage import ServerAccount
from diskproof.server.base import (
    ANSWER_LIMIT_S,
    CHECK_LIMIT_S,
    DATABASE,
    SETTLE_LIMIT_S,
    Dirs,
    ServerFailedError,
    Settings,
)
from diskproof.server.lifecycle import (
    ServerLog,
    describe_death,
    describe_silence,
    kill_orphans,
    kill_tree,
    wait_for_end,
)
from diskproof.server.postgresql import aftermath, cluster, options
from diskproof.server.postgresql.account import account
from diskproof.server.postgresql.installation import Installation
from diskproof.server.samples import Samples, Status
from diskproof.server.values import same
from diskproof.system.journal import processes_in
from diskproof.system.processes import children, mapped_files

GAUGES = frozenset({"pg_stat_database.numbackends"})
"""The one level among the statistics: all others are counted from the start."""

TIMINGS = ("track_io_timing", "track_wal_io_timing")
"""Parameters that let the server measure how long its input and output take."""

WAITING_SESSIONS = """
    SELECT wait_event_type || ':' || wait_event, count(*) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()
      AND wait_event_type NOT IN ('Activity', 'Client')
    GROUP BY 1"""

Row = TypeVar("Row")


class PostgresqlRunning:
    """A started PostgreSQL."""

    def __init__(
        self,
        installation: Installation,
        dirs: Dirs,
        settings: Settings,
        process: subprocess.Popen[bytes],
        log: ServerLog,
    ) -> None:
        """Hold a process that was just started."""
        self._installation = installation
        self._dirs = dirs
        self._settings = settings
        self._process = process
        self._log = log
        self._connection: psycopg.Connection[TupleRow] | None = None
        self._onlooker: psycopg.Connection[TupleRow] | None = None
        self._lock_segment: str | None = None

    @property
    def pids(self) -> list[int]:
        """The server's processes at this moment: the first one, its helpers, one for each connection."""
        if self.alive:
            return [self._process.pid, *children(self._process.pid)]
        return [orphan.pid for orphan in processes_in([self._dirs.data])]

    @property
    def alive(self) -> bool:
        """False once the server's main process has ended; a busy backend may outlive it by hours."""
        return self._process.poll() is None

    def shared_memory(self) -> list[Path]:
        """Return the files of shared memory that the main process has: the list of all segments.

        A server that is killed removes none of them.
        """
        beginning = str(options.SHARED_MEMORY)
        return [file for file in mapped_files(self._process.pid) if str(file).startswith(beginning)]

    @property
    def url(self) -> str:
        """Where diskproof-load finds the database."""
        return f"postgresql://{cluster.SUPERUSER}@localhost/{DATABASE}?socket={quote(str(self._dirs.run))}"

    def takes_connections(self) -> bool:
        """Tell whether the server can be asked by now."""
        if not self._says_ready():
            return False
        try:
            self._connection = self._connect("postgres")
        except psycopg.OperationalError:
            return False
        self._lock_segment = cluster.lock_segment(self._dirs)
        return True

    def make_database(self) -> None:
        """Make the workloads' database and the tablespace for temporary files."""
        self._query(f"CREATE TABLESPACE {options.TMP_TABLESPACE} LOCATION '{self._dirs.tmp.resolve()}'")
        self._query(f"CREATE DATABASE {DATABASE}")

    def read_settings(self) -> list[Setting]:
        """Read back every requested variable, in the server's own unit."""
        rows = self._query("SELECT name, setting, unit FROM pg_settings")
        observed = {str(row["name"]).lower(): (str(row["setting"]), str(row["unit"] or "")) for row in rows}
        settings = []
        for name, value in self._settings.merged().items():
            setting, unit = observed.get(name, (None, ""))
            settings.append(
                Setting(
                    name=name,
                    requested=value,
                    observed=None if setting is None else _with_unit(setting, unit),
                    holds=setting is not None and same(value, setting, unit=unit),
                    level=name in self._settings.level,
                )
            )
        return settings

    def status(self) -> Status:
        """Return the statistics of the database, the WAL and the checkpointer.

        Named ``view.column``. A backend hands its counts in at most once a second.
        """
        values = {}
        for view in self._statistics_views():
            where = " WHERE datname = %s" if view == "pg_stat_database" else ""
            for row in self._query(f"SELECT * FROM {view}{where}", *([DATABASE] if where else [])):  # noqa: S608
                for column, value in row.items():
                    if isinstance(value, int | float) and not column.endswith("id"):
                        values[f"{view}.{column}"] = float(value)
        gauges = {name: values.pop(name) for name in GAUGES & values.keys()}
        return Status(counters=values, gauges=gauges)

    def account(self, told: Samples) -> ServerAccount:
        """Return what the statuses of a while say."""
        on = {name for name in TIMINGS if self._is_on(name)}
        return account(told, times_input="track_io_timing" in on, times_wal="track_wal_io_timing" in on)

    def waiting_sessions(self) -> dict[str, int] | None:
        """Return how many backends of clients wait for what, by ``wait_event_type:wait_event``.

        Since version 10, which tells them from the server's own helpers.
        """
        if self._installation.version < (10,):
            return None
        if self._onlooker is None:
            try:
                self._onlooker = self._connect("postgres")
            except psycopg.Error as error:
                raise self._failed(f"cannot be asked what its sessions wait for: {error}") from error
        rows = self._ask(self._onlooker, ANSWER_LIMIT_S, WAITING_SESSIONS, rows_as=tuple_row)
        return {str(name): int(count) for name, count in rows}

    def _is_on(self, name: str) -> bool:
        rows = self._query("SELECT setting FROM pg_settings WHERE name = %s", name)
        return [row["setting"] for row in rows] == ["on"]

    def role_of(self, path: str) -> Role | None:
        """Return the role of an open file."""
        return cluster.role_of(path, self._dirs)

    def engine(self) -> str | None:
        """Return None: PostgreSQL has one way to store a table."""
        return None

    def settle(self) -> None:
        """Vacuum, freeze and analyse: what autovacuum would do to freshly loaded tables."""
        with self._connect(DATABASE) as connection:
            self._ask(connection, SETTLE_LIMIT_S, "VACUUM (FREEZE, ANALYZE)", rows_as=tuple_row)
            self._ask(connection, SETTLE_LIMIT_S, "CHECKPOINT", rows_as=tuple_row)

    def preload(self) -> None:
        """Read tables and indexes by pg_prewarm: a scan would keep to a small ring of buffers."""
        with self._connect(DATABASE) as connection:
            self._ask(
                connection, ANSWER_LIMIT_S, "CREATE EXTENSION IF NOT EXISTS pg_prewarm", rows_as=tuple_row
            )
            self._ask(
                connection,
                SETTLE_LIMIT_S,
                "SELECT sum(pg_prewarm(oid)) FROM pg_class WHERE relkind IN ('r', 'i') "
                "AND relnamespace = 'public'::regnamespace",
                rows_as=tuple_row,
            )

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the error log."""
        return self._log.tail(lines)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return what one question to the workload's database brings."""
        try:
            connection = self._connect(DATABASE)
        except psycopg.Error as error:
            raise self._failed(f"cannot be asked about {DATABASE}: {error}") from error
        with connection:
            return self._ask(connection, CHECK_LIMIT_S, sql, rows_as=tuple_row)

    def damage(self) -> list[str]:
        """Return what amcheck and reading every table find."""
        try:
            connection = self._connect(DATABASE)
        except psycopg.Error as error:
            return [f"{describe_death(self._process)}{DATABASE} cannot be opened: {error}"]

        with closing(connection):
            return aftermath.damage(
                lambda sql, *arguments: _answer(connection, CHECK_LIMIT_S, sql, arguments, tuple_row),
                lambda: describe_death(self._process),
            )

    def complaints(self) -> list[str]:
        """Return what the log of this start says of damage."""
        return aftermath.complaints(self._log.said())

    def logged_rows(self, table: str, columns: int) -> None:
        """Return None: PostgreSQL has one log, from which it recovers."""
        del table, columns

    def stop(self, deadline_s: float = 60.0) -> bool:
        """Shut down with a checkpoint where the data are kept, and at once where they are thrown away."""
        self._disconnect()
        if self.alive:
            self._process.send_signal(signal.SIGINT if self._settings.kept else signal.SIGQUIT)
        ended = wait_for_end(self._process, deadline_s)
        return not kill_orphans(self._dirs.data) and ended

    def kill(self) -> None:
        """Kill every process of the server, and those that have outlived their main process."""
        self._disconnect()
        kill_tree(self._process)
        kill_orphans(self._dirs.data)
        if self._lock_segment is not None:
            # 56 bytes that mark the directory as in use. The kernel keeps them, and has room for 4096 such.
            with suppress(FileNotFoundError):  # a machine without util-linux keeps it until its next start
                subprocess.run(["ipcrm", "--shmem-id", self._lock_segment], capture_output=True, check=False)
            self._lock_segment = None

    def _says_ready(self) -> bool:
        """Tell whether the server's own pid file calls it ready (PostgreSQL 10 and later).

        Knocking before that would fill its log with refusals. The file of a killed server names
        another process.
        """
        if self._installation.version < (10,):
            return True
        try:
            lines = (self._dirs.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return lines[:1] == [str(self._process.pid)] and lines[7:] != [] and lines[7].strip() == "ready"

    def _connect(self, database: str) -> psycopg.Connection[TupleRow]:
        return psycopg.connect(
            host=str(self._dirs.run),
            user=cluster.SUPERUSER,
            dbname=database,
            autocommit=True,
            connect_timeout=10,
        )

    def _statistics_views(self) -> list[str]:
        version = self._installation.version
        views = ["pg_stat_database", "pg_stat_bgwriter"]
        if version >= (14,):
            views.append("pg_stat_wal")
        if version >= (17,):
            views.append("pg_stat_checkpointer")
        return views

    def _query(self, sql: str, *arguments: str) -> list[dict[str, Any]]:
        return self._ask(self._connection, ANSWER_LIMIT_S, sql, *arguments, rows_as=dict_row)

    def _ask(
        self,
        connection: psycopg.Connection[TupleRow] | None,
        limit_s: float,
        sql: str,
        *arguments: str,
        rows_as: BaseRowFactory[Row],
    ) -> list[Row]:
        asked = time.monotonic()
        try:
            if connection is None:
                raise psycopg.OperationalError("not connected")
            return _answer(connection, limit_s, sql, arguments, rows_as)
        except psycopg.Error as error:
            silence = describe_silence(self._process, time.monotonic() - asked, limit_s)
            raise self._failed(f"did not answer {sql!r}{silence}: {error}") from error

    def _failed(self, what: str) -> ServerFailedError:
        return ServerFailedError(
            f"PostgreSQL {self._installation.version_text} {what}; last lines of its log:\n{self.log_tail()}"
        )

    def _disconnect(self) -> None:
        for connection in (self._connection, self._onlooker):
            if connection is not None:
                connection.close()
        self._connection = self._onlooker = None


def _answer(
    connection: psycopg.Connection[TupleRow],
    limit_s: float,
    sql: str,
    arguments: tuple[object, ...],
    rows_as: BaseRowFactory[Row],
) -> list[Row]:
    with _cut_after(limit_s, connection), connection.cursor(row_factory=rows_as) as cursor:
        cursor.execute(sql.encode(), arguments or None)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def _cut_after(limit_s: float, connection: psycopg.Connection[TupleRow]) -> Iterator[None]:
    """Shut a connection down whose server does not answer in time; the waiting client sees its end.

    statement_timeout is the server's own to keep, which a server that hangs does not.
    """
    with socket.socket(fileno=os.dup(connection.fileno())) as own:
        timer = threading.Timer(limit_s, own.shutdown, [socket.SHUT_RDWR])
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


def _with_unit(setting: str, unit: str) -> str:
    """Return a setting as a person reads it: ``2048 x 8kB``, ``300 s``."""
    if not unit:
        return setting
    return f"{setting} x {unit}" if unit[0].isdigit() else f"{setting} {unit}"
