"""What all reports for a terminal are made of: texts that cannot steer it, and tables that fit."""

from collections.abc import Sequence
from typing import Literal

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from diskproof.analysis.answers import Outcome
from diskproof.report import tables, words

OUTCOME_STYLES: dict[Outcome, str] = {
    "faster": "bold green",
    "slower": "bold yellow",
    "the same": "bold blue",
    "inconclusive": "bold",
    "not comparable": "bold magenta",
}


def print_parts(parts: Sequence[Sequence[Text | RichTable]], console: Console) -> None:
    """Print the parts of a report with an empty line between them."""
    for index, part in enumerate(part for part in parts if part):
        if index:
            console.print()
        for block in part:
            if isinstance(block, Text):
                for line in block.wrap(console, console.width):
                    line.rstrip()
                    console.print(line, soft_wrap=True)
            else:
                console.print(block)


def layout(table: tables.Table, console: Console) -> RichTable:
    """Lay a table out for a console; where it does not fit, what matters least goes first."""
    gap = 2
    if _width(table, gap) > console.width:
        table = table.renamed("Transactions/s", "TPS")
    if _width(table, gap) > console.width:
        gap = 1
    for title in (
        "p50 ms",
        "p99 ms",
        "Queries/client",
        "Min s",
        "Max s",
        "Valid",
        "Recovery s",
        "Median lost",
        "Held back by",
    ):
        if _width(table, gap) > console.width:
            table = table.without(title)
    rich_table = RichTable(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for column in table.columns:
        justify: Literal["left", "right"] = "right" if column.figures else "left"
        rich_table.add_column(shown(column.title), justify=justify, overflow="fold")
    for row in table.rows:
        rich_table.add_row(*map(shown, row))
    return rich_table


def shown(text: str, style: str = "") -> Text:
    """Return a text of the study's, a server's or the machine's, unable to steer the terminal."""
    return Text(words.visible(text), style=style)


def mark(outcome: Outcome, console: Console) -> Text:
    """Return an outcome's mark in its colour, in ASCII where the console has no more."""
    marks = words.OUTCOME_MARKS if console.encoding.lower().startswith("utf") else words.PLAIN_OUTCOME_MARKS
    return Text(marks[outcome], style=OUTCOME_STYLES[outcome])


def hanging(sign: Text, body: Text, console: Console) -> Text:
    """Return a text wrapped to the console's width, its lines indented behind a sign of one character."""
    lines = body.wrap(console, max(console.width - 2, 1))
    return Text.assemble(sign, " ", Text("\n  ").join(lines))


def _width(table: tables.Table, gap: int) -> int:
    rows = (tuple(column.title for column in table.columns), *table.rows)
    return sum(max(len(row[index]) for row in rows) + gap for index in range(len(table.columns))) - gap
