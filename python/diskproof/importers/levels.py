"""Which levels a file's path names: results in different files and folders are separate in the report.

``ssd.txt`` and ``hdd.txt`` are two storages. ``ssd-run1.txt`` and ``ssd-run2.txt`` are one, measured twice.
``server=mysql-8.0,storage=ssd.txt`` names the levels itself. ``ssd-1.txt`` and ``ssd-8.txt`` are one storage
if the outputs themselves have 1 and 8 clients.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from diskproof.results.factor import Factor

_REPEAT = re.compile(
    r"(?:^|[-_. ])(?:run|rep|repeat|try|trial|iteration|block)[-_. ]?\d{1,4}(?=$|[-_. ])", re.IGNORECASE
)
"""The words that mark a repeat. A bare number marks none: ``mysql-57`` and ``mysql-80`` are two servers."""

_SUFFIX = re.compile(r"\.(?:txt|log|out|csv|json|md|toml|dat)$", re.IGNORECASE)

_OPTIONS = re.compile(r"\.(?:cnf|conf|ini)$", re.IGNORECASE)

_WORD = r"(?:c|t|clients?|threads?|thr|thds?|conns?|connections?|users?|vus?|numjobs)"

_CLIENTS = re.compile(
    rf"(?:^|[-_. ])(?:(?P<before>{_WORD})[-_.= ]?)?(?P<count>\d{{1,6}})(?:[-_. ]?(?P<behind>{_WORD}))?"
    r"(?=$|[-_. ,])",
    re.IGNORECASE,
)
"""A number by itself, ``oltp-4``, or one that is called a number of clients: ``oltp-4threads``, ``c8``."""

_NAMED: tuple[Factor, ...] = ("server", "storage", "tuning", "workload", "memory")


def path_levels(
    files: Sequence[str], clients: Mapping[str, int] | None = None
) -> dict[str, dict[Factor, str]]:
    """Return the levels that each file's path names, by file; any other difference is its storage.

    Folders and names that all files share are left out: a single file's name says nothing. `clients`
    holds the number of each file whose output has only one: a name that repeats it says nothing more.
    """
    parts = _without_clients({file: _parts(file) for file in dict.fromkeys(files)}, clients or {})
    different = sorted({tuple(one) for one in parts.values()})
    start, end = _shared(different), _shared([one[::-1] for one in different])
    told = {}
    for file, all_of in parts.items():
        levels, words = _named(all_of[start : len(all_of) - end] or all_of[-1:])
        if "storage" not in levels and len(different) > 1:
            levels["storage"] = "/".join(words) or all_of[-1]
        told[file] = levels
    return told


def name_of(file: str) -> str:
    """Return a file's name without its ending and without what marks a repeat."""
    return _parts(file)[-1]


def named_levels(file: str) -> dict[Factor, str]:
    """Return the levels that a path names itself: ``tuning=safest,server=mysql-8.0.cnf``."""
    levels, _ = _named([_OPTIONS.sub("", one) for one in _parts(file)])
    return levels


def _parts(file: str) -> list[str]:
    """Return folders and name without the ending of the name; what marks a repeat is left out."""
    *folders, name = PurePath(file).parts or ("",)
    kept = [_REPEAT.sub("", part) for part in (*folders, _SUFFIX.sub("", name))]
    return [part for part in kept if part] or ["results"]


def _without_clients(parts: Mapping[str, list[str]], clients: Mapping[str, int]) -> dict[str, list[str]]:
    """Return the parts of each path without the number of clients that its output has.

    A bare number must change with the clients from file to file. In ``raid-1`` and ``raid-5`` with one client
    each it is no number of clients, though it equals it in one of them.
    """
    matches = {file: _clients_in(all_of, clients.get(file)) for file, all_of in parts.items()}
    found = {file: match for file, match in matches.items() if match}
    sweep = len({clients[file] for file in found}) > 1
    others = {shape for file, all_of in parts.items() if file not in found for shape in map(_shape, all_of)}
    kept = {}
    for file, all_of in parts.items():
        kept[file] = all_of
        if file not in found:
            continue
        at, match = found[file]
        called = match["before"] or match["behind"]
        if called or (sweep and _shape(all_of[at]) not in others):
            left = all_of[at][: match.start()] + all_of[at][match.end() :]
            kept[file] = [part for part in (*all_of[:at], left.strip("-_. ,"), *all_of[at + 1 :]) if part]
    return {file: all_of or ["results"] for file, all_of in kept.items()}


def _clients_in(parts: Sequence[str], clients: int | None) -> tuple[int, re.Match[str]] | None:
    """Return the last part that holds a number of clients, and its place; None if none does."""
    for at in reversed(range(len(parts))):
        for match in reversed(list(_CLIENTS.finditer(parts[at]))):
            if int(match["count"]) == clients:
                return at, match
    return None


def _shape(part: str) -> str:
    """Return a part without its numbers: ``oltp-4`` and ``oltp-16`` have one shape, ``ssd`` has its own."""
    return re.sub(r"\d+", "#", part) if re.search(r"\d", part) else ""


def _shared(all_parts: Sequence[Sequence[str]]) -> int:
    """Return how many parts at the beginning all have in common; of each, one part is left at least."""
    count = 0
    while all(len(one) > count + 1 for one in all_parts) and len({one[count] for one in all_parts}) == 1:
        count += 1
    return count


def _named(parts: Sequence[str]) -> tuple[dict[Factor, str], list[str]]:
    """Return the levels that are named (``tuning=safest``), and the parts without them."""
    levels: dict[Factor, str] = {}
    words = []
    for part in parts:
        left = []
        for token in part.split(","):
            name, _, value = token.partition("=")
            factor = next((one for one in _NAMED if one == name.strip().lower()), None)
            if value and factor:
                levels[factor] = value.strip()
            elif token:
                left.append(token)
        if left:
            words.append(",".join(left))
    return levels, words
