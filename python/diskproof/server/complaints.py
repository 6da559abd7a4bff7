"""The lines of a server's log that tell of damage: chosen by signs, each of which has its reason."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

MOST_LINES = 40
"""A server that finds a broken table tells of each of its pages."""

MOST_CHARACTERS = 500
"""Of one line: some hold a page in hexadecimal figures."""


@dataclass(frozen=True)
class Sign:
    """What a line of a log looks like, and why it tells of damage, or does not."""

    pattern: str
    """A regular expression; found anywhere in a line, whatever its case."""
    reason: str


def telling_lines(said: str, of_damage: Iterable[Sign], harmless: Iterable[Sign]) -> list[str]:
    """Return the lines that bear a sign of damage and none of those that are harmless, each once."""
    damage, spared = _any_of(of_damage), _any_of(harmless)
    lines = [line.strip() for line in said.splitlines() if damage.search(line) and not spared.search(line)]
    found = list(dict.fromkeys(line[:MOST_CHARACTERS] for line in lines))
    if len(found) > MOST_LINES:
        return [*found[:MOST_LINES], f"... and {len(found) - MOST_LINES} lines more"]
    return found


def _any_of(signs: Iterable[Sign]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{sign.pattern})" for sign in signs), re.IGNORECASE)
