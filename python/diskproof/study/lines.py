"""The line of a key in a TOML file."""

import re


def line_of(keys: list[str], text: str) -> int:
    """Return the line of a key, or of the nearest table above it, counted from 1."""
    table: list[str] = []
    tables_in: dict[tuple[str, ...], int] = {}
    best, best_depth = 1, 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$", line)
        entry = re.match(r"\s*([A-Za-z0-9_.\"'-]+?)\s*=", line)
        if header:
            named = tuple(_split_key(header.group(2)))
            if header.group(1) == "[[":
                tables_in[named] = tables_in.get(named, -1) + 1
            table = _numbered(named, tables_in)
            path = table
        elif entry:
            path = table + _split_key(entry.group(1))
        else:
            continue
        depth = min(len(path), len(keys))
        if depth > best_depth and keys[:depth] == path[:depth]:
            best, best_depth = number, depth
    return best


def _numbered(named: tuple[str, ...], tables_in: dict[tuple[str, ...], int]) -> list[str]:
    """Return the keys of a table's heading, with its number in each list of tables."""
    keys: list[str] = []
    for depth, key in enumerate(named, start=1):
        keys.append(key)
        if named[:depth] in tables_in:
            keys.append(str(tables_in[named[:depth]]))
    return keys


def _split_key(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]
