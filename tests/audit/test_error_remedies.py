"""The remedy fits the error: by the server's code, or by the name that another tool gives it."""

import pytest

from diskproof.audit.remedies import OTHERWISE, remedy_for
from diskproof.results.load import LoadError
from support.audited import audit


@pytest.mark.parametrize(
    ("code", "message", "said"),
    [
        ("1062", "Duplicate entry '7' for key 'PRIMARY'", "keys of its own"),
        ("23505", "duplicate key value violates unique constraint", "keys of its own"),
        ("SQLITE_CONSTRAINT", "UNIQUE constraint failed: t.id", "keys of its own"),
        ("ignored", "FATAL: Duplicate entry '7' for key", "keys of its own"),
        ("1213", "Deadlock found when trying to get lock", "fewer clients, more rows"),
        ("40P01", "deadlock detected", "fewer clients, more rows"),
        ("SQLITE_BUSY", "database is locked", "fewer clients, more rows"),
        ("1040", "Too many connections", "max_connections"),
        ("53300", "sorry, too many clients already", "max_connections"),
        ("1290", "running with the --read-only option", "written to"),
        ("1114", "The table 't' is full", "larger storage"),
        ("53100", "could not extend file: No space left on device", "larger storage"),
        ("1054", "Unknown column 'x' in 'field list'", "prepare"),
        ("42P01", 'relation "sbtest1" does not exist', "prepare"),
        ("SQLITE_ERROR", "no such table: sbtest1", "prepare"),
        ("1064", "You have an error in your SQL syntax", "correct the statement"),
        ("1142", "INSERT command denied to user", "rights"),
        ("2013", "Lost connection to server during query", "server's log"),
        ("9999", "something else", OTHERWISE),
    ],
)
def test_the_remedy_is_the_errors(code: str, message: str, said: str) -> None:
    error = LoadError(code=code, statement="x", message=message, transient=False, count=1)
    assert said in (remedy_for(error) or "")


def test_a_duplicate_key_is_no_deadlock() -> None:
    twice = LoadError(code="1062", statement="x", message="Duplicate entry", transient=False, count=900)
    found = audit({"load__failed_transactions": 900, "load__errors": [twice]})["errors"]
    assert "keys of its own" in found.remedy.text
    assert "fewer clients" not in found.remedy.text
