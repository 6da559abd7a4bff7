"""One started server of the MySQL family: asked, stopped and killed."""

import signal
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import pymysql

from diskproof.families.mysql import MYSQL
from diskproof.families.mysql.account import FILE_EVENTS, METRICS, account, file_metrics, metric
from diskproof.families.samples import Samples, Status
from diskproof.results.usage import ServerAccount
from diskproof.server.base import DATABASE
from diskproof.server.lifecycle import describe_death, kill_tree, wait_for_end
from diskproof.server.mysql import aftermath, binlog, options
from diskproof.server.mysql.installation import Installation
from diskproof.server.process import ServerProcess


class MysqlRunning(ServerProcess["pymysql.Connection[Any]"]):
    """A started server of the MySQL family."""

    driver_error = pymysql.Error
    installation: Installation
    _has_file_times: bool | None = None

    @property
    def pids(self) -> list[int]:
        """The server's processes: one."""
        return [self._process.pid] if self.alive else []

    @property
    def url(self) -> str:
        """Where diskproof-load finds the database."""
        return f"mysql://root@localhost/{DATABASE}?socket={quote(str(options.socket(self._dirs)))}"

    def _observed(self) -> Mapping[str, tuple[str, str]]:
        found = dict(self._query("SHOW GLOBAL VARIABLES"))
        renamed = MYSQL.options.read_as.items()
        found |= {option: found[name] for option, name in renamed if option not in found and name in found}
        return {name: (value, "") for name, value in found.items()}

    def status(self) -> Status:
        """Return all numeric values of SHOW GLOBAL STATUS, and some figures of the tables beside it."""
        # The status is last, so that it counts what the first question to a table reads of its definition.
        rows: list[tuple[str, str]] = []
        if self.installation.mysql_since(5, 6):  # MariaDB has them in its status
            metrics = self._query(
                "SELECT name, count FROM information_schema.innodb_metrics WHERE name IN %s", sorted(METRICS)
            )
            rows += [(metric(name), str(count)) for name, count in metrics]
        if self._times_files():
            times = self._query(
                "SELECT event_name, sum_timer_read, sum_timer_write, sum_timer_misc "
                "FROM performance_schema.file_summary_by_event_name WHERE event_name IN %s",
                sorted(FILE_EVENTS),
            )
            rows += file_metrics(times)
        return self._family.status([*rows, *self._query("SHOW GLOBAL STATUS")])

    def _times_files(self) -> bool:
        """Return whether the server measures time in files, which does not change while it runs."""
        if self._has_file_times is None:
            known = self.installation.is_mariadb or self.installation.mysql_since(5, 6)
            # Without its schema, a variable that does not exist reads as no row.
            found = self._query("SHOW GLOBAL VARIABLES LIKE 'performance_schema'") if known else []
            self._has_file_times = [value for _, value in found] == ["ON"]
        return self._has_file_times

    def account(self, samples: Samples) -> ServerAccount:
        """Return what the statuses of a while say."""
        return account(samples)

    def engine(self) -> str | None:
        """Return the storage engines of the workload's tables."""
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
        self._ask_at_length([f"ANALYZE TABLE `{DATABASE}`.`{table}`" for (table,) in tables])

    def preload(self) -> None:
        """Count the rows of every table by each of its indexes: that reads all their leaves."""
        indexes = self._query(
            "SELECT DISTINCT table_name, index_name FROM information_schema.statistics "
            "WHERE table_schema = %s",
            DATABASE,
        )
        self._ask_at_length(
            [
                f"SELECT COUNT(*) FROM `{DATABASE}`.`{table}` FORCE INDEX (`{index}`)"  # noqa: S608 - ours
                for table, index in indexes
            ]
        )

    def logged_rows(self, table: str, columns: int) -> set[tuple[int, ...]] | None:
        """Return what committed transactions inserted into a table, by the binary log."""
        program = self.installation.binlog_reader()
        return None if program is None else binlog.inserted_rows(program, self._dirs.binlog, table, columns)

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

    def _connect(self, database: str | None, limit_s: float) -> "pymysql.Connection[Any]":
        return pymysql.connect(
            unix_socket=str(options.socket(self._dirs)),
            user="root",
            database=database,
            charset=self.installation.character_set,
            autocommit=True,
            connect_timeout=10,
            read_timeout=limit_s,
            write_timeout=limit_s,
        )

    def _answer(
        self, connection: "pymysql.Connection[Any]", limit_s: float, sql: str, *arguments: object
    ) -> list[tuple[Any, ...]]:
        del limit_s  # it is the connection's
        with connection.cursor() as cursor:
            cursor.execute(sql, arguments or None)  # without any, a % is a %
            return list(cursor.fetchall())

    def _damage(self, connection: "pymysql.Connection[Any]") -> list[str]:
        return aftermath.damage(connection, lambda: describe_death(self._process))
