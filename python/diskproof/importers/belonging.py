"""Finds the option file, answer and counters of a result's server among those given beside the results.

A result says little about its server, and an option file may be another's. They belong together if something
says so: one file that holds both, the levels or words in their names, their folder, or that the settings of
only one server were given.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from diskproof.importers.heading import names_settings, says_defaults
from diskproof.importers.levels import named_levels, without_repeats
from diskproof.importers.which_server import ServerTold, server_of_result, server_of_settings
from diskproof.results.factor import Factor
from diskproof.results.imported import Beside, Counters, ImportedResult, Misfit, Settings

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
"""Words in the name of an option file or a dump that say what it is, not whose."""

_Closeness = tuple[int, int, int, int]
"""One file for both; levels that both name; words of its name that the other has too; folders in common."""


@dataclass(frozen=True)
class _Mark:
    """What a file's place says about the server that it belongs to."""

    folder: tuple[str, ...]
    words: frozenset[str]
    levels: dict[Factor, str]


@dataclass(frozen=True)
class _Measured:
    """What a result says about its server."""

    file: str
    line: int
    folder: tuple[str, ...]
    words: frozenset[str]
    levels: dict[Factor, str]
    server: ServerTold
    heading: str = ""

    def may_be_on(self, server: ServerTold) -> bool:
        """Tell whether the known families and versions allow it."""
        return not (self.server.is_of_another_family(server) or self.server.is_of_another_version(server))


def servers_given(given: Sequence[Given]) -> list[Beside]:
    """Return what was given, put together by server: one option file, one answer, any number of counters.

    Files of one folder belong to one server if their names have the same words. So do the only option file
    and the only answer. If there are more of a kind, nothing says which belong together: each is on its own.
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
    """Return for each result what was given of its server; if that is not established, why not.

    A load on bare files has no server.
    """
    measured = [_measured(one) for one in results if one.load.file_requests is None]
    servers = servers_given(given)
    kinds = [server_of_settings(server) for server in servers]
    reached = [_reach(server, measured) for server in servers]
    told: list[Beside] = []
    for at, result in enumerate(measured):
        near = {place: reach[at] for place, reach in enumerate(reached) if reach and at in reach}
        nearest = max(near.values(), default=None)
        places = [place for place, close in near.items() if close == nearest]
        if not near:
            possible = [place for place, kind in enumerate(kinds) if result.may_be_on(kind)]
            # The only one that it can be, and marked for no other.
            places = possible if len(possible) == 1 and reached[possible[0]] is None else []
        told.append(servers[places[0]] if len(places) == 1 else _untied(servers, kinds, result))
    of_measured = iter(told)
    return [next(of_measured) if one.load.file_requests is None else Beside() for one in results]


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


# ---------------------------------------------------------------- for which results


def _reach(server: Beside, results: Sequence[_Measured]) -> dict[int, _Closeness] | None:
    """Return the places of the results that a server's files are marked for, with how closely.

    A mark that some of the results have excludes the others; one that none of them has says nothing. None if
    no mark says to which server they belong.
    """
    kind, files = server_of_settings(server), server.files
    kept = [at for at, one in enumerate(results) if one.may_be_on(kind)]
    if inside := [at for at in kept if results[at].file in files]:
        return dict.fromkeys(_below(server, inside, results), (1, 0, 0, 0))
    levels = words = folders = 0
    for mark in map(_mark, files):
        if named := [at for at in kept if _has_its_levels(mark, results[at])]:
            kept, levels = named, max(levels, len(mark.levels))
        if named := [at for at in kept if _has_its_words(mark, results[at])]:
            kept, words = named, max(words, len(mark.words))
        folder, below = _nearest(mark.folder, results)
        if len(below) < len(results) and (near := [at for at in kept if at in below]):
            kept, folders = near, max(folders, len(folder))
    marked = levels or words or folders
    return dict.fromkeys(kept, (0, levels, words, folders)) if marked else None


def _below(server: Beside, inside: Sequence[int], results: Sequence[_Measured]) -> Sequence[int]:
    """Return the results of one file that stand below its settings: those above may have had others.

    So may those below whose own heading speaks of settings. If the first of them ran with the defaults,
    nothing says which one had the settings. Settings below all results are of the last one.
    """
    told = [one for one in (server.asked, server.observed) if one]
    last = {one.source.file: one.last_line for one in told}
    below = [at for at in inside if results[at].line > last.get(results[at].file, 0)] or inside[-1:]
    first = results[below[0]].heading
    if told and says_defaults(first):
        return []
    return [at for at in below if results[at].heading == first or not names_settings(results[at].heading)]


def _has_its_levels(mark: _Mark, result: _Measured) -> bool:
    told = result.levels
    return bool(mark.levels) and all(told.get(factor) == level for factor, level in mark.levels.items())


def _has_its_words(mark: _Mark, result: _Measured) -> bool:
    return bool(mark.words) and mark.words <= result.words


def _nearest(folder: tuple[str, ...], results: Sequence[_Measured]) -> tuple[tuple[str, ...], frozenset[int]]:
    """Return the innermost of a file's folders that holds results, and their places: all if none does.

    ``ssd/conf/my.cnf`` lies beside ``ssd/oltp.txt``. The root of all files is no such folder.
    """
    for depth in range(len(folder), len(PurePath(*folder).anchor), -1):
        below = frozenset(at for at, one in enumerate(results) if one.folder[:depth] == folder[:depth])
        if below:
            return folder[:depth], below
    return (), frozenset(range(len(results)))


def _untied(servers: Sequence[Beside], kinds: Sequence[ServerTold], result: _Measured) -> Beside:
    """Return that nothing is known of a result's server, and why that which was given does not count."""
    files = list(dict.fromkeys(file for server in servers for file in server.files))
    if not files:
        return Beside()
    misfit: Misfit = "whether" if len(servers) == 1 else "which"
    if all(
        server.settings and result.server.is_of_another_family(kind)
        for server, kind in zip(servers, kinds, strict=True)
    ):
        misfit = "another kind"
    elif all(result.server.is_of_another_version(kind) for kind in kinds):
        misfit = "another version"
    return Beside(misfit=misfit, given=files)


# ---------------------------------------------------------------- names


def _mark(file: str) -> _Mark:
    path = PurePath(file)
    levels = named_levels(path.name)
    words = frozenset() if levels else frozenset(_words(without_repeats(path.name))) - KINDS
    return _Mark(path.parent.parts, words, levels)


def _measured(result: ImportedResult) -> _Measured:
    file = result.source.file
    path = PurePath(file)
    words = frozenset(_words(str(path)))
    return _Measured(
        file,
        result.source.line,
        path.parent.parts,
        words,
        named_levels(file),
        server_of_result(result),
        result.heading,
    )


def _words(text: str) -> Iterator[str]:
    yield from re.findall(r"[^\W_]+", text.casefold())
