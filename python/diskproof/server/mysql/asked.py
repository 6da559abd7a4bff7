"""A server of the MySQL family that is asked over connections, whoever started it."""

from collections.abc import Mapping
from typing import Any  # noqa: F401 - in a quoted type

import pymysql

from diskproof.database.asking import NULLABLE
from diskproof.families.mysql import MYSQL
from diskproof.families.mysql.account import FILE_EVENTS, METRICS, account, file_metrics, metric
from diskproof.families.names import quoted
from diskproof.families.samples import Samples, Status
from diskproof.results.usage import ServerAccount
from diskproof.server.asked import Asked
from diskproof.server.mysql.release import Release


class MysqlAsked(Asked["pymysql.Connection[Any]"]):
    """A running server of the MySQL family."""

    driver_error = pymysql.Error
    release: Release
    _has_file_times: bool | None = None

    def _observed(self) -> Mapping[str, tuple[str, str]]:
        found = dict(self._query("SHOW GLOBAL VARIABLES", shape=(str, NULLABLE)))
        renamed = MYSQL.read_as.items()
        found |= {option: found[name] for option, name in renamed if option not in found and name in found}
        return {name: (value, "") for name, value in found.items()}

    def status(self) -> Status:
        """Return all numeric values of SHOW GLOBAL STATUS, and some figures of the tables beside it."""
        # The status is last, so that it counts what the first question to a table reads of its definition.
        rows: list[tuple[str, str]] = []
        if self._reads_metrics():
            metrics = self._query(
                "SELECT name, count FROM information_schema.innodb_metrics WHERE name IN %s",
                sorted(METRICS),
                shape=(str, object),
            )
            rows += [(metric(name), str(count)) for name, count in metrics]
        if self._times_files():
            times = self._query(
                "SELECT event_name, sum_timer_read, sum_timer_write, sum_timer_misc "
                "FROM performance_schema.file_summary_by_event_name WHERE event_name IN %s",
                sorted(FILE_EVENTS),
                shape=(str, int, int, int),
            )
            rows += file_metrics(times)
        return self._family.status([*rows, *self._query("SHOW GLOBAL STATUS", shape=(str, object))])

    def _reads_metrics(self) -> bool:
        """Return whether INNODB_METRICS has what the status has not; MariaDB has it in its status."""
        return self.release.mysql_since(5, 6)

    def _times_files(self) -> bool:
        """Return whether the server measures time in files, which does not change while it runs."""
        if self._has_file_times is None:
            known = self.release.is_mariadb or self.release.mysql_since(5, 6)
            # Without its schema, a variable that does not exist reads as no row.
            asked = "SHOW GLOBAL VARIABLES LIKE 'performance_schema'"
            found = self._query(asked, shape=(str, str)) if known else []
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
            self.database,
            shape=(str,),
        )
        return ", ".join(engine for (engine,) in rows) or None

    def settle(self) -> None:
        """Gather the statistics that InnoDB would gather itself some seconds after the load."""
        tables = self._query(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s",
            self.database,
            shape=(str,),
        )
        self._ask_at_length([f"ANALYZE TABLE {quoted('mysql', self.database, table)}" for (table,) in tables])

    def preload(self) -> None:
        """Count the rows of every table by each of its indexes: that reads all their leaves."""
        indexes = self._query(
            "SELECT DISTINCT table_name, index_name FROM information_schema.statistics "
            "WHERE table_schema = %s",
            self.database,
            shape=(str, str),
        )
        self._ask_at_length(
            [
                f"SELECT COUNT(*) FROM {quoted('mysql', self.database, table)} "  # noqa: S608 - quoted
                f"FORCE INDEX ({quoted('mysql', index)})"
                for table, index in indexes
            ]
        )
