"""One started server of the MySQL family: asked, stopped and killed."""

import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any
from urllib.parse import quote

import pymysql

from diskproof.results.machine import ServerFacts
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
    kill_tree,
    wait_for_end,
)
from diskproof.server.mysql import aftermath, binlog, options
from diskproof.server.mysql.account import FILE_EVENTS, METRICS, account, file_metrics, metric
from diskproof.server.mysql.installation import Installation
from diskproof.server.mysql.roles import role_of
from diskproof.server.mysql.status import status
from diskproof.server.samples import Samples, Status
from diskproof.server.values import same


class MysqlRunning:
    """A started server of the MySQL family."""

    def __init__(
        self,
        installation: Installation,
        facts: ServerFacts,
        dirs: Dirs,
        settings: Settings,
        process: subprocess.Popen[bytes],
        log: ServerLog,
    ) -> None:
        """Hold a process that was just started."""
        self._installation = installation
        self._facts = facts
        self._dirs = dirs
        self._settings = settings
        self._process = process
        self._log = log
        self._connection: pymysql.Connection[Any] | None = None
        self._has_file_times: bool | None = None

    @property
    def pids(self) -> list[int]:
        """The server's processes: one."""
        return [self._process.pid] if self.alive else []

    @property
    def alive(self) -> bool:
        """False once the server has ended."""
        return self._process.poll() is None

    @property
    def url(self) -> str:
        """Where diskproof-load finds the database."""
        return f"mysql://root@localhost/{DATABASE}?socket={quote(str(options.socket(self._dirs)))}"

    def takes_connections(self) -> bool:
        """Tell whether the server can be asked by now."""
        try:
            self._connection = self._connect(ANSWER_LIMIT_S)
        except pymysql.Error:
            return False
        return True

    def read_settings(self) -> list[Setting]:
        """Read back every requested variable."""
        observed = dict(self._query("SHOW GLOBAL VARIABLES"))
        return [
            Setting(
                name=name,
                requested=value,
                observed=observed.get(name),
                holds=name in observed and same(value, observed[name]),
                level=name in self._settings.level,
            )
            for name, value in self._settings.merged().items()
        ]

    def status(self) -> Status:
        """Return all numeric values of SHOW GLOBAL STATUS, and some figures of the tables beside it."""
        # The status is last: what the first question to a table reads of its definition is then in the first.
        rows: list[tuple[str, str]] = []
        if self._installation.mysql_since(5, 6):  # MariaDB has them in its status
            metrics = self._query(
                "SELECT name, count FROM information_schema.innodb_metrics WHERE name IN %s", sorted(METRICS)
            )
            rows += [(metric(name), str(count)) for name, count in metrics]
        if self._times_files():
            rows += file_metrics(
                self._query(
                    "SELECT event_name, sum_timer_read, sum_timer_write, sum_timer_misc "
                    "FROM performance_schema.file_summary_by_event_name WHERE event_name IN %s",
                    sorted(FILE_EVENTS),
                )
            )
        return status([*rows, *self._query("SHOW GLOBAL STATUS")])

    def _times_files(self) -> bool:
        """Tell whether the server keeps time in files; it says so once, and does not change its mind."""
        if self._has_file_times is None:
            version = self._installation
            known = version.is_mariadb or version.mysql_since(5, 6)
            # Without its schema, a variable that is not there reads as no row.
            told = self._query("SHOW GLOBAL VARIABLES LIKE 'performance_schema'") if known else ()
            self._has_file_times = [value for _, value in told] == ["ON"]
        return self._has_file_times

    def account(self, told: Samples) -> ServerAccount:
        """Return what the statuses of a while say."""
        return account(told)

    def waiting_sessions(self) -> None:
        """Return None: the states of the process list name no waits."""

    def role_of(self, path: str) -> Role | None:
        """Return the role of an open file."""
        return role_of(path, self._dirs)

    def engine(self) -> str | None:
        """Return the storage engine of the workload's tables."""
        rows = self._query(
            "SELECT DISTINCT engine FROM information_schema.tables "
            "WHERE table_schema = %s AND table_type = 'BASE TABLE' ORDER BY engine",
            DATABASE,
        )
        return ", ".join(str(row[0]) for row in rows) or None

    def settle(self) -> None:
        """Gather the statistics that InnoDB would gather itself some seconds after the load."""
        tables = self._query(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s", DATABASE
        )
        with self._connect(SETTLE_LIMIT_S) as connection:
            for (table,) in tables:
                self._ask(connection, SETTLE_LIMIT_S, f"ANALYZE TABLE `{DATABASE}`.`{table}`")

    def preload(self) -> None:
        """Count the rows of every table by each of its indexes: that reads all their leaves."""
        indexes = self._query(
            "SELECT DISTINCT table_name, index_name FROM information_schema.statistics "
            "WHERE table_schema = %s",
            DATABASE,
        )
        with self._connect(SETTLE_LIMIT_S) as connection:
            for table, index in indexes:
                rows = f"`{DATABASE}`.`{table}` FORCE INDEX (`{index}`)"
                self._ask(connection, SETTLE_LIMIT_S, f"SELECT COUNT(*) FROM {rows}")  # noqa: S608 - names of ours

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the error log."""
        return self._log.tail(lines)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return what one question to the workload's database brings."""
        try:
            connection = self._connect(CHECK_LIMIT_S, DATABASE)
        except pymysql.Error as error:
            raise self._failed(f"cannot be asked about {DATABASE}: {error}") from error
        with connection:
            return list(self._ask(connection, CHECK_LIMIT_S, sql))

    def damage(self) -> list[str]:
        """Return what CHECK TABLE … EXTENDED finds."""
        try:
            connection = self._connect(CHECK_LIMIT_S, DATABASE)
        except pymysql.Error as error:
            return [f"{describe_death(self._process)}{DATABASE} cannot be opened: {error}"]
        with closing(connection):
            return aftermath.damage(connection, lambda: describe_death(self._process))

    def complaints(self) -> list[str]:
        """Return what the error log of this start says of damage."""
        return aftermath.complaints(self._log.said())

    def logged_rows(self, table: str, columns: int) -> set[tuple[int, ...]] | None:
        """Return what committed transactions inserted into a table, as the binary log has it."""
        program = self._installation.binlog_reader()
        if program is None:
            return None
        return binlog.inserted_rows(program, self._dirs.binlog, table, columns)

    def stop(self, deadline_s: float = 60.0) -> bool:
        """Shut down cleanly, or kill."""
        self._disconnect()
        if self.alive:
            self._process.send_signal(signal.SIGTERM)
        return wait_for_end(self._process, deadline_s)

    def kill(self) -> None:
        """Kill the server."""
        self._disconnect()
        kill_tree(self._process)

    def _connect(self, limit_s: float, database: str | None = None) -> "pymysql.Connection[Any]":
        """Connect; a server that then stays silent for `limit_s` counts as failed."""
        return pymysql.connect(
            unix_socket=str(options.socket(self._dirs)),
            user="root",
            database=database,
            autocommit=True,
            connect_timeout=10,
            read_timeout=limit_s,
            write_timeout=limit_s,
        )

    def _query(self, sql: str, *arguments: str | list[str]) -> Sequence[tuple[Any, ...]]:
        return self._ask(self._connection, ANSWER_LIMIT_S, sql, *arguments)

    def _ask(
        self,
        connection: "pymysql.Connection[Any] | None",
        limit_s: float,
        sql: str,
        *arguments: str | list[str],
    ) -> Sequence[tuple[Any, ...]]:
        asked = time.monotonic()
        try:
            if connection is None:
                raise pymysql.OperationalError(0, "not connected")
            with connection.cursor() as cursor:
                cursor.execute(sql, arguments or None)  # without any, a % is a %
                return list(cursor.fetchall())
        except pymysql.Error as error:
            silence = describe_silence(self._process, time.monotonic() - asked, limit_s)
            raise self._failed(f"did not answer {sql!r}{silence}: {error}") from error

    def _failed(self, what: str) -> ServerFailedError:
        return ServerFailedError(
            f"{self._facts.flavour} {self._facts.version} {what}; "
            f"last lines of its error log:\n{self.log_tail()}"
        )

    def _disconnect(self) -> None:
        if self._connection is not None and self._connection.open:
            self._connection.close()
        self._connection = None
