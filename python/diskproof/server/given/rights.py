"""What an account may do beyond one database, by what the MySQL family says of its grants; pure."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

READS = {"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "PROCESS", "SHOW_ROUTINE"}
"""Rights that change nothing, wherever they hold."""

WATCHES = {"REPLICATION CLIENT", "BINLOG MONITOR", "SLAVE MONITOR", "REPLICA MONITOR"}

VARIABLES = {
    "SYSTEM_VARIABLES_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "BINLOG ADMIN",
    "CONNECTION ADMIN",
    "READ_ONLY ADMIN",
    "REPLICATION MASTER ADMIN",
}
"""Rights that set variables of the server. SUPER also makes routines that run as somebody else, and
REPLICATION SLAVE ADMIN names another server: they reach every database."""

SCRATCH = {"test", r"test\_%"}
"""Databases that MariaDB's installation opens to everybody, by grants to PUBLIC."""

NOWHERE = "\0"
"""The name of no database."""

NAME = r"""\*|`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^\s.`"]+"""
ON = re.compile(
    rf"GRANT (?P<rights>.+?) ON (?:TABLE |FUNCTION |PROCEDURE |PACKAGE BODY |PACKAGE )?"
    rf"(?P<database>{NAME})\.(?P<object>{NAME}) TO (?P<rest>.*)",
    re.DOTALL,
)
ROLES = re.compile(r"GRANT (?P<roles>(?:(?! ON ).)+) TO ", re.DOTALL)


@dataclass
class Rights:
    """What an account may do that leaves its database."""

    beyond: list[str] = field(default_factory=list)
    """Rights in other databases and over the server, in the server's words."""
    variables: list[str] = field(default_factory=list)
    """Rights to set variables of the server."""
    scratch: list[str] = field(default_factory=list)
    """Other databases that everybody may write to, as patterns."""
    calls: bool = False
    """Whether it may call routines, which can have the rights of their definer."""


def rights_of(grants: Iterable[str], database: str, others: Collection[str]) -> Rights:
    """Read the answers to SHOW GRANTS; `others` are the server's other databases."""
    found = Rights()
    for grant in grants:
        if grant.startswith(("REVOKE ", "SET DEFAULT ROLE ")) or (ROLES.match(grant) and " ON " not in grant):
            continue
        held = ON.match(grant)
        if held is None:  # PROXY, and what newer servers have; the rest may have the hash of a password
            found.beyond.append(grant.partition(" TO ")[0].removeprefix("GRANT "))
            continue
        if held["rest"].startswith("PUBLIC") and _name(held["database"]) in SCRATCH:
            found.scratch.append(held["database"])
            continue
        where = f"{held['database']}.{held['object']}"
        without_columns = re.sub(r"\([^()]*\)", "", held["rights"])
        rights = [right.strip().upper() for right in without_columns.split(",")]
        if "WITH GRANT OPTION" in held["rest"]:
            rights.append("GRANT OPTION")
        found.calls = found.calls or not {"EXECUTE", "ALL PRIVILEGES"}.isdisjoint(rights)
        inside = _is_inside(_name(held["database"]), held["database"], database, others)
        for right in rights:
            if right in READS | WATCHES or (inside and right != "GRANT OPTION"):
                continue
            into = found.variables if held["database"] == "*" and right in VARIABLES else found.beyond
            into.append(f"{right} ON {where}")
    return found


def roles_in(grants: Iterable[str]) -> Iterator[str]:
    """Yield the roles that grants give, as SQL has them."""
    for grant in grants:
        if (found := ROLES.match(grant)) and " ON " not in grant and not grant.startswith("GRANT PROXY"):
            yield from (role.strip() for role in found["roles"].split(","))


def _name(written: str) -> str:
    mark = written[0]
    return written[1:-1].replace(2 * mark, mark) if mark in '`"' else written


def _is_inside(pattern: str, written: str, database: str, others: Collection[str]) -> bool:
    """Return whether a grant's database is ours alone: `%` and `_` stand for others, too.

    A `_` that should have been escaped counts only if it lets another database in.
    """
    if written == "*":
        return False
    if pattern == database:
        unescaped = re.sub(r"\\.", "", pattern)
        return "%" not in unescaped and not any(_matches(pattern, other) for other in others)
    return re.sub(r"\\(.)", r"\1", pattern) == database


def _matches(pattern: str, name: str) -> bool:
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    wild = {"_": ".", "%": ".*"}
    return re.fullmatch("".join(wild.get(part, re.escape(part[-1])) for part in parts), name) is not None
