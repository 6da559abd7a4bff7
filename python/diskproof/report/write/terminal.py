"""A document on a terminal."""

from collections.abc import Iterator, Sequence
from typing import Literal

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from diskproof.report import document as doc
from diskproof.report.document import Document, Item, Items, Paragraph, Section, Table, Tone

Shown = Text | RichTable

STYLES: dict[Tone, str] = {
    "better": "bold green",
    "worse": "bold yellow",
    "same": "bold blue",
    "open": "bold",
    "barred": "bold magenta",
    "alarm": "bold red",
    "warning": "bold yellow",
    "note": "bold",
    "plain": "bold",
}

CODE = "cyan"
"""Also of names that the study gives."""


def marked(text: str, style: str = "") -> Text:
    """Return a text in which code stands out, without the backticks that mark it."""
    made = Text(style=style)
    for at, part in enumerate(text.split("`")):
        made.append(part, CODE if at % 2 else None)
    return made


def write(document: Document, console: Console) -> None:
    """Print a document without its pictures and what is folded; colours and marks follow the console."""
    name = f"{document.name}: " if document.name else ""
    head: list[Shown] = [Text(document.heading, style="bold")]
    for at, paragraph in enumerate(document.lead):
        text = f"{paragraph.lead.upper()}: {paragraph.text}" if paragraph.lead else paragraph.text
        head.append(marked(f"{name if at == 0 else ''}{text}", style="dim"))
    answer = [marked(document.answer)] if document.answer else []
    answer += [
        Text.assemble((f"{lead}: " if lead else "  ", "bold"), marked(text)) for lead, text in document.beside
    ]
    sections = doc.written(document.sections)
    print_parts([head, answer, *(part for one in sections for part in _parts(one, console))], console)


def print_parts(parts: Sequence[Sequence[Shown]], console: Console) -> None:
    """Print the parts of a report with an empty line between them."""
    for index, part in enumerate(part for part in parts if part):
        if index:
            console.print()
        for block in part:
            if isinstance(block, Text):
                lines = block.wrap(console, console.width)
                for line in lines:
                    line.rstrip()
                console.print(Text("\n").join(lines), soft_wrap=True)  # a call takes long
            else:
                console.print(block)


def _parts(section: Section, console: Console) -> Iterator[list[Shown]]:
    """Yield a section's own blocks, then a part for each section in it."""
    if section.folded or all(isinstance(block, doc.Figure) for block in section.blocks):
        return
    part: list[Shown] = [Text(section.heading, style="bold")] if section.heading else []
    for block in section.blocks:
        if isinstance(block, Section):
            yield part
            part = []
            yield from _parts(block, console)
        else:
            part += _block(block, console, follows_table=bool(part) and isinstance(part[-1], RichTable))
    yield part


def _block(block: doc.Block, console: Console, *, follows_table: bool) -> Iterator[Shown]:
    match block:
        case Paragraph():
            yield _paragraph(block)
        case Items():
            yield from (_item(one, console) for one in block.items)
        case Table():
            if follows_table:
                yield Text()
            yield layout(block, console)
        case doc.Figure():
            pass


def _paragraph(paragraph: Paragraph) -> Text:
    return Text.assemble((f"{paragraph.lead}: " if paragraph.lead else "", "bold"), marked(paragraph.text))


def _item(item: Item, console: Console) -> Text:
    tone = STYLES[item.tone]
    body = Text.assemble((item.lead, tone), (" " if item.name else ": ") if item.lead else "")
    body.append(marked(": ".join(filter(None, (item.name, item.text)))))
    body = Text("\n").join([body, *map(_paragraph, item.lines)])
    lines = body.wrap(console, max(console.width - 2, 1))
    return Text.assemble((f"{item.mark} ", tone), Text("\n  ").join(lines))


def layout(table: Table, console: Console) -> RichTable:
    """Lay a table out for a console; what does not fit is broken into lines."""
    gap = 2 if _width(table, 2) <= console.width else 1
    rich_table = RichTable(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for column in table.columns:
        justify: Literal["left", "right"] = "right" if column.figures else "left"
        rich_table.add_column(Text(column.title), justify=justify, overflow="fold")
    for row in table.rows:
        rich_table.add_row(*map(marked, row))
    return rich_table


def _width(table: Table, gap: int) -> int:
    rows = (tuple(column.title for column in table.columns), *table.rows)
    return sum(max(len(row[at]) for row in rows) + gap for at in range(len(table.columns))) - gap
