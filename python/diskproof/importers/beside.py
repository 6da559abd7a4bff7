"""Whose settings: which option file, answer and counters, given beside results, are of a result's server.

A result tells little of its server, and an option file may be another's. They belong together where somebody
said so: by one file that holds both, by the levels that their names tell, by the words of their names, by
their folder; or by naming one server's settings alone beside the results.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from diskproof.importers.levels import named_levels, without_repeats
from diskproof.results.factor import Factor
from diskproof.results.imported import Beside, Counters, ImportedResult, Settings

Given = Settings | Counters

KINDS = frozenset(
    {
        *(
            "my",
            "mysqld",
            "server",
            "cnf",
            "conf",
            "ini",
            "txt",
            "log",
            "out",
            "csv",
            "auto",
            "dump",
            "table",
        ),
        *("config", "configuration", "setting", "settings", "option", "options", "counters", "status"),
        *("var", "vars", "variable", "variables", "show", "global", "session"),
        *("before", "after", "start", "end", "begin"),
    }
)
"""Words in the name of an option file or a dump that tell what it is, and not whose."""

POSTGRESQL_FORMATS = frozenset({"postgresql.conf", "pg_settings"})


_Closeness = tuple[int, int, int, int]
"""One file for both; levels that both name; words of its name that the other has too; folders in common."""


@dataclass(frozen=True)
class _Mark:
    """What the place of a file says of whose it is."""

    folder: tuple[str, ...]
    words: frozenset[str]
    levels: dict[Factor, str]


def servers_given(given: Sequence[Given]) -> list[Beside]:
    """Return what was given, put together by server: one option file, one answer, any number of counters.

    What stands in one folder under names that tell them apart by nothing is one server's; so is the only
    option file that was given and the only answer. Of more than one of a kind nothing tells which belong
    together, and each stands for itself.
    """
    if _is_one_server(given):
        return [_together(given)] if given else []
    by_mark: list[tuple[_Mark, list[Given]]] = []
    for one in given:
        mark = _mark(one.source.file)
        group = next((group for other, group in by_mark if other == mark), None)
        if group is None:
            by_mark.append((mark, [one]))
        else:
            group.append(one)
    servers = []
    for _, group in by_mark:
        servers += [_together(group)] if _is_one_server(group) else [_together([one]) for one in group]
    return servers


def belonging(results: Sequence[ImportedResult], given: Sequence[Given]) -> list[Beside]:
    """Return for each result what was given of its server; where that is not established, why not.

    A load on bare files has no server.
    """
    measured = [one for one in results if one.load.file_requests is None]
    servers = _apart(servers_given(given), measured)
    reached = [_reach(server, measured) for server in servers]
    told: dict[int, Beside] = {}
    for at, result in enumerate(measured):
        near = {place: reach[at] for place, reach in enumerate(reached) if at in reach}
        nearest = [servers[place] for place, close in near.items() if close == max(near.values())]
        possible = [place for place, server in enumerate(servers) if _may_be_of(server, result)]
        if not near and len(possible) == 1 and not reached[possible[0]]:
            nearest = [servers[possible[0]]]  # the only one that it can be, and marked for no other
        told[id(result)] = nearest[0] if len(nearest) == 1 else _untied(servers, result)
    return [told.get(id(one), Beside()) for one in results]


def family_of(result: ImportedResult) -> str | None:
    """Return ``mysql`` or ``postgresql`` where its output or its name tells on which it ran; else None."""
    if result.source.format == "pgbench":
        return "postgresql"
    if "mysqlslap" in result.source.format or "mariadb-slap" in result.source.format:
        return "mysql"
    driver = {"mysql": "mysql", "pgsql": "postgresql"}.get(result.asked.get("db-driver", ""))
    if driver is None and (named := _NAMED.search(_named_server(result))):
        return "postgresql" if named["name"].startswith(("postgres", "pg")) else "mysql"
    return driver


def family_given(server: Beside) -> str:
    """Return the family that settings are of: ``mysql`` or ``postgresql``."""
    told = [one for one in (server.asked, server.observed) if one]
    postgresql = any(
        one.source.format in POSTGRESQL_FORMATS or "postgres" in (one.version or "").lower() for one in told
    )
    return "postgresql" if postgresql else "mysql"


# ---------------------------------------------------------------- one server


def _is_one_server(given: Sequence[Given]) -> bool:
    asked = sum(isinstance(one, Settings) and not one.observed for one in given)
    observed = sum(isinstance(one, Settings) and one.observed for one in given)
    return asked <= 1 and observed <= 1


def _together(given: Sequence[Given]) -> Beside:
    settings = [one for one in given if isinstance(one, Settings)]
    return Beside(
        asked=next((one for one in settings if not one.observed), None),
        observed=next((one for one in settings if one.observed), None),
        counters=[one for one in given if isinstance(one, Counters)],
    )


def _apart(servers: list[Beside], results: Sequence[ImportedResult]) -> list[Beside]:
    """Take apart again what is one server by its number alone, where its names are those of other results."""
    if len(servers) != 1:
        return servers
    given: list[Given] = [one for one in (servers[0].asked, servers[0].observed) if one]
    given += servers[0].counters
    by_reach: dict[frozenset[int] | None, list[Given]] = {}
    for one in given:
        by_reach.setdefault(_marked(one, results), []).append(one)
    marked = [group for reach, group in by_reach.items() if reach is not None]
    if len(marked) < 2:
        return servers
    return [_together(group) for group in by_reach.values()]


def _marked(given: Given, results: Sequence[ImportedResult]) -> frozenset[int] | None:
    """Return the results that a file is marked for, by its name or its folder; None where it is for any."""
    reach = _reach(_together([given]), results)
    return frozenset(reach) if reach else None


# ---------------------------------------------------------------- for which results


def _reach(server: Beside, results: Sequence[ImportedResult]) -> dict[int, _Closeness]:
    """Return the places of the results that a server's files are marked for, with how closely.

    Each mark that some of the results carry narrows them; one that none of them carries says nothing. Empty
    where no mark says whose they are.
    """
    kept = [at for at, one in enumerate(results) if _may_be_of(server, one)]
    if inside := [at for at in kept if results[at].source.file in server.files]:
        return dict.fromkeys(inside, (1, 0, 0, 0))
    levels = words = folders = 0
    for mark in map(_mark, server.files):
        if named := [at for at in kept if _has_its_levels(mark, results[at].source.file)]:
            kept, levels = named, max(levels, len(mark.levels))
        if named := [at for at in kept if _has_its_words(mark, results[at].source.file)]:
            kept, words = named, max(words, len(mark.words))
        folder, below = _nearest(mark.folder, results)
        if len(below) < len(results) and (near := [at for at in kept if at in below]):
            kept, folders = near, max(folders, len(folder))
    marked = levels or words or folders
    return dict.fromkeys(kept, (0, levels, words, folders)) if marked else {}


def _may_be_of(server: Beside, result: ImportedResult) -> bool:
    """Tell whether family and series of both, as far as told, do not forbid it; counters are MySQL's."""
    return family_of(result) in {None, family_given(server)} and not _is_of_another_series(server, result)


_NAMED = re.compile(
    r"(?P<name>mysql|mariadb|percona|postgres(?:ql)?|pg)(?![a-z])[-_ ]*(?P<number>\d{1,2}(?:\.\d{1,3}){0,2})?"
)
"""A server in a level's name, with the series that stands behind it: ``mysql-5.7``, ``postgresql-15``."""


def _named_server(result: ImportedResult) -> str:
    """Return the level of the server, by the output or the file's name, in lower case; else nothing."""
    told = result.levels.get("server") or named_levels(result.source.file).get("server", "")
    return told.casefold()


def _is_of_another_series(server: Beside, result: ImportedResult) -> bool:
    """Tell whether the server answered as another than the one that the result is said to be of.

    A bare number behind MySQL or MariaDB may be a server's number among others: ``mysql-2``.
    """
    version = next((one.version for one in (server.observed, server.asked) if one and one.version), "")
    named, told = _NAMED.search(_named_server(result)), re.search(r"\d+(?:\.\d+)*", version)
    if named is None or told is None:
        return False
    if named["name"] == "mariadb" and "mariadb" not in version.casefold():
        return True
    number = (named["number"] or "").split(".")
    if number == [""] or (len(number) == 1 and family_given(server) == "mysql"):
        return False
    return told[0].split(".")[: len(number)] != number


def _has_its_levels(mark: _Mark, file: str) -> bool:
    told = named_levels(file)
    return bool(mark.levels) and all(told.get(factor) == level for factor, level in mark.levels.items())


def _has_its_words(mark: _Mark, file: str) -> bool:
    return bool(mark.words) and mark.words <= frozenset(_words(str(PurePath(file))))


def _nearest(
    folder: tuple[str, ...], results: Sequence[ImportedResult]
) -> tuple[tuple[str, ...], frozenset[int]]:
    """Return the innermost of a file's folders that holds results, and their places: all where none does.

    ``ssd/conf/my.cnf`` lies beside ``ssd/oltp.txt``. The root of all files is no such folder.
    """
    parents = [PurePath(one.source.file).parent.parts for one in results]
    for depth in range(len(folder), len(PurePath(*folder).anchor), -1):
        below = frozenset(at for at, parent in enumerate(parents) if parent[:depth] == folder[:depth])
        if below:
            return folder[:depth], below
    return (), frozenset(range(len(results)))


def _untied(servers: Sequence[Beside], result: ImportedResult) -> Beside:
    """Return that nothing is known of a result's server, and why that which was given does not count."""
    files = list(dict.fromkeys(file for server in servers for file in server.files))
    if not files:
        return Beside()
    named = ", ".join(files[:MOST_NAMED]) + (
        f" and {len(files) - MOST_NAMED} more" if files[MOST_NAMED:] else ""
    )
    family = family_of(result)
    if family and all(server.settings and family_given(server) != family for server in servers):
        return Beside(why_not=f"the server's settings (those given, {named}, are of another kind of server)")
    if all(_is_of_another_series(server, result) for server in servers):
        return Beside(why_not=f"the server's settings (those given, {named}, are of another version of it)")
    if len(servers) == 1:
        return Beside(why_not=f"whether the settings given ({named}) are this server's")
    return Beside(why_not=f"which of the settings given ({named}) are this server's")


MOST_NAMED = 4


# ---------------------------------------------------------------- names


def _mark(file: str) -> _Mark:
    path = PurePath(file)
    levels = named_levels(path.name)
    words = frozenset() if levels else frozenset(_words(without_repeats(path.name))) - KINDS
    return _Mark(path.parent.parts, words, levels)


def _words(text: str) -> Iterator[str]:
    yield from re.findall(r"[^\W_]+", text.casefold())
