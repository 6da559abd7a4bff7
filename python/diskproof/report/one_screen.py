"""An answer on one screen: values, which a terminal, a page and Markdown draw each in its way."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diskproof.report.document import Bar, Column, Document, Paragraph, Scale, Section, Table, Tone
from diskproof.stats.intervals import Interval
from diskproof.stats.proportions import Share
from diskproof.wording.numbers import number


def absolute_scale(figures: Sequence[Interval]) -> Scale:
    """Return a scale from zero on which all these figures lie."""
    high = max((one.high or one.estimate for one in figures), default=1.0)
    return Scale(0.0, high, ((0.0, "0"), (high, number(high))), logarithmic=False)


SHARES = Scale(0.0, 1.0, ((0.0, "0%"), (0.5, "50%"), (1.0, "100%")), logarithmic=False)


@dataclass(frozen=True)
class Row:
    """One thing that is compared."""

    levels: tuple[str, ...]
    """What it is of, a column each: ``safest``, ``8 clients``."""
    said: str = ""
    """The result in two or three words: ``25% slower``, ``open``."""
    tone: Tone = "plain"
    drawn: Interval | Share | Bar | None = None
    """What its bar is of."""
    figures: tuple[str, ...] = ()
    is_weak: bool = False
    """Whether the warning below the rows is about it."""
    interval: str = ""
    """The ends of the bar in the words of `said`: ``4.1 to 5.5``."""

    @property
    def bar(self) -> Bar | None:
        """Its bar, in the colour of its tone."""
        one = self.drawn
        return Bar(one.estimate, one.low, one.high, self.tone) if one else None


@dataclass(frozen=True)
class Block:
    """Rows under one heading."""

    title: str
    rows: tuple[Row, ...]
    columns: tuple[str, ...] = ()
    """Headings of the rows' figures."""
    scale: Scale | None = None
    interval: str = "interval"
    """Heading of the rows' intervals."""
    most_figures: int | None = None
    """As many figures a row have room on a screen, with their bar; None: all. A table has all."""

    def for_screen(self) -> "Block":
        """Return the block with the figures that have room on a screen."""
        shown = slice(self.most_figures)
        rows = tuple(replace(row, figures=row.figures[shown]) for row in self.rows)
        if self.scale == SHARES:  # the ends of a share can be read off its bar
            rows = tuple(replace(row, interval="") for row in rows)
        return replace(self, rows=rows, columns=self.columns[shown])

    def table(self) -> Table:
        """Return the rows as a table, which has their intervals in words as well."""
        depth = max((len(row.levels) for row in self.rows), default=0)
        width = max((len(row.figures) for row in self.rows), default=0)
        said, interval = any(row.said for row in self.rows), any(row.interval for row in self.rows)
        titles = [self.title, *[""] * (depth - 1), *[""] * said, *[self.interval] * interval]
        rows = []
        for row in self.rows:
            results = [*[row.said] * said, *[row.interval] * interval]
            rows.append((*_padded(row.levels, depth), *results, *_padded(row.figures, width)))
        figures = (Column(title, figures=True) for title in _padded(self.columns, width))
        bars = tuple(row.bar for row in self.rows)
        return Table((*map(Column, titles), *figures), tuple(rows), self.title, depth, self.scale, bars)


def _padded(entries: Sequence[str], width: int) -> tuple[str, ...]:
    return (*entries[:width], *[""] * (width - len(entries)))


LAST: tuple[Tone, ...] = ("same", "open", "barred")
"""Results whose rows give room to the others."""


def foremost(blocks: Sequence[Block], most: int) -> list[Block]:
    """Return blocks with at most so many rows in their order: one of each, then those that are decided."""
    of_each = {id(block.rows[0]) for block in blocks if block.rows}
    every = [row for block in blocks for row in block.rows]
    ranked = sorted(every, key=lambda row: (id(row) not in of_each, row.tone in LAST))
    kept = set(map(id, ranked[:most]))
    shown = (replace(one, rows=tuple(row for row in one.rows if id(row) in kept)) for one in blocks)
    return [one for one in shown if one.rows]


@dataclass(frozen=True)
class OneScreen:
    """One screen. Empty texts and lines are left out."""

    question: str
    facts: str
    """What was tested, and how much of the run there is."""
    blocks: tuple[Block, ...]
    lines: tuple[tuple[str, str], ...]
    """A word or two, and what to know: what holds it back, what to do, the gravest warning."""
    answer: str = ""
    """One sentence."""
    whole: str = "--format markdown"
    """The option that shows all of it."""
    rest: tuple[Section, ...] = ()
    """What no screen has room for: Markdown folds it, a page has it below."""

    def document(self) -> Document:
        """Return it as a document: its rows as tables, then the rest."""
        tables = tuple(one.table() for one in self.blocks if one.rows)
        return Document(
            heading=self.question,
            lead=(Paragraph(self.facts),),
            answer=self.answer,
            beside=self.lines,
            sections=(Section("", tables), *self.rest),
        )
