"""Which server results and settings are of, by family and version, as far as they tell."""

import re
from dataclasses import dataclass

from diskproof.importers.levels import named_levels
from diskproof.results.imported import Beside, ImportedResult
from diskproof.study.part import Family

POSTGRESQL_FORMATS = frozenset({"postgresql.conf", "pg_settings"})

_NAMED = re.compile(
    r"(?<![a-z])(?P<name>mysql|mariadb|percona|postgres(?:ql)?|pg)(?![a-z])"
    r"[-_ ]*(?P<number>\d{1,2}(?:\.\d{1,3}){0,2})?"
)
"""A server in the name of a level, with the series behind it: ``mysql-5.7``, ``postgresql-15``."""


@dataclass(frozen=True)
class ServerTold:
    """What is told of a server."""

    family: Family | None
    number: tuple[str, ...] = ()
    """Its version as far as told: ``("5", "7")``."""
    mariadb: bool = False
    """Whether it calls itself MariaDB."""

    def is_of_another_family(self, settings: "ServerTold") -> bool:
        """Tell whether settings are of another kind of server."""
        return self.family not in {None, settings.family}

    def is_of_another_version(self, settings: "ServerTold") -> bool:
        """Tell whether the server of settings told another series than this."""
        if not settings.number:
            return False
        return settings.number[: len(self.number)] != self.number or (self.mariadb and not settings.mariadb)


def server_of_result(result: ImportedResult) -> ServerTold:
    """Return the server that a result is of: by its output, or by the level that its file's name tells.

    A bare number behind MySQL or MariaDB may be a server's place among others: ``mysql-2``.
    """
    level = result.levels.get("server") or named_levels(result.source.file).get("server", "")
    named = _NAMED.search(level.casefold())
    family = _family_of_output(result)
    if named is None:
        return ServerTold(family)
    by_name: Family = "postgresql" if named["name"].startswith(("postgres", "pg")) else "mysql"
    number = tuple((named["number"] or "").split(".")) if named["number"] else ()
    if by_name == "mysql" and len(number) == 1:
        number = ()
    return ServerTold(family or by_name, number, named["name"] == "mariadb")


def server_of_settings(given: Beside) -> ServerTold:
    """Return the server that settings are of; counters are MySQL's, for no others are read."""
    told = [one for one in (given.observed, given.asked) if one]
    version = next((one.version.casefold() for one in told if one.version), "")
    formats = {one.source.format for one in told}
    postgresql = "postgres" in version or not POSTGRESQL_FORMATS.isdisjoint(formats)
    number = re.search(r"\d+(?:\.\d+)*", version)
    return ServerTold(
        "postgresql" if postgresql else "mysql",
        tuple(number[0].split(".")) if number else (),
        "mariadb" in version,
    )


def _family_of_output(result: ImportedResult) -> Family | None:
    if result.source.format == "pgbench":
        return "postgresql"
    if "mysqlslap" in result.source.format or "mariadb-slap" in result.source.format:
        return "mysql"
    drivers: dict[str, Family] = {"mysql": "mysql", "pgsql": "postgresql"}
    return drivers.get(result.asked.get("db-driver", ""))
