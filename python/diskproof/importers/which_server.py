"""Which server results and settings belong to, by family and version."""

import re
from dataclasses import dataclass

from diskproof.families import FAMILIES, Family, of
from diskproof.families.options import server_named
from diskproof.importers.levels import named_levels
from diskproof.results.imported import Beside, ImportedResult

CALLED = {word: family for family in FAMILIES for word in of(family).called}

_NAMED = re.compile(
    rf"(?<![a-z])(?P<name>{'|'.join(CALLED)})(?![a-z])[-_ ]*(?P<number>\d{{1,2}}(?:\.\d{{1,3}}){{0,2}})?"
)
"""A server in the name of a level, with the series behind it: ``mysql-5.7``, ``postgresql-15``."""


@dataclass(frozen=True)
class ServerTold:
    """What is known of a server."""

    family: Family | None
    number: tuple[str, ...] = ()
    """Its version, as far as known: ``("5", "7")``."""
    mariadb: bool = False
    """Whether it calls itself MariaDB."""

    def may_have(self, settings: "ServerTold") -> bool:
        """Tell whether the known families and versions allow settings to be this server's."""
        return not (self.is_of_another_family(settings) or self.is_of_another_version(settings))

    def is_of_another_family(self, settings: "ServerTold") -> bool:
        """Tell whether settings are of another kind of server."""
        return self.family not in {None, settings.family}

    def is_of_another_version(self, settings: "ServerTold") -> bool:
        """Tell whether the settings are of another series than this server."""
        if not settings.number:
            return False
        return settings.number[: len(self.number)] != self.number or (self.mariadb and not settings.mariadb)


def server_of_result(result: ImportedResult) -> ServerTold:
    """Return the server that a result is of: by its output, or by the level in its file's name.

    A bare number behind MySQL or MariaDB may be a server's place among others: ``mysql-2``.
    """
    level = result.levels.get("server") or named_levels(result.source.file).get("server", "")
    named = _NAMED.search(level.casefold())
    family = _family_of_output(result)
    if named is None:
        return ServerTold(family)
    by_name = CALLED[named["name"]]
    number = tuple((named["number"] or "").split(".")) if named["number"] else ()
    if by_name == "mysql" and len(number) == 1:
        number = ()
    return ServerTold(family or by_name, number, named["name"] == "mariadb")


def server_of_settings(given: Beside) -> ServerTold:
    """Return the server that settings are of."""
    told = [one for one in (given.observed, given.asked) if one]
    version = next((one.version.casefold() for one in told if one.version), "")
    formats = {one.source.format for one in told}
    by_format = (family for family in FAMILIES if not formats.isdisjoint(of(family).settings_formats))
    number = re.search(r"\d+(?:\.\d+)*", version)
    return ServerTold(
        next(by_format, server_named(version).family),
        tuple(number[0].split(".")) if number else (),
        "mariadb" in version,
    )


def _family_of_output(result: ImportedResult) -> Family | None:
    output, driver = result.source.format, result.asked.get("db-driver")
    for family in FAMILIES:
        if any(tool in output for tool in of(family).tools) or driver in of(family).drivers:
            return family
    return None
