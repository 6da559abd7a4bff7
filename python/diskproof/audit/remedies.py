"""What helps against an error of a statement, by the server's code or, in another tool's words, its name."""

import re
from dataclasses import dataclass

from diskproof.results.load import LoadError


@dataclass(frozen=True)
class Kind:
    """Errors with one remedy."""

    codes: frozenset[str]
    """MySQL's numbers, SQLSTATEs of PostgreSQL, SQLite's names."""
    words: re.Pattern[str]
    """How servers and tools word it."""
    remedy: str


def _kind(codes: str, words: str, remedy: str) -> Kind:
    return Kind(frozenset(codes.split()), re.compile(words, re.IGNORECASE), remedy)


KINDS = (
    _kind(
        "1062 1586 1022 23505 SQLITE_CONSTRAINT",
        r"duplicate (key|entry)|unique constraint",
        "let each client insert keys of its own: draw them, use a sequence or auto_increment, or start each "
        "trial from fresh data",
    ),
    _kind(
        "1213 1205 1614 3572 40P01 40001 55P03 SQLITE_BUSY SQLITE_LOCKED",
        r"deadlock|lock wait timeout|could not serialize|database (table )?is locked",
        "fewer clients, more rows, or keys drawn uniformly; change rows in the same order everywhere",
    ),
    _kind(
        "1040 1203 1226 53300",
        r"too many (connections|clients)|max_user_connections",
        "fewer clients, or a larger `max_connections` of the server",
    ),
    _kind(
        "1290 1036 1792 1836 25006 SQLITE_READONLY",
        r"read[- ]only",
        "give the load a server that may be written to: no replica, `read_only` and "
        "`default_transaction_read_only` off",
    ),
    _kind(
        "1021 1114 28 53100 SQLITE_FULL",
        r"no space left|disk (is )?full|table .* is full",
        "a larger storage, fewer rows, or a shorter measurement",
    ),
    _kind(
        "1146 1054 1049 1051 42P01 42703 3D000",
        r"no such (table|column)|unknown (column|table|database)|relation .* does not exist|doesn't exist",
        "make the tables that the statements name: run the tool's prepare step, or correct the names",
    ),
    _kind(
        "1064 1149 42601",
        r"syntax error|error in your sql syntax",
        "correct the statement, in the SQL of this server and its version",
    ),
    _kind(
        "1044 1045 1142 1143 1227 42501 28P01 28000 SQLITE_AUTH SQLITE_PERM",
        r"access denied|permission denied|authentication failed",
        "give the account the rights that the statement needs, or another account",
    ),
    _kind(
        "2006 2013 2002 2003 08006 57P01 57P02 unreachable",
        r"gone away|lost connection|connection refused|terminating connection|server closed the connection",
        "read the server's log: it ended, restarted, or closed the connections",
    ),
)

OTHERWISE = "read the server's log; correct what the error names"


def remedy_for(error: LoadError | None) -> str | None:
    """Return what helps against an error; None if there is none to judge by."""
    if error is None:
        return None
    found = next((kind for kind in KINDS if error.code in kind.codes), None) or next(
        (kind for kind in KINDS if kind.words.search(error.message)), None
    )
    return found.remedy if found else OTHERWISE
