"""Finds the settings of a result's server among those given beside the results.

A result says little about its server, and an option file may be another's. They belong together if they
stand in one file, if the result has the option file's name in its own (`ssd.cnf`, `ssd-1.txt`), or by folder.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from diskproof.families import FAMILIES, Family, of
from diskproof.families.options import server_named
from diskproof.importers.heading import names_settings, says_defaults
from diskproof.importers.levels import named_levels
from diskproof.results.imported import Beside, ImportedResult, Misfit, Settings
from diskproof.stats.grouping import grouped

ONE_FILE = 1_000
"""In place of a folder's depth: closer than any folder."""

USUAL = {"my", "mysqld", "postgresql"}
"""Names of option files that say nothing of whose they are: `my.cnf` is not that of `my-ssd.txt`."""

Closeness = tuple[int, int]
"""The depth of the innermost folder with both; the letters of a name that the result has too."""


@dataclass(frozen=True)
class _ServerTold:
    """What is known of a server."""

    family: Family | None
    number: tuple[str, ...] = ()
    """Its version, as far as known: ``("5", "7")``."""
    mariadb: bool = False
    """Whether it calls itself MariaDB."""

    def may_have(self, settings: "_ServerTold") -> bool:
        """Tell whether the known families and versions allow settings to be this server's."""
        return not (self.is_of_another_family(settings) or self.is_of_another_version(settings))

    def is_of_another_family(self, settings: "_ServerTold") -> bool:
        """Tell whether settings are of another kind of server."""
        return self.family not in {None, settings.family}

    def is_of_another_version(self, settings: "_ServerTold") -> bool:
        """Tell whether the settings are of another series than this server."""
        if not settings.number:
            return False
        return settings.number[: len(self.number)] != self.number or (self.mariadb and not settings.mariadb)


def servers_given(given: Sequence[Settings]) -> list[Beside]:
    """Return what was given, put together by server: an option file and an answer.

    The only option file and the only answer of a folder, or of all, are of one server. Of several of a kind
    nothing says which belong together: each is on its own.
    """
    if _is_one_server(given):
        return [_together(given)] if given else []
    servers = []
    for some in grouped(given, lambda one: PurePath(one.source.file).parent).values():
        servers += [_together(some)] if _is_one_server(some) else [_together([one]) for one in some]
    return servers


def belonging(results: Sequence[ImportedResult], given: Sequence[Settings]) -> list[Beside]:
    """Return for each result what was given of its server; if that is not established, why not.

    A load on bare files has no server.
    """
    measured = [one for one in results if one.load.file_requests is None]
    told = [_server_of_result(one) for one in measured]
    servers = servers_given(given)
    kinds = [_server_of_settings(server) for server in servers]
    reached = [_reach(server, kind, measured, told) for server, kind in zip(servers, kinds, strict=True)]
    found = []
    for at, own in enumerate(told):
        near = [(reach[0], place) for place, reach in enumerate(reached) if reach and at in reach[1]]
        nearest = [place for close, place in near if close == max(near)[0]]
        if not near:
            possible = [place for place, kind in enumerate(kinds) if own.may_have(kind)]
            # The only one that it can be, and marked for no other.
            nearest = possible if len(possible) == 1 and reached[possible[0]] is None else []
        found.append(servers[nearest[0]] if len(nearest) == 1 else _untied(servers, kinds, own))
    of_measured = iter(found)
    return [next(of_measured) if one.load.file_requests is None else Beside() for one in results]


def _is_one_server(given: Sequence[Settings]) -> bool:
    observed = sum(one.observed for one in given)
    return observed <= 1 and len(given) - observed <= 1


def _together(given: Sequence[Settings]) -> Beside:
    return Beside(
        asked=next((one for one in given if not one.observed), None),
        observed=next((one for one in given if one.observed), None),
    )


def _reach(
    server: Beside, kind: _ServerTold, results: Sequence[ImportedResult], told: Sequence[_ServerTold]
) -> tuple[Closeness, Collection[int]] | None:
    """Return how close a server's settings stand to results, and the places of those that may have them.

    A name or folder that some of the results have excludes the others. None if neither says whose they are.
    """
    kept = [at for at, own in enumerate(told) if own.may_have(kind)]
    if inside := [at for at in kept if results[at].source.file in server.files]:
        return (ONE_FILE, 0), _below(server, inside, results)
    home = PurePath(server.files[0]).parent
    depth, beside = 0, list(range(len(results)))
    for folder in (home, *home.parents)[: len(home.parts) - bool(home.anchor)]:
        if lie := [at for at in beside if PurePath(results[at].source.file).is_relative_to(folder)]:
            depth, beside = len(folder.parts), lie
            break
    below = [at for at in beside if at in kept]
    stems = {PurePath(file).stem for file in server.files} - USUAL
    for stem in sorted(stems, key=len, reverse=True):
        if named := [at for at in below if _has_word(results[at].source.file, stem)]:
            return (depth, len(stem)), named
    return ((depth, 0), below) if len(beside) < len(results) else None


def _has_word(file: str, word: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", file, re.IGNORECASE) is not None


def _below(server: Beside, inside: Sequence[int], results: Sequence[ImportedResult]) -> Collection[int]:
    """Return the results of one file that stand below its settings: those above may have had others.

    So may those below whose own heading speaks of settings. If the first of them ran with the defaults,
    nothing says which one had the settings. Settings below all results are of the last one.
    """
    told = [one for one in (server.asked, server.observed) if one]
    last = {one.source.file: one.last_line for one in told}
    below = [at for at in inside if results[at].source.line > last.get(results[at].source.file, 0)] or inside[
        -1:
    ]
    first = results[below[0]].heading
    if says_defaults(first):
        return []
    return [at for at in below if results[at].heading == first or not names_settings(results[at].heading)]


def _untied(servers: Sequence[Beside], kinds: Sequence[_ServerTold], own: _ServerTold) -> Beside:
    """Return that nothing is known of a result's server, and why that which was given does not count."""
    if not servers:
        return Beside()
    misfit: Misfit = "whether" if len(servers) == 1 else "which"
    if all(own.is_of_another_family(kind) for kind in kinds):
        misfit = "another kind"
    elif all(own.is_of_another_version(kind) for kind in kinds):
        misfit = "another version"
    return Beside(misfit=misfit, given=list(dict.fromkeys(file for one in servers for file in one.files)))


# ---------------------------------------------------------------- family and version

_CALLED = {word: family for family in FAMILIES for word in of(family).called}

_NAMED = re.compile(
    rf"(?<![a-z])(?P<name>{'|'.join(_CALLED)})(?![a-z])[-_ ]*(?P<number>\d{{1,2}}(?:\.\d{{1,3}}){{0,2}})?"
)
"""A server in the name of a level, with the series behind it: ``mysql-5.7``, ``postgresql-15``."""


def _server_of_result(result: ImportedResult) -> _ServerTold:
    """Return the server that a result is of: by its output, or by the level in its file's name.

    A bare number behind MySQL or MariaDB may be a server's place among others: ``mysql-2``.
    """
    level = result.levels.get("server") or named_levels(result.source.file).get("server", "")
    named = _NAMED.search(level.casefold())
    family = _family_of_output(result)
    if named is None:
        return _ServerTold(family)
    by_name = _CALLED[named["name"]]
    number = tuple((named["number"] or "").split(".")) if named["number"] else ()
    if by_name == "mysql" and len(number) == 1:
        number = ()
    return _ServerTold(family or by_name, number, named["name"] == "mariadb")


def _server_of_settings(given: Beside) -> _ServerTold:
    """Return the server that settings are of."""
    told = [one for one in (given.observed, given.asked) if one]
    version = next((one.version.casefold() for one in told if one.version), "")
    formats = {one.source.format for one in told}
    by_format = (family for family in FAMILIES if not formats.isdisjoint(of(family).settings_formats))
    number = re.search(r"\d+(?:\.\d+)*", version)
    return _ServerTold(
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
