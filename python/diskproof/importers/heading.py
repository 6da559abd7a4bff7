"""The words above an output: in a post or in notes they say what was changed, and the output does not."""

import re
from collections.abc import Sequence

from diskproof.importers.base import Text

WARM_UP = re.compile(r"\W*warm\W?(?:up|ing up)(?: run| phase)?\W*")
"""The heading of an output that nobody means as a result."""

_SHELL = re.compile(
    r"^\W*(?:\[[^\]]*\]\s*)?\W*(?:[\w.@~:/-]{1,60}[$#%>]\s|(?:sudo|time|\./)|\w+=\S|.*\s--?\w)"
)
"""A prompt, a command with its options, or a variable that is set for one."""

_OUTPUT = re.compile(
    r"pgbench \(|starting vacuum|progress: |pgbench: |scale option ignored|Password|\d+\+\d+ \w|mysqlslap: "
    r"|dropping old tables|NOTICE:|creating (?:tables|primary)|generating data|vacuuming|done in "
    r"|\(\d+ rows?\)"
)
"""What pgbench, psql, dd and mysqlslap print above the line by which outputs are found."""

_SQL = re.compile(
    r"(?:select|show|set|alter|create|drop|insert|update|vacuum|analyze|use|flush)\b.*;", re.IGNORECASE
)

_CHANGE = re.compile(
    r"\balter system\b|\bset (?:global|persist|session)\b|\b(?:restart|reload)\b"
    r"|^\W*[a-z]+(?:_[a-z]+)+\W{0,3}=\s*\S",
    re.IGNORECASE,
)
"""A setting that is changed, or a server that is started again with what was changed."""

_FIGURE = re.compile(
    r"[:=|]\s*-?[\d.]|\d[\d.]*\s*(?:[kMG]i?B|ms|us|ns|s|%)\b|\d/s|\d{2}:\d{2}|^\d[\d,]*\.\d+\s"
)
"""A line of figures belongs to an output."""

_REPEAT = re.compile(r"\b(?:run|rep|repeat|try|trial|iteration|block|test|round|pass)?\W{0,2}\d{1,4}\b|\W+")
"""What differs between the headings of repeats, and what only frames them."""

_TITLE = re.compile(r"#{1,6} +\w")

MOST_CHANGES = 50
"""Of so many settings, one or another differs between two of a post's outputs."""

_WORDS = re.compile(r"[^\W\d_]{2,}")


def heading_above(text: Text, line: int, after: int = 0) -> str:
    """Return the words of the heading above an output that begins at a line, from 1; empty if there is none.

    Only lines behind `after` count, at which the output before it begins. Repeats have one heading: numbers
    of runs are left out, and so is a heading of nothing else. What another code block holds is no heading.
    Without a heading there, the last one of Markdown and the settings that were changed between the two
    outputs take its place.
    """
    above = text.lines[after : line - 1]
    fences = 0
    for said in reversed(above):
        plain = said.strip()
        fences += plain.startswith("```")
        in_another_block = fences > 0 and fences % 2 == 0
        if (
            not plain
            or plain.startswith("```")
            or in_another_block
            or _OUTPUT.match(plain)
            or _SHELL.match(plain)
            or _SQL.fullmatch(plain)
        ):
            continue
        if _FIGURE.search(plain) or not _WORDS.search(plain):
            break
        if named := _REPEAT.sub(" ", plain.casefold()).strip():
            return named  # else it only numbers a repeat of what stands above
    if not after:
        return ""
    changes = [said.strip().casefold() for said in above if _CHANGE.search(said)]
    return "; ".join([*_last_title(above), *changes[-MOST_CHANGES:]])


def _last_title(lines: Sequence[str]) -> list[str]:
    """Return the last heading of Markdown among some lines, outside code blocks; none if there is none."""
    titles, in_block = [], False
    for said in lines:
        in_block ^= said.lstrip().startswith("```")
        if not in_block and _TITLE.match(said) and (named := _REPEAT.sub(" ", said.casefold()).strip()):
            titles.append(named)
    return titles[-1:]
