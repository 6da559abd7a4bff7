"""Which servers there are: one by family and basedir, or all that this machine has."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from diskproof import load
from diskproof.results.machine import ServerFacts
from diskproof.server.base import ServerKind, ServerNotFoundError
from diskproof.server.mysql import MysqlServer, find_mysql
from diskproof.server.postgresql import PostgresqlServer, find_postgresql
from diskproof.server.sqlite import SqliteServer
from diskproof.study.part import Family, Flavour

FAMILIES: tuple[Family, ...] = ("mysql", "postgresql", "sqlite")


@dataclass(frozen=True)
class Installed:
    """What this machine has of one family."""

    family: Family
    facts: ServerFacts | None
    """None where there is no such server."""
    remedy: str = ""
    """What to do where there is none."""


def find(
    family: Family,
    basedir: Path | None = None,
    *,
    name: str | None = None,
    flavour: Flavour | None = None,
) -> ServerKind:
    """Find a server: the system's own, or the one in `basedir`. `name` is the study's, else the family's.

    `flavour` is the one that it must be, of the MySQL family. ServerNotFoundError says where it looked and
    what to do.
    """
    name = name or family
    match family:
        case "mysql":
            return MysqlServer(find_mysql(basedir, flavour), name)
        case "postgresql":
            return PostgresqlServer(find_postgresql(basedir), name)
        case "sqlite":
            if basedir is not None:
                raise ServerNotFoundError(
                    f"SQLite is built into the load generator and takes no basedir; leave {basedir} out"
                )
            return SqliteServer(name, _sqlite_version())
        case _:
            assert_never(family)


def _sqlite_version() -> str:
    """Return the version of the SQLite inside the load generator, which names it in its ``--version``."""
    try:
        program = load.program()
        said = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=True).stdout
    except (load.LoadFailedError, OSError, subprocess.CalledProcessError) as error:
        raise ServerNotFoundError(
            f"SQLite is built into the load generator, which does not run: {error}"
        ) from error
    found = re.search(r"SQLite (\d+\.\d+\.\d+)", said)
    return found[1] if found else "unknown"


def installed() -> list[Installed]:
    """Look for the system's server of each family."""
    return [_look_for(family) for family in FAMILIES]


def _look_for(family: Family) -> Installed:
    try:
        return Installed(family, find(family).facts)
    except ServerNotFoundError as error:
        return Installed(family, None, remedy=str(error))
