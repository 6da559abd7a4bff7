"""An answer on one screen: values, which a terminal, a page and Markdown draw each in its way."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from diskproof.report.document import Bar, Column, Document, Figure, Paragraph, Scale, Section, Table, Tone
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval
from diskproof.stats.proportions import Share
from diskproof.wording.numbers import geometric_mean, number


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
    drawn: tuple[Interval | Share | Bar, ...] = ()
    """What its bar is of."""
    figures: tuple[str, ...] = ()
    is_weak: bool = False
    """Whether the warning below the rows is about it."""
    interval: str = ""
    """The ends of the bar in the words of `said`: ``4.1 to 5.5``."""

    @property
    def bar(self) -> Bar | None:
        """One bar for all that is drawn: the geometric mean, the lowest end and the highest one."""
        if not self.drawn:
            return None
        low = min((one.low for one in self.drawn if one.low is not None), default=None)
        high = max((one.high for one in self.drawn if one.high is not None), default=None)
        estimates = [one.estimate for one in self.drawn]
        middle = geometric_mean(estimates) if len(estimates) > 1 else estimates[0]
        return Bar(middle, low, high, self.tone)


@dataclass(frozen=True)
class Block:
    """Rows under one heading."""

    title: str
    rows: tuple[Row, ...]
    columns: tuple[str, ...] = ()
    """Headings of the rows' figures."""
    scale: Scale | None = None
    unit: str = ""
    """Of the figures."""
    most_figures: int | None = None
    """As many figures a row have room on a screen, with their bar; None: all. A table has all."""

    def for_screen(self) -> "Block":
        """Return the block with the figures that have room on a screen."""
        shown = slice(self.most_figures)
        rows = tuple(replace(row, figures=row.figures[shown]) for row in self.rows)
        return replace(self, rows=rows, columns=self.columns[shown])

    @property
    def has_ratios(self) -> bool:
        """Whether its bars are ratios, with equal speed among them."""
        return self.scale is not None and self.scale.middle is not None

    def table(self) -> Table:
        """Return the rows as a table, which has their intervals in words as well."""
        depth, width = (
            max((len(entries) for entries in some), default=0)
            for some in ([row.levels for row in self.rows], [row.figures for row in self.rows])
        )
        said, interval = any(row.said for row in self.rows), any(row.interval for row in self.rows)
        titles = [self.title, *[""] * (depth - 1), *[""] * said, *["95% interval"] * interval]
        figures = _padded(self.columns, width)
        return Table(
            (*map(Column, titles), *(Column(title, figures=True) for title in figures)),
            tuple(
                (
                    *_padded(row.levels, depth),
                    *[row.said] * said,
                    *[row.interval] * interval,
                    *_padded(row.figures, width),
                )
                for row in self.rows
            ),
            self.title,
            depth,
            self.scale,
            tuple(row.bar for row in self.rows),
        )


def _padded(entries: Sequence[str], width: int) -> tuple[str, ...]:
    return (*entries[:width], *[""] * (width - len(entries)))


MOST_LEVELS = 30
"""Columns of the levels of several rows that are drawn as one."""


def merged(block: Block, tones: Sequence[Tone] = ("open", "same")) -> Block:
    """Return a block with one row for each of these results, with the range of what its rows say."""
    if not block.has_ratios:
        return block
    alike = grouped(block.rows, lambda row: row.tone if row.tone in tones else row)
    return replace(block, rows=tuple(_one_of(rows) if len(rows) > 1 else rows[0] for rows in alike.values()))


def _one_of(rows: Sequence[Row]) -> Row:
    """Return several rows as one, its bar from the lowest end to the highest."""
    said = list(dict.fromkeys(row.said for row in rows))
    levels = tuple(map(_listed, zip_longest(*(row.levels for row in rows), fillvalue="")))
    levels = levels if sum(map(len, levels)) <= MOST_LEVELS else (f"{len(rows)} conditions",)
    by_size = sorted((row for row in rows if row.bar), key=lambda row: row.bar.estimate if row.bar else 0.0)
    return replace(
        rows[0],
        levels=levels,
        said=said[0] if len(said) == 1 else _range(by_size),
        drawn=tuple(one for row in rows for one in row.drawn),
        figures=(),
        interval="",
        is_weak=any(row.is_weak for row in rows),
    )


def _listed(levels: Sequence[str]) -> str:
    """Return levels of one factor: ``1, 8 clients``."""
    *others, last = dict.fromkeys(filter(None, levels))
    noun = last.partition(" ")[2]
    alike = noun and all(one.partition(" ")[2].rstrip("s") == noun.rstrip("s") for one in others)
    return ", ".join([*(one.partition(" ")[0] if alike else one for one in others), last])


def _range(rows: Sequence[Row]) -> str:
    """Return what the ends of a range say: ``25% to 38% slower``."""
    if not rows:
        return ""
    first, last = (rows[0], rows[-1]) if rows[-1].tone == "better" else (rows[-1], rows[0])
    return f"{first.said.split()[0]} to {last.said}"


@dataclass(frozen=True)
class OneScreen:
    """One screen. Empty texts and lines are left out."""

    question: str
    facts: str
    """What was tested, and how much of the run there is."""
    answer: str
    """One sentence."""
    blocks: tuple[Block, ...]
    lines: tuple[tuple[str, str], ...]
    """A word or two, and what to know: what holds it back, what to do, the gravest warning."""
    whole: str = "--full"
    """The option that shows all of it."""
    rest: tuple[Section, ...] = ()
    """What no screen has room for: Markdown folds it, a page has it below."""

    def document(self, picture: Figure | None = None) -> Document:
        """Return it as a document: its rows as tables, then the rest."""
        tables = tuple(one.table() for one in self.blocks if one.rows)
        return Document(
            name="",
            heading=self.question,
            lead=(Paragraph(self.facts),),
            answer=self.answer,
            beside=self.lines,
            picture=picture,
            sections=(Section("", tables), *self.rest),
        )
