"""One PostgreSQL cluster: made, started, asked and stopped."""

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote

import psycopg
from psycopg.rows import TupleRow, dict_row

from diskproof.results.records import Role, ServerFacts, Setting
from diskproof.server.account import check_reach, give_to, unprivileged_user
from diskproof.server.base import (
    ANSWER_LIMIT_S,
    DATABASE,
    SETTLE_LIMIT_S,
    Dirs,
    ServerFailedError,
    Settings,
    Status,
)
from diskproof.server.lifecycle import (
    check_socket_folder,
    describe_silence,
    kill_orphans,
    kill_tree,
    log_tail,
    wait_for_end,
    wait_until,
)
from diskproof.server.postgresql import cluster, options
from diskproof.server.postgresql.installation import Installation
from diskproof.server.values import same
from diskproof.study.model import Level
from diskproof.system.journal import processes_in
from diskproof.system.processes import Starter, children

INITIAL_MEMORY_BYTES = 16 * 2**20

GAUGES = frozenset({"pg_stat_database.numbackends"})
"""The one level among the statistics: all others are counted from the start."""


class PostgresqlServer:
    """A found PostgreSQL."""

    def __init__(self, installation: Installation, name: str) -> None:
        """Name an installation as the study does."""
        self.installation = installation
        self.facts = ServerFacts(
            name=name,
            family="postgresql",
            flavour="PostgreSQL",
            version=installation.version_text,
            binary=str(installation.binary),
        )

    page_bytes = options.PAGE_BYTES

    def data_format(self) -> str:
        """Return what a golden image depends on."""
        return f"PostgreSQL {self.installation.version_text}, C.UTF-8, no checksums"

    def check(self, dirs: Dirs) -> None:
        """Refuse directories that the server's user cannot reach, and too long a socket folder."""
        check_socket_folder(dirs.run)
        user = unprivileged_user()
        if user:
            check_reach(user, dirs)

    def settings(
        self, dirs: Dirs, *, level: Level, memory_bytes: int, max_clients: int, variables: Mapping[str, str]
    ) -> Settings:
        """Return the variables for one trial."""
        return options.settings(
            self.installation,
            dirs,
            level=level,
            memory_bytes=memory_bytes,
            max_clients=max_clients,
            variables=variables,
        )

    def loading_settings(self, dirs: Dirs, *, memory_bytes: int, max_clients: int) -> Settings:
        """Return the variables for filling a golden image."""
        del dirs
        return options.loading_settings(self.installation, memory_bytes=memory_bytes, max_clients=max_clients)

    def initialise(self, dirs: Dirs, starter: Starter) -> None:
        """Make an empty database on empty directories."""
        self.check(dirs)
        cluster.make(self.installation, dirs, unprivileged_user(), starter)
        settings = self.loading_settings(dirs, memory_bytes=INITIAL_MEMORY_BYTES, max_clients=1)
        running = self.start(dirs, settings, starter)
        try:
            running.make_database()
        finally:
            running.stop()

    def place(self, dirs: Dirs) -> None:
        """Point the links of a restored cluster at these directories and give the files to its user."""
        cluster.place(self.installation, dirs, unprivileged_user())

    def start(
        self, dirs: Dirs, settings: Settings, starter: Starter, *, deadline_s: float = 60.0
    ) -> "PostgresqlRunning":
        """Start the server and wait until it takes connections."""
        self.check(dirs)
        user = unprivileged_user()
        self._configure(dirs, settings, user)
        log = cluster.error_log(dirs)
        log_start = log.stat().st_size if log.exists() else 0
        process = starter.start(
            [str(self.installation.binary), "-D", str(dirs.data)],
            log_file=log,
            user=user,
            cwd=dirs.data,
        )
        running = PostgresqlRunning(self, dirs, settings, process)

        def failure(what: str) -> ServerFailedError:
            with log.open("rb") as file:
                file.seek(log_start)
                said = file.read().decode(errors="replace")
            return ServerFailedError(_why_not_started(self.facts, settings, what, said))

        wait_until(running.takes_connections, process, deadline_s=deadline_s, failure=failure)
        return running

    def _configure(self, dirs: Dirs, settings: Settings, user: str | None) -> None:
        """Write the cluster's one configuration file, and keep a copy with the results."""
        dirs.run.chmod(0o700)  # the superuser has no password: the folder of its socket is the lock
        written = dirs.log / "postgresql.conf"
        written.write_text(options.configuration(dirs, settings.merged()))
        shutil.copyfile(written, dirs.data / "postgresql.conf")
        if user:
            give_to(user, dirs.run)


class PostgresqlRunning:
    """A started PostgreSQL."""

    def __init__(
        self, server: PostgresqlServer, dirs: Dirs, settings: Settings, process: subprocess.Popen[bytes]
    ) -> None:
        """Hold a process that was just started."""
        self._server = server
        self._dirs = dirs
        self._settings = settings
        self._process = process
        self._connection: psycopg.Connection[TupleRow] | None = None

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

    def role_of(self, path: str) -> Role | None:
        """Return the role of an open file."""
        return cluster.role_of(path, self._dirs)

    def engine(self) -> str | None:
        """Return None: PostgreSQL has one way to store a table."""
        return None

    def settle(self) -> None:
        """Vacuum, freeze and analyse: what autovacuum would do to freshly loaded tables."""
        with self._connect(DATABASE) as connection:
            self._ask(connection, SETTLE_LIMIT_S, "VACUUM (FREEZE, ANALYZE)")
            self._ask(connection, SETTLE_LIMIT_S, "CHECKPOINT")

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the error log."""
        return log_tail(cluster.error_log(self._dirs), lines)

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

    def _says_ready(self) -> bool:
        """Tell whether the server's own pid file calls it ready (PostgreSQL 10 and later).

        Knocking before that would fill its log with refusals. The file of a killed server names
        another process.
        """
        if self._server.installation.version < (10,):
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
        version = self._server.installation.version
        views = ["pg_stat_database", "pg_stat_bgwriter"]
        if version >= (14,):
            views.append("pg_stat_wal")
        if version >= (17,):
            views.append("pg_stat_checkpointer")
        return views

    def _query(self, sql: str, *arguments: str) -> list[dict[str, object]]:
        return self._ask(self._connection, ANSWER_LIMIT_S, sql, *arguments)

    def _ask(
        self, connection: psycopg.Connection[TupleRow] | None, limit_s: float, sql: str, *arguments: str
    ) -> list[dict[str, object]]:
        asked = time.monotonic()
        try:
            if connection is None:
                raise psycopg.OperationalError("not connected")
            with _cut_after(limit_s, connection), connection.cursor(row_factory=dict_row) as cursor:
                cursor.execute(sql.encode(), arguments or None)
                return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            raise ServerFailedError(
                f"PostgreSQL {self._server.facts.version} did not answer {sql!r}"
                f"{describe_silence(self._process, time.monotonic() - asked, limit_s)}: {error}; "
                f"last lines of its log:\n{self.log_tail()}"
            ) from error

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


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


_REFUSED = re.compile(
    r'unrecognized configuration parameter "([\w.]+)"'
    r'|invalid value for parameter "([\w.]+)"'
    r'|outside the valid range for parameter "([\w.]+)"'
    r'|parameter "([\w.]+)" (?:cannot|requires)'
)
"""How PostgreSQL says that it does not take a parameter."""


def _why_not_started(facts: ServerFacts, settings: Settings, what: str, said: str) -> str:
    """Return the message for a server that did not start: the refused variable first, where there is one."""
    for found in _REFUSED.finditer(said):
        name = next(group for group in found.groups() if group).lower()
        if name in settings.level:
            line = said[said.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0]
            return (
                f"PostgreSQL {facts.version} refuses {name} = {settings.level[name]}: {line.strip()}; "
                "correct or remove the variable in the study's tuning"
            )
    tail = "\n".join(said.splitlines()[-20:]) or "(empty)"
    return f"PostgreSQL {facts.version} {what}; last lines of its log:\n{tail}"
