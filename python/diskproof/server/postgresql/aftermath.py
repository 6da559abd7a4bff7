"""After a crash: what PostgreSQL finds wrong with its tables and indexes."""

from collections.abc import Callable
from typing import Any, Protocol

import psycopg

from diskproof.database.asking import AnswerError
from diskproof.server.base import DATABASE

MOST_FINDINGS = 5
"""For each table: a torn page makes a finding of each of its rows."""


class Ask(Protocol):
    """One question to the workload's database; psycopg.Error or AnswerError if it is not answered."""

    def __call__(self, sql: str, *arguments: object) -> list[tuple[Any, ...]]:
        """Return the answer's rows."""


RELATIONS = """
    SELECT c.oid, c.oid::regclass::text, c.relkind::text, coalesce(a.amname, '')
    FROM pg_class c LEFT JOIN pg_am a ON a.oid = c.relam LEFT JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relkind IN ('r', 'm', 't', 'i') AND c.relpersistence <> 't' AND coalesce(i.indisvalid, true)
    ORDER BY c.relnamespace = to_regnamespace('public') DESC, 2
"""
"""All tables and indexes with pages of their own: the workload's first, then the catalogue."""

HAS_VERIFY_HEAPAM = "SELECT count(*) FROM pg_proc WHERE proname = 'verify_heapam'"


def damage(ask: Ask, how_it_died: Callable[[], str]) -> list[str]:
    """Return what amcheck finds in all tables and B-trees, and reading every table from end to end.

    Reading compares the checksum of every page that was not in memory, as ``pg_checksums --check`` does, for
    which the server must be down. If amcheck is not installed, tables are only read.
    """
    found: list[str] = []
    name = DATABASE
    try:
        can_check = _has_amcheck(ask)
        verifies_tables = can_check and bool(ask(HAS_VERIFY_HEAPAM)[0][0])
        for oid, name, kind, method in ask(RELATIONS):
            if kind != "i":
                found += _check_table(ask, oid, name, verifies=verifies_tables)
            elif method == "btree" and can_check:
                found += _try(ask, name, "SELECT bt_index_parent_check(%s::oid::regclass, true)", oid)
    except (psycopg.Error, AnswerError) as error:
        found.append(f"{name}: {how_it_died()}{_words(error)}")
    return found


def _has_amcheck(ask: Ask) -> bool:
    """Make amcheck's functions, if the installation has them."""
    if not ask("SELECT 1 FROM pg_available_extensions WHERE name = 'amcheck'"):
        return False
    ask("CREATE EXTENSION IF NOT EXISTS amcheck")
    return True


def _check_table(ask: Ask, oid: int, name: str, *, verifies: bool) -> list[str]:
    found = _try(ask, name, f"SELECT count(*) FROM ONLY {name}")  # noqa: S608 - quoted by regclass
    if verifies:
        found += _try(
            ask,
            name,
            "SELECT format('block %%s, row %%s: %%s', blkno, offnum, msg) "
            "FROM verify_heapam(%s::oid::regclass, check_toast => true) LIMIT %s",
            oid,
            MOST_FINDINGS,
            rows_are_findings=True,
        )
    return found


def _try(ask: Ask, name: str, sql: str, *arguments: object, rows_are_findings: bool = False) -> list[str]:
    try:
        rows = ask(sql, *arguments)
    except psycopg.OperationalError as error:
        if error.sqlstate is None:  # the connection is gone
            raise
        return [f"{name}: {_words(error)}"]
    except (psycopg.Error, AnswerError) as error:
        return [f"{name}: {_words(error)}"]
    return [f"{name}: {text}" for (text,) in rows] if rows_are_findings else []


def _words(error: Exception) -> str:
    return " ".join(str(error).split())
