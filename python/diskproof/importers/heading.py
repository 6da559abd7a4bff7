"""The words above an output: in a post or in notes they say what was changed, and the output does not."""

import re
from collections.abc import Sequence

from diskproof.importers.base import Text

WARM_UP = re.compile(r"\W*warm\W?(?:up|ing up)(?: run| phase)?\W*")
"""The heading of an output that nobody means as a result."""

_SHELL = re.compile(
    r"^(?:.*\s--?\w|\W{0,40}(?:\[[^\]]{0,60}\]\s{0,9})?\W{0,40}"
    r"(?:[\w.@~:/-]{1,60}[$#%>]\s|(?:sudo|time|\./)|\w+=\S))"
)
"""A prompt, a command with its options, or a variable that is set for one."""

_OUTPUT = re.compile(
    r"pgbench \(|starting vacuum|progress: |pgbench: |scale option ignored|Password"
    r"|dropping old tables|NOTICE:|creating (?:tables|primary)|generating data|vacuuming|done in "
    r"|\(\d+ rows?\)|\d+ of \d+ tuples"
)
"""What pgbench and psql print above the line by which outputs are found."""

_SQL = re.compile(
    r"(?:select|show|set|alter|create|drop|insert|update|vacuum|analyze|use|flush)\b.*;", re.IGNORECASE
)

_CHANGE = re.compile(
    r"\balter system\b|\bset (?:global|persist|session)\b|\b(?:restart|reload)\b"
    r"|\bpg_reload_conf\b|\bpostgresql\.(?:auto\.)?conf\b|\bmy\.cnf\b"
    r"|^\W*[a-z]+(?:_[a-z]+)+\W{0,3}=\s*\S",
    re.IGNORECASE,
)
"""A setting that is changed, or a server that is started again with what was changed."""

_FIGURE = re.compile(r"[:=|]\s*-?[\d.]|\d\.*\s*(?:[kMG]i?B|ms|us|ns|s|%)\b|\d/s|\d{2}:\d{2}|^\d[\d,]*\.\d+\s")
"""A line of figures belongs to an output."""

_REPEAT = re.compile(r"\b(?:run|rep|repeat|try|trial|iteration|block|test|round|pass)?\W{0,2}\d{1,4}\b|\W+")
"""What differs between the headings of repeats, and what only frames them."""

_NUMBERED = re.compile(r"\W*(?:run|rep|repeat|try|trial|iteration|round)\W{0,2}\d{1,4}\W*", re.IGNORECASE)
"""A heading that only numbers the repeats of one thing; numbered tests may be of several."""

_FENCE = re.compile(r"\s*```[^`]*$")
"""Begins or ends a code block of Markdown."""

_TITLE = re.compile(r"(#{1,6}) +\w")

_OF_COMMENTS = 7
"""The depth of a comment, below all titles of Markdown."""

MOST_CHANGES = 50
"""Of so many settings, one or another differs between two of a post's outputs."""

MOST_LINES = 4
"""Of one heading: the paragraph right above an output."""

_WORDS = re.compile(r"[^\W\d_]{2,}")

_OF_DEFAULTS = re.compile(r"\bdefaults?\b")
_OF_SETTINGS = re.compile(rf"{_OF_DEFAULTS.pattern}|\b(?:settings?|config\w*|tun(?:ed|ing)|param\w*)\b")


def names_settings(heading: str) -> bool:
    """Tell whether a heading says that settings were changed, or speaks of which they were."""
    return any(_CHANGE.search(said) or _OF_SETTINGS.search(said) for said in heading.split("; "))


def says_defaults(heading: str) -> bool:
    """Tell whether a heading says that a server had its default settings."""
    return _OF_DEFAULTS.search(heading) is not None


class Headings:
    """The headings of one text, for outputs in the order in which they stand in it.

    Titles of Markdown, the words right above an output, and settings that were changed hold until the next
    ones; other words end the settings too. The words of a warm-up hold for one output.
    """

    def __init__(self, text: Text) -> None:
        self._text = text
        self._before = 0
        self._words = ""
        self._titles: list[tuple[int, str]] = []
        self._changes: list[str] = []
        self._in_block = False
        self.numbered = False
        """Whether the heading returned last numbers a repeat: ``Run 2``."""

    def above(self, line: int) -> str:
        """Return the heading of the output that begins at a line, from 1; empty if there is none.

        Repeats have one heading: numbers of runs are left out, and so is a heading of nothing else. What
        another code block holds is no heading.
        """
        lines = self._text.lines[self._before : line - 1]
        words = _words(lines)
        self.numbered = _numbers_a_repeat(lines)
        self._read_titles(lines)
        changes = [one.strip().casefold() for one in lines if self._before and _CHANGE.search(one)]
        if changes or words not in {"", self._words}:
            self._changes = changes[-MOST_CHANGES:]
        self._before = max(self._before, line)
        if WARM_UP.fullmatch(words):
            return words
        self._words = words or self._words
        titles = [title for _, title in self._titles if title != self._words]
        return "; ".join(filter(None, [*titles, self._words, *self._changes]))

    def _read_titles(self, lines: Sequence[str]) -> None:
        """Keep the titles that the end of some lines stands under, by their depth.

        A comment in the output's own block is the deepest title; those of other blocks are none.
        """
        comment = ""
        for said in lines:
            if _FENCE.match(said):
                self._in_block, comment = not self._in_block, ""
            title = None if _SHELL.match(said) else _TITLE.match(said)
            named = _without_numbers(said) if title else ""
            if self._in_block:
                comment = named or comment
            elif title:
                depth = len(title[1])
                self._titles = [one for one in self._titles if one[0] < depth]
                if named and not WARM_UP.fullmatch(named):
                    self._titles.append((depth, named))
        if comment and self._in_block and not WARM_UP.fullmatch(comment):
            self._titles = [one for one in self._titles if one[0] < _OF_COMMENTS]
            self._titles.append((_OF_COMMENTS, comment))


def _numbers_a_repeat(lines: Sequence[str]) -> bool:
    """Tell whether the lines above an output number it; what was printed before it ends the search."""
    for said in reversed(lines):
        plain = said.strip()
        if _NUMBERED.fullmatch(plain):
            return True
        if _FIGURE.search(plain) and not _is_output(plain):
            break
    return False


def _words(lines: Sequence[str]) -> str:
    """Return the paragraph right above an output; empty if figures or other things stand there."""
    fences = 0
    paragraph: list[str] = []
    for said in reversed(lines):
        plain = said.strip()
        fences += _FENCE.match(plain) is not None
        in_another_block = fences > 0 and fences % 2 == 0
        if not plain or _FENCE.match(plain) or in_another_block or _is_output(plain):
            if paragraph:
                break
            continue
        if _FIGURE.search(plain) or not _WORDS.search(plain) or (paragraph and _TITLE.match(plain)):
            break
        if named := _without_numbers(plain):  # else it only numbers a repeat of what stands above
            paragraph.insert(0, named)
        if WARM_UP.fullmatch(plain) or len(paragraph) == MOST_LINES:
            break
    return "; ".join(paragraph)


def _is_output(plain: str) -> bool:
    """Tell whether a line is printed or typed at a prompt."""
    return any(
        found is not None for found in (_OUTPUT.match(plain), _SHELL.match(plain), _SQL.fullmatch(plain))
    )


def _without_numbers(said: str) -> str:
    return _REPEAT.sub(" ", said.casefold()).strip()
