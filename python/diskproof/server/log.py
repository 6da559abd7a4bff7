"""The log of one start of a server: its last lines, its first error, and the lines that report damage."""

import re
import time
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

from diskproof.families.facts import FamilyFacts
from diskproof.results.machine import ServerFacts
from diskproof.server.base import ServerFailedError, Settings

MOST_LINES = 40
"""A server that finds a broken table reports each of its pages."""

MOST_CHARACTERS = 500
"""Of one line: some hold a page in hexadecimal figures."""

TAIL_BYTES = 64 * 1024
"""How much of a log's end is read for a message; a log may have grown to gigabytes."""

FIRST_ERROR = re.compile(r"(\[ERROR\].*|PANIC:.*|FATAL:(?!\s+the database system is ).*)")
"""How servers begin the line of what ended them; PostgreSQL tells its clients so, too, while it starts."""

REJECTED_VALUE = re.compile(r"\[ERROR\].* '([^']+)' (?:rejected|is not)")
"""How MySQL refuses a character set that it has renamed."""

BEFORE_WORDS = re.compile(
    r".*?(?:\[ERROR\](?: \[MY-\d+\] \[Server\])?|LOG:|FATAL:)\s+(?:/\S+: )?| in file \"[^\"]*\" line \d+"
)
"""What a server's line has besides its words: the time before them, and the place in our file after."""


class ServerLog:
    """The log of one start; what an earlier start wrote to the same file is no part of it."""

    def __init__(self, path: Path) -> None:
        """Begin at the present end of the file."""
        self.path = path
        self._begins_at = self.size_bytes()

    def said(self) -> str:
        """Return all that this start has written so far."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._begins_at)
                return file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""

    def silent_s(self) -> float:
        """Return for how long nothing has been written to the file; 0 if there is none yet."""
        return time.time() - self.path.stat().st_mtime if self.path.exists() else 0.0

    def size_bytes(self) -> int:
        """Return the file's size; 0 if there is none yet."""
        return self.path.stat().st_size if self.path.exists() else 0

    def tail(self, lines: int = 20) -> str:
        """Return the last lines of the file, whichever start wrote them; a sentence if there are none."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, self.size_bytes() - TAIL_BYTES))
                text = file.read().decode(errors="replace")
        except OSError:
            return f"(no log was written to {self.path})"
        return "\n".join(text.splitlines()[-lines:]) or f"({self.path} is empty)"


def why_not_started(
    facts: ServerFacts, settings: Settings, refused: re.Pattern[str], what: str, log: ServerLog
) -> ServerFailedError:
    """Return the error of a server that did not start: the variable that it refused, or its first error.

    `refused` is how such a server refuses one; one of its groups is the variable's name.
    """
    server, said = f"{facts.flavour} {facts.version}", log.said()
    for name, words in refused_variables(said, refused, settings.level).items():
        return ServerFailedError(refusal(facts, name, settings.level[name], words))
    tail = "\n".join(said.splitlines()[-20:]) or "(empty)"
    error = FIRST_ERROR.search(said)
    why = f": {error[1].strip()}" if error else ""
    return ServerFailedError(f"{server} {what}{why}\nlast lines of {log.path}:\n{tail}")


def refused_variables(said: str, refused: re.Pattern[str], asked: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a server refuses, each with its words, which may name only the value."""
    words: dict[str, str] = {}
    for line in said.splitlines():
        for found in refused.finditer(line):
            name = next(group for group in found.groups() if group).replace("-", "_").lower()
            if name in asked:
                words.setdefault(name, _words_of(line))
        if not words and (value := REJECTED_VALUE.search(line)):
            words = {name: _words_of(line) for name in asked if asked[name] == value[1]}
    return words


def _words_of(line: str) -> str:
    return BEFORE_WORDS.sub("", line.strip()).rstrip(".")


def refusal(
    facts: ServerFacts,
    name: str,
    value: str,
    words: str,
    known: Collection[str] = (),
    place: str | None = None,
) -> str:
    """Return that a server refuses a variable, which stands at a `place` of an option file.

    `known` are the names of its variables.
    """
    near = get_close_matches(name, known, n=1, cutoff=0.9) if name not in known else []
    mend = "remove the line" if place else "correct or remove the variable in the study's tuning"
    if place and facts.family == "mysql" and known and name not in known:
        mend += f", or write `loose_{name}`: then only servers that know it take it"
    meant = f"did you mean `{near[0]}`?" if near else mend
    server = f"{place}: {facts.flavour}" if place else facts.flavour
    return f"{server} {facts.version} refuses {name} = {value}: {words}; {meant}"


def complaints(log: str, facts: FamilyFacts) -> list[str]:
    """Return the lines that bear a sign of damage and none that is harmless, each once."""
    damage, harmless = _any_of(facts.damage), _any_of(facts.harmless)
    lines = [line.strip() for line in log.splitlines() if damage.search(line) and not harmless.search(line)]
    found = list(dict.fromkeys(line[:MOST_CHARACTERS] for line in lines))
    if len(found) > MOST_LINES:
        return [*found[:MOST_LINES], f"... and {len(found) - MOST_LINES} lines more"]
    return found


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
