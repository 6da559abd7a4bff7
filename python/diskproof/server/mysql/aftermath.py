"""After a crash: what a server of the MySQL family says of its tables, and of its start."""

from collections.abc import Callable
from typing import Any

import pymysql

from diskproof.server.base import DATABASE
from diskproof.server.complaints import Sign, telling_lines

LOST = {2006, 2013}
"""Errors of a client whose connection is gone: CR_SERVER_GONE_ERROR, CR_SERVER_LOST."""


def damage(connection: "pymysql.Connection[Any]", how_it_died: Callable[[], str]) -> list[str]:
    """Return what CHECK TABLE … EXTENDED finds in the tables of the workload's database.

    EXTENDED reads each row by each index, and InnoDB counts the rows of every index. `how_it_died` tells of
    a server whose connection has broken; InnoDB ends itself over some broken pages.
    """
    tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s ORDER BY table_name"
    found: list[str] = []
    table = DATABASE
    try:
        for (table,) in _ask(connection, tables, DATABASE):
            found += _check(connection, table)
    except pymysql.Error as error:
        found.append(f"{table}: {how_it_died()}{_words(error)}")
    return found


def _check(connection: "pymysql.Connection[Any]", table: str) -> list[str]:
    try:
        answer = _ask(connection, f"CHECK TABLE `{table}` EXTENDED")
    except pymysql.Error as error:
        if error.args[:1] and error.args[0] in LOST:
            raise
        return [f"{table}: {_words(error)}"]
    return [
        f"{table}: {text}"
        for _table, _verb, kind, text in answer
        if kind in {"error", "warning"} or (kind == "status" and text != "OK")
    ]


def _ask(connection: "pymysql.Connection[Any]", sql: str, *arguments: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments or None)
        return list(cursor.fetchall())


def _words(error: pymysql.Error) -> str:
    return ": ".join(str(part) for part in error.args)


DAMAGE = (
    Sign(r"\[ERROR\]|InnoDB: Error\b", "a server that has come up again has something that it could not do"),
    Sign(r"corrupt", "a page, an index or a log block whose checksum or structure is wrong"),
    Sign(r"is in the future", "a page is younger than the redo log: a part of the log is missing"),
    Sign(r"assertion failure|got signal|got exception", "InnoDB ends itself over what it reads"),
    Sign(r"marked as crashed", "a table without a log of its own that was being written"),
    Sign(r"Missing (FILE|MLOG)_\w+", "the redo log lacks what it must begin or end with"),
    Sign(r"operating system error number", "a file cannot be read or written"),
)
"""What tells of damage in an error log, whatever the server's age and flavour."""

HARMLESS = (
    Sign(
        r"database page corruption or a failed|Trying to recover it from the doublewrite buffer",
        "5.6 has found a torn page, and puts it right from the doublewrite buffer",
    ),
    Sign(
        r"Error in Log_event::read_log_event\(\)",
        "recovery has come to the torn end of the binary log, and goes by what lies before it",
    ),
    Sign(
        r"redo had corrupted first_rec_group and became fixed",
        "MySQL 8 has come to the torn end of the redo log",
    ),
    Sign(
        r"in datafile: .*, Space ID:",
        "the first page of a file is torn: it comes from the doublewrite buffer, or further lines say that "
        "it is not there",
    ),
)
"""What looks like it and is the ordinary course of a crash recovery, or has nothing to do with it."""


def complaints(said: str) -> list[str]:
    """Return the lines of an error log that tell of damage."""
    return telling_lines(said, DAMAGE, HARMLESS)
