"""Text and tables in Markdown's notation, which nothing that they hold can break."""

import re

from diskproof.report import tables

_CODE_SPAN = re.compile(r"(`[^`]+`)")
_SPECIAL = re.compile(r"([\\`*\[<|~]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])|^[#>+=-])")
"""What Markdown or HTML would read as markup; an underscore only at the edge of a word."""


def table(content: tables.Table) -> str:
    """Return a table in the pipe notation."""
    lines = [
        _row(tuple(column.title for column in content.columns)),
        _row(tuple("---:" if column.figures else "---" for column in content.columns), escaped=True),
        *map(_row, content.rows),
    ]
    return "\n".join(lines)


def escape(text: str) -> str:
    """Return one line of text that Markdown shows as it is; whole code spans stay code."""
    parts = _CODE_SPAN.split(" ".join(text.split()))
    return "".join(
        part.replace("|", r"\|") if index % 2 else _SPECIAL.sub(r"\\\1", part)
        for index, part in enumerate(parts)
    )


def _row(entries: tuple[str, ...], *, escaped: bool = False) -> str:
    return "| " + " | ".join(entry if escaped else escape(entry) for entry in entries) + " |"
