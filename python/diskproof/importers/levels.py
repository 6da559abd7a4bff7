"""Which levels a file's path tells: what is told apart by file and folder is told apart in the report.

``ssd.txt`` and ``hdd.txt`` are two storages; ``ssd-run1.txt`` and ``ssd-run2.txt`` are one, measured twice;
``server=mysql-8.0,storage=ssd.txt`` names the levels itself.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

from diskproof.results.factor import Factor

_REPEAT = re.compile(
    r"(?:^|[-_. ])(?:run|rep|repeat|try|trial|iteration|block)[-_. ]?\d{1,4}(?=$|[-_. ])", re.IGNORECASE
)
"""The words that mark a repeat. A bare number marks none: ``mysql-57`` and ``mysql-80`` are two servers."""

_SUFFIX = re.compile(r"\.(?:txt|log|out|csv|json|md|toml|dat)$", re.IGNORECASE)

_NAMED: dict[str, Factor] = {
    "server": "server",
    "storage": "storage",
    "tuning": "tuning",
    "workload": "workload",
    "memory": "memory",
}


def path_levels(files: Sequence[str]) -> dict[str, dict[Factor, str]]:
    """Return the levels that each file's path tells, by file; what else tells it apart is its storage.

    Folders and names that all files share are left out: one file alone tells nothing by its name.
    """
    parts = {file: _parts(file) for file in dict.fromkeys(files)}
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


def _parts(file: str) -> list[str]:
    """Return folders and name without the ending of the name; what marks a repeat is left out."""
    *folders, name = PurePath(file).parts or ("",)
    kept = [_REPEAT.sub("", part) for part in (*folders, _SUFFIX.sub("", name))]
    return [part for part in kept if part] or ["results"]


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
            name, equals, value = token.partition("=")
            if equals and value and name.strip().lower() in _NAMED:
                levels[_NAMED[name.strip().lower()]] = value.strip()
            elif token:
                left.append(token)
        if left:
            words.append(",".join(left))
    return levels, words
