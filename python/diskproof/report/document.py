"""A report as a document: what it says, apart from how it looks.

`compose/` makes documents, `write/` writes them. In every text, backticks mark code; nothing else is markup.
A document has two forms: the full one for files and pages, and a short one for terminals.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from diskproof.wording import numbers

Only = Literal["short", "full"]
"""The one form that something belongs to."""

Tone = Literal["better", "worse", "same", "open", "barred", "alarm", "warning", "note", "plain"]
"""What an item means for its reader; a writer gives it a colour."""


# ---------------------------------------------------------------- text


@dataclass(frozen=True)
class Paragraph:
    """Some sentences."""

    text: str
    lead: str = ""
    """A word or two that stand out before the text."""
    style: Literal["", "lead", "note"] = ""
    """``lead``: the answer of its section. ``note``: explains."""
    only: Only | None = None


@dataclass(frozen=True)
class Line:
    """A line below an item."""

    text: str
    lead: str = ""
    style: Literal["plain", "strong", "note"] = "note"
    only: Only | None = None


@dataclass(frozen=True)
class Bar:
    """A ratio with its interval, to be drawn on the axis of its list."""

    estimate: float
    low: float | None
    high: float | None
    words: str


@dataclass(frozen=True)
class Item:
    """One entry of a list."""

    text: str
    mark: str = "!"
    """One sign. A terminal sets it before the text."""
    lead: str = ""
    """A word that stands out: an outcome, a severity, a name."""
    name: str = ""
    """What the item is about, if that is not the lead."""
    where: str = ""
    """What it concerns, in brackets."""
    tone: Tone = "plain"
    lines: tuple[Line, ...] = ()
    bar: Bar | None = None


@dataclass(frozen=True)
class Axis:
    """The scale of all bars of a list: logarithmic, with 1 on it."""

    low: float
    high: float
    same_within: float
    words: str

    def percent(self, ratio: float) -> float:
        """Return where a ratio lies, in percent of the width; what lies outside goes to the edge."""
        share = math.log(max(ratio, 1e-9) / self.low) / math.log(self.high / self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)


@dataclass(frozen=True)
class Items:
    """A list."""

    items: tuple[Item, ...]
    style: Literal["list", "verdicts", "findings", "alarms"] = "list"
    most: int | None = None
    """Items that a terminal shows; the others are counted."""
    most_lines: int | None = None
    """Lines below an item that a terminal shows."""
    noun: str = "item"
    most_open: int | None = None
    """Items that a page shows; the others are folded."""
    axis: Axis | None = None
    only: Only | None = None


# ---------------------------------------------------------------- tables and code


@dataclass(frozen=True)
class Column:
    """A column's heading, and what becomes of the column on a narrow screen."""

    title: str
    figures: bool = False
    """Whether its entries are figures, to be set flush right."""
    only: Only | None = None
    short: str = ""
    """A shorter heading, for a table that does not fit a terminal."""
    drop: int = 0
    """Columns that a table which does not fit loses: those with 1 first. 0: never."""


class Shortened(str):
    """An entry of a table that the short form has otherwise."""

    short: str

    def __new__(cls, full: str, short: str) -> Self:
        """Return the full entry, which knows the short one."""
        made = super().__new__(cls, full)
        made.short = short
        return made


@dataclass(frozen=True)
class Table:
    """Headings and rows; every row has as many entries as there are columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    label: str = ""
    """What it holds, for those who cannot see it."""
    heads: int = 1
    """Columns that say what a row is about."""
    most: int | None = None
    """Rows that a terminal shows; the others are counted."""
    noun: str = "row"
    only: Only | None = None

    def texts(self, form: Only = "full") -> "Table":
        """Return the table as one form has it."""
        kept = [at for at, column in enumerate(self.columns) if column.only in (None, form)]
        return replace(
            self,
            columns=tuple(self.columns[at] for at in kept),
            rows=tuple(tuple(_text(row[at], form) for at in kept) for row in self.rows),
        )


def _text(entry: str, form: Only) -> str:
    return entry.short if form == "short" and isinstance(entry, Shortened) else str(entry)


@dataclass(frozen=True)
class Code:
    """Pieces of code, each with its name."""

    pieces: tuple[tuple[str, str], ...]
    only: Only | None = "full"


# ---------------------------------------------------------------- pictures


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure."""

    title: str
    description: str
    """What it shows, for those who cannot see it."""
    spec: Mapping[str, Any]
    """A Vega-Lite specification, without its data and the configuration that all charts share."""
    rows: Sequence[Mapping[str, Any]]
    marks: int
    """How many marks it draws."""
    tall: bool = False
    """Whether it scrolls in its box."""

    def complete_spec(self) -> dict[str, Any]:
        """Return the specification with its data, ready to be drawn."""
        return {**self.spec, "description": self.description, "data": {"values": list(self.rows)}}


@dataclass(frozen=True)
class Key:
    """One entry of a legend: a colour, or a dash and a shape."""

    words: str
    colour: str | None = None
    dash: tuple[float, ...] | None = None
    shape: str = ""


@dataclass(frozen=True)
class Figure:
    """Panels that answer one question together, with their legend. Only a page shows it."""

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    keys: tuple[Key, ...] = ()
    only: Only | None = "full"


# ---------------------------------------------------------------- the whole

Block = Paragraph | Items | Table | Code | Figure


@dataclass(frozen=True)
class Section:
    """Blocks and sections under a heading. An empty one is not written."""

    heading: str
    blocks: tuple["Block | Section", ...]
    anchor: str = ""
    contents: str = ""
    """What the list of contents calls it; empty: it is not listed."""
    folded: bool = False
    """Whether a page shows its heading alone until it is opened; the short form has none of it."""
    quiet: bool = False
    """Whether the short form leaves its heading out."""
    only: Only | None = None


@dataclass(frozen=True)
class Document:
    """A report."""

    name: str
    """What it is of: a study, a profile."""
    heading: str
    lead: tuple[Paragraph, ...]
    sections: tuple[Section, ...]
    answer: str = ""
    """The whole answer in a sentence."""
    beside: tuple[tuple[str, str], ...] = ()
    """What belongs to the answer, each with a word or two before it."""
    picture: Figure | None = None
    """The answer drawn. Only a page shows it."""
    foot: str = ""
    elsewhere: str = "see report.html in the run folder, or --format markdown"
    """Where the full form is."""


def form(document: Document, form: Only) -> Document:
    """Return what one form of a document holds; what the short one leaves out is counted."""
    return replace(
        document,
        lead=tuple(one for one in document.lead if one.only in (None, form)),
        sections=tuple(_sections(document.sections, form, document.elsewhere)),
    )


def full(section: Section) -> Section:
    """Return the full form of a section, to be set into another page."""
    return replace(section, blocks=tuple(_blocks(section.blocks, "full", "")))


def _sections(sections: Sequence[Section], form: Only, elsewhere: str) -> Iterator[Section]:
    for one in sections:
        blocks = tuple(_blocks(one.blocks, form, elsewhere))
        if blocks and one.only in (None, form) and not (one.folded and form == "short"):
            yield replace(one, blocks=blocks)


def _blocks(blocks: Sequence[Block | Section], form: Only, elsewhere: str) -> Iterator[Block | Section]:
    for block in blocks:
        if isinstance(block, Section):
            yield from _sections([block], form, elsewhere)
        elif block.only in (None, form):
            yield from _parts(block, form, elsewhere)


def _parts(block: Block, form: Only, elsewhere: str) -> Iterator[Block]:
    """Yield a block as a form has it, and how much of it the form leaves out; nothing of an empty one."""
    if not isinstance(block, Items | Table):
        yield block
        return
    most = block.most if form == "short" else None
    if isinstance(block, Items):
        number = len(block.items)
        lines_of = block.most_lines if form == "short" else None
        items = tuple(replace(one, lines=_lines(one, form)[:lines_of]) for one in block.items[:most])
        if items:
            yield replace(block, items=items)
    else:
        number = len(block.rows)
        shown = block.texts(form)
        if rows := shown.rows[:most]:
            yield replace(shown, rows=rows)
    if most is not None and number > most:
        left = numbers.count(number - most, f"more {block.noun}")
        yield Paragraph(f"  {left}: {elsewhere}", style="note")


def _lines(item: Item, form: Only) -> tuple[Line, ...]:
    return tuple(line for line in item.lines if line.only in (None, form))
