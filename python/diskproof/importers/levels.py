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

    Folders and names that all files share are left out.
    """
    parts = {file: _parts(file) for file in dict.fromkeys(files)}
    start, end = _shared(list(parts.values())), _shared([one[::-1] for one in parts.values()])
    told = {}
    for file, all_of in parts.items():
        own = all_of[start : len(all_of) - end] or all_of[-1:]
        levels, words = _named(own)
        told[file] = levels if "storage" in levels else {**levels, "storage": "/".join(words) or all_of[-1]}
    return told


def _parts(file: str) -> list[str]:
    """Return folders and name without the ending of the name; what marks a repeat is left out."""
    *folders, name = PurePath(file).parts or ("",)
    kept = [_REPEAT.sub("", part) for part in (*folders, _SUFFIX.sub("", name))]
    return [part for part in kept if part] or ["results"]


def _shared(all_parts: Sequence[Sequence[str]]) -> int:
    """Return how many parts at the beginning all have in common, where there are several of them."""
    if len(set(map(tuple, all_parts))) < 2:
        return max(0, len(all_parts[0]) - 1) if all_parts else 0
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
