"""An answer as Markdown, whose notation nothing that it holds can break."""

import re
from collections.abc import Iterator, Sequence

from diskproof.report import document as doc
from diskproof.report.document import Block, Item, Items, Paragraph, Section, Table
from diskproof.report.one_screen import OneScreen
from diskproof.visible import visible

_CODE_SPAN = re.compile(r"(`[^`]+`)")
_SPECIAL = re.compile(r"([\\`*\[<|~]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])|^[#>+=-])")
"""What Markdown or HTML would read as markup; an underscore only at the edge of a word."""


def write(screen: OneScreen, picture: str = "") -> str:
    """Return the answer, and the rest folded; what came from elsewhere is escaped."""
    rest = [part for one in screen.rest for part in section(one)]
    parts = [
        f"# {escape(screen.question)}",
        escape(" ".join(filter(None, (screen.answer, screen.facts)))),
        *(table(one.table()) for one in screen.blocks if one.rows),
        "\n".join(f"- {_paragraph(Paragraph(text, lead))}" for lead, text in screen.lines),
        f"![The answer]({picture})" if picture else "",
        *(["<details><summary>The whole report</summary>", *rest, "</details>"] if rest else []),
    ]
    return visible("\n\n".join(filter(None, parts)) + "\n")


def section(one: Section, level: int = 2) -> Iterator[str]:
    """Yield the parts of a section for another page, its heading with so many hashes."""
    for kept in doc.written([one]):
        yield from _section(kept, level)


def _section(section: Section, level: int) -> Iterator[str]:
    if section.heading and section.blocks:
        yield f"{'#' * level} {escape(section.heading)}"
    for block in section.blocks:
        if isinstance(block, Section):
            yield from _section(block, level + 1 if section.heading else level)
        elif part := _block(block):
            yield part


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return _paragraph(block)
        case Items():
            return "\n".join(map(item, block.items))
        case Table():
            return table(block)
        case doc.Figure():
            return ""


def _paragraph(paragraph: Paragraph) -> str:
    lead = f"**{escape(paragraph.lead)}:** " if paragraph.lead else ""
    return f"{lead}{escape(paragraph.text)}"


def item(one: Item) -> str:
    """Return an item of a list with its lines below it."""
    head = [f"**{escape(one.lead)}**"] if one.lead else []
    head += [escape(one.name) if one.lead else f"**{escape(one.name)}**"] if one.name else []
    said = ": ".join(filter(None, (" ".join(head), escape(one.text))))
    return "\n".join([f"- {said}", *(f"  - {_paragraph(line)}" for line in one.lines)])


def table(content: Table) -> str:
    """Return a table in the pipe notation."""
    lines = [
        _row([column.title for column in content.columns]),
        "| " + " | ".join("---:" if column.figures else "---" for column in content.columns) + " |",
        *(_row(row) for row in content.rows),
    ]
    return "\n".join(lines)


def _row(entries: Sequence[str]) -> str:
    return "| " + " | ".join(map(escape, entries)) + " |"


def escape(text: str) -> str:
    """Return one line of text that Markdown shows as it is; whole code spans stay code."""
    parts = _CODE_SPAN.split(" ".join(text.split()))
    return "".join(
        part.replace("|", r"\|") if at % 2 else _SPECIAL.sub(r"\\\1", part) for at, part in enumerate(parts)
    )
