"""One started server of the MySQL family: asked, stopped and killed."""

import signal
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import pymysql

from diskproof.database.asking import AnswerError, ask
from diskproof.database.connection import through_file
from diskproof.families.names import quoted
from diskproof.families.values import same
from diskproof.server.base import CHECK_LIMIT_S, DATABASE
from diskproof.server.endpoint import USER, Endpoint
from diskproof.server.lifecycle import describe_death, kill_tree, wait_for_end
from diskproof.server.mysql import binlog, options
from diskproof.server.mysql.asked import MysqlAsked
from diskproof.server.mysql.installation import Installation
from diskproof.server.process import ServerProcess
from diskproof.wording import say

DENIED = (1045, 1698, 3118)
"""Access denied, also to a plugin of root's, and to a locked account."""

ADJUSTED = "`{name}` = {value} was asked for, and the server's program itself makes it {found}"


class MysqlRunning(MysqlAsked, ServerProcess["pymysql.Connection[Any]"]):
    """A started server of the MySQL family."""

    installation: Installation
    reading: Callable[[], Mapping[str, str]]
    """Asks the server's program what it makes of its options."""

    def _holds(self, name: str, value: str, found: str | None, unit: str) -> bool:
        """Return whether an option has its value, or the one that the program itself makes of it."""
        if found is None or super()._holds(name, ", ".join(value.split("\n")), found, unit):
            return True
        if name not in self._settings.level:
            return False
        made = self.reading().get(name)
        if made is None or not same(made, found):
            return False
        self.adjusted.append(say(ADJUSTED, name=name, value=value, found=found))
        return True

    @property
    def pids(self) -> list[int]:
        """The server's processes: one."""
        return [self._process.pid] if self.alive else []

    @property
    def url(self) -> str:
        """Where diskproof-load finds the database."""
        return (
            f"mysql://root@localhost/{quote(self.database)}?socket={quote(str(options.socket(self._dirs)))}"
        )

    def refuses_connections(self) -> str:
        """Return why the server cannot be asked yet; ServerFailedError if it never lets us in."""
        why = super().refuses_connections()
        if any(f"({code}" in why for code in DENIED):
            raise self._failed(f"lets root in with a password only, or not at all: {why}")
        return why

    def make_database(self, name: str) -> None:
        """Make an empty database beside the lab's, and use it."""
        super().make_database(name)
        self._query(f"CREATE DATABASE IF NOT EXISTS {quoted('mysql', name)}")

    def logged_rows(self, table: str, columns: int) -> set[tuple[int, ...]] | None:
        """Return what committed transactions inserted into a table, by the binary log."""
        program = self.installation.binlog_reader()
        return (
            None
            if program is None
            else binlog.inserted_rows(program, self._dirs.binlog, table, columns, self.database)
        )

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

    def _admit(self, endpoint: Endpoint) -> None:
        """Make an account for each machine that is admitted.

        Old servers have others without a password, which could come in too. MySQL 8 takes no REQUIRE in a
        GRANT, older servers none elsewhere.
        """
        created, granted = (" REQUIRE SSL", "") if self.installation.mysql_since(8) else ("", " REQUIRE SSL")
        self._query("SET SESSION sql_log_bin = 0")
        others = (
            "SELECT user, host FROM mysql.user WHERE user = '' OR (user = 'root' AND host <> 'localhost')"
        )
        for account in self._query(others):
            self._query("DROP USER %s@%s", *account)
        for address in endpoint.admitted:
            self._query(f"CREATE USER %s@%s IDENTIFIED BY %s{created}", USER, address, endpoint.password)
            self._query(f"GRANT ALL ON {DATABASE}.* TO %s@%s{granted}", USER, address)
        self._query("SET SESSION sql_log_bin = 1")

    def _connect(self, database: str | None, limit_s: float) -> "pymysql.Connection[Any]":
        connection = pymysql.connect(
            ssl_disabled=True,  # the driver would read all of the machine's certificates for each connection
            user="root",
            database=database,
            charset=self.installation.character_set,
            autocommit=True,
            read_timeout=limit_s,
            write_timeout=limit_s,
            defer_connect=True,
        )
        try:
            connection.connect(through_file(str(options.socket(self._dirs))))
        except OSError as error:
            raise pymysql.OperationalError(2002, str(error)) from error
        return connection

    def _damage(self, connection: "pymysql.Connection[Any]") -> list[str]:
        return damage(connection, lambda: describe_death(self._process), self.database)


LOST = {2006, 2013}
"""Errors of a client whose connection is gone: CR_SERVER_GONE_ERROR, CR_SERVER_LOST."""


def damage(
    connection: "pymysql.Connection[Any]", how_it_died: Callable[[], str], database: str = DATABASE
) -> list[str]:
    """Return what CHECK TABLE … EXTENDED finds in the tables of the workload's database.

    EXTENDED reads each row by each index, and InnoDB counts the rows of every index. InnoDB ends itself over
    some broken pages: `how_it_died` describes the end of a server after its connection broke.
    """
    tables = (
        "SELECT table_name FROM information_schema.tables WHERE table_schema = %s "
        "AND table_type = 'BASE TABLE' ORDER BY table_name"
    )
    found: list[str] = []
    table = database
    try:
        for (table,) in ask(connection, CHECK_LIMIT_S, tables, database, most_bytes=None):
            found += _check(connection, table)
    except (pymysql.Error, AnswerError) as error:
        found.append(f"{table}: {how_it_died()}{_words(error)}")
    return found


def _check(connection: "pymysql.Connection[Any]", table: str) -> list[str]:
    try:
        sql = f"CHECK TABLE {quoted('mysql', table)} EXTENDED"
        answer = ask(connection, CHECK_LIMIT_S, sql, most_bytes=None)
    except (pymysql.Error, AnswerError) as error:
        if error.args[:1] and error.args[0] in LOST:
            raise
        return [f"{table}: {_words(error)}"]
    return [
        f"{table}: {text}"
        for _table, _verb, kind, text in answer
        if kind in {"error", "warning"} or (kind == "status" and text != "OK")
    ]


def _words(error: Exception) -> str:
    return ": ".join(str(part) for part in error.args)
