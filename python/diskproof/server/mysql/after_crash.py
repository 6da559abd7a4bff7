"""After a crash: what a server of the MySQL family finds wrong with its tables."""

from collections.abc import Callable
from typing import Any

import pymysql

from diskproof.families.names import quoted
from diskproof.server.base import DATABASE

LOST = {2006, 2013}
"""Errors of a client whose connection is gone: CR_SERVER_GONE_ERROR, CR_SERVER_LOST."""


def damage(connection: "pymysql.Connection[Any]", how_it_died: Callable[[], str]) -> list[str]:
    """Return what CHECK TABLE … EXTENDED finds in the tables of the workload's database.

    EXTENDED reads each row by each index, and InnoDB counts the rows of every index. InnoDB ends itself over
    some broken pages: `how_it_died` describes the end of a server after its connection broke.
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
        answer = _ask(connection, f"CHECK TABLE {quoted('mysql', table)} EXTENDED")
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
