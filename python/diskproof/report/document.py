"""A report as a document: what it says, apart from how it looks.

`compose/` makes documents, `write/` writes them. In every text, backticks mark code; nothing else is markup.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Tone = Literal["better", "worse", "same", "open", "barred", "alarm", "warning", "note", "plain"]
"""What an item means for its reader; a writer gives it a colour."""


# ---------------------------------------------------------------- text


@dataclass(frozen=True)
class Paragraph:
    """Some sentences."""

    text: str
    lead: str = ""
    """A word or two that stand out before the text."""


@dataclass(frozen=True)
class Item:
    """One entry of a list."""

    text: str
    mark: str = "!"
    """One sign. A terminal sets it before the text."""
    lead: str = ""
    """A word that stands out: an outcome, a severity."""
    name: str = ""
    """What the item is about, and where that is."""
    tone: Tone = "plain"
    lines: tuple[Paragraph, ...] = ()
    """What stands below it."""


@dataclass(frozen=True)
class Items:
    """A list."""

    items: tuple[Item, ...]


# ---------------------------------------------------------------- tables and code


@dataclass(frozen=True)
class Column:
    """A column's heading."""

    title: str
    figures: bool = False
    """Whether its entries are figures, to be set flush right."""


@dataclass(frozen=True)
class Scale:
    """What the bars of a table are drawn on."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    """Values with their words, ascending."""
    middle: float | None = None
    """A value with a line: equal speed."""
    logarithmic: bool = True

    def share(self, value: float) -> float:
        """Return how far along a value lies, from 0 to 1; what lies outside goes to the edge."""
        if self.logarithmic:
            share = math.log(max(value, 1e-12) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)


@dataclass(frozen=True)
class Bar:
    """A figure with its interval, to be drawn on the scale of its table."""

    estimate: float
    low: float | None = None
    high: float | None = None
    tone: Tone = "plain"


@dataclass(frozen=True)
class Table:
    """Headings and rows; every row has as many entries as there are columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    label: str = ""
    """What it holds, for those who cannot see it."""
    heads: int = 1
    """Columns that say what a row is about."""
    scale: Scale | None = None
    bars: tuple[Bar | None, ...] = ()
    """One a row, on the scale. Only a page draws them: the rows have their figures."""


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


# ---------------------------------------------------------------- the whole

Block = Paragraph | Items | Table | Figure


@dataclass(frozen=True)
class Section:
    """Blocks and sections under a heading. An empty one is not written."""

    heading: str
    blocks: tuple["Block | Section", ...]
    anchor: str = ""
    contents: str = ""
    """What the list of contents calls it; empty: it is not listed."""
    folded: bool = False
    """Whether a page shows its heading alone until it is opened; a terminal has none of it."""


@dataclass(frozen=True)
class Document:
    """A report."""

    heading: str
    lead: tuple[Paragraph, ...]
    """What was tested, and what names mean."""
    sections: tuple[Section, ...]
    name: str = ""
    """What it is of: a study, a profile."""
    answer: str = ""
    """The whole answer in a sentence."""
    beside: tuple[tuple[str, str], ...] = ()
    """What belongs to the answer, each with a word or two before it."""
    picture: Figure | None = None
    """The answer drawn. Only a page shows it, and then folds the lead."""
    about: str = ""
    """What was tested, in a few words above the heading of a page."""
    foot: str = ""


def written(sections: Sequence[Section]) -> list[Section]:
    """Return sections without the empty ones among them and in them."""
    kept = (replace(one, blocks=tuple(_blocks(one.blocks))) for one in sections)
    return [one for one in kept if one.blocks]


def _blocks(blocks: Sequence[Block | Section]) -> Iterator[Block | Section]:
    for block in blocks:
        if isinstance(block, Section):
            yield from written([block])
        elif not isinstance(block, Items | Table) or (
            block.items if isinstance(block, Items) else block.rows
        ):
            yield block
