"""Forms that are recognised but not read, with advice: a better refusal than a list of formats."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from diskproof.importers.base import Text


@dataclass(frozen=True)
class Unread:
    """A form that people bring and that nothing here reads."""

    what: str
    instead: str
    recognises: Callable[[Text], bool]


_TABLE = re.compile(r"^\s*\[\[?[\w.\"-]+\]\]?\s*(?:#.*)?$", re.MULTILINE)


def _is_toml(text: Text) -> bool:
    return text.file.endswith(".toml") and _TABLE.search(text.content) is not None


FORMS: tuple[Unread, ...] = (
    Unread(
        "TOML without a table [article]",
        "by which an article is known (docs/audit.md shows one); a study is run, and its run folder named",
        _is_toml,
    ),
)


def known_by_sight(text: Text) -> str | None:
    """Return what an unreadable text is, and what to do; None if unknown."""
    form = next((form for form in FORMS if form.recognises(text)), None)
    return f"{text.file} is {form.what}, {form.instead}" if form else None
