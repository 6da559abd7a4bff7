"""Which servers there are: one by family and basedir, or all that this machine has."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from diskproof import load
from diskproof.families import FAMILIES, Family, of
from diskproof.results.machine import ServerFacts
from diskproof.results.record import Flavour
from diskproof.server.base import ServerKind, ServerNotFoundError
from diskproof.server.lifecycle import answer_of
from diskproof.server.mysql import MysqlServer, find_mysql
from diskproof.server.sqlite import SqliteServer
from diskproof.system.containers import ImageNotFoundError, find_image


@dataclass(frozen=True)
class Installed:
    """What this machine has of one family."""

    family: Family
    facts: ServerFacts | None
    """None if there is no such server."""
    remedy: str = ""
    """What to do if there is none."""


def find(
    family: Family,
    basedir: Path | None = None,
    *,
    name: str | None = None,
    flavour: Flavour | None = None,
    image: str | None = None,
) -> ServerKind:
    """Find a server: the system's own, or the one in `basedir` or `image`.

    `name` is the study's, else the family's.

    If a system may have several of a family, `flavour` chooses. ServerNotFoundError says what to do.
    """
    name = name or family
    try:
        found = find_image(image) if image else None
    except ImageNotFoundError as error:
        raise ServerNotFoundError(str(error)) from None
    match family:
        case "mysql":
            return MysqlServer(find_mysql(basedir, flavour, found), name)
        case "postgresql":
            # The driver takes long to load, and most commands ask no PostgreSQL.
            from diskproof.server.postgresql import PostgresqlServer, find_postgresql  # noqa: PLC0415

            return PostgresqlServer(find_postgresql(basedir, found), name)
        case "sqlite":
            if basedir is not None:
                raise ServerNotFoundError(
                    f"SQLite is built into the load generator and takes no basedir; leave {basedir} out"
                )
            return SqliteServer(name, _sqlite_version())
        case _:
            raise ServerNotFoundError(f"diskproof starts no {of(family).title}: give its `url`")


def _sqlite_version() -> str:
    """Return the version of the SQLite inside the load generator, which its ``--version`` names."""
    try:
        said = answer_of(Path(load.program()), "--version")
    except load.LoadFailedError as error:
        raise ServerNotFoundError(
            f"SQLite is built into the load generator, which does not run: {error}"
        ) from error
    found = re.search(r"SQLite (\d+\.\d+\.\d+)", said)
    return found[1] if found else "unknown"


def installed(basedirs: Mapping[Family, Path] = MappingProxyType({})) -> Iterator[Installed]:
    """Look for a server of each family in turn: in its folder if it has one, else the system's."""
    for family in FAMILIES:
        try:
            yield Installed(family, find(family, basedirs.get(family)).facts)
        except ServerNotFoundError as error:
            yield Installed(family, None, remedy=str(error))
