"""The answer of a run on one screen: values, which a terminal, a page and Markdown draw each in its way."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.report.document import Tone
from diskproof.stats.intervals import Interval
from diskproof.wording.numbers import number


@dataclass(frozen=True)
class Scale:
    """What the bars of a block are drawn on."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    """Values with their words, ascending."""
    middle: float | None = None
    """A value with a line: equal speed."""
    logarithmic: bool = True


def absolute_scale(figures: Sequence[Interval]) -> Scale:
    """Return a scale from zero on which all these figures lie."""
    high = max((one.high or one.estimate for one in figures), default=1.0)
    return Scale(0.0, high, ((0.0, "0"), (high, number(high))), logarithmic=False)


@dataclass(frozen=True)
class Row:
    """One thing that is compared."""

    levels: tuple[str, ...]
    """What it is of, a column each: ``safest``, ``8 clients``."""
    said: str = ""
    """The result in two or three words: ``25% slower``, ``open``."""
    tone: Tone = "plain"
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    """The bar; without an estimate there is none."""
    figures: tuple[str, ...] = ()
    is_weak: bool = False
    """Whether the warning below the rows is about it."""
    interval: str = ""
    """The ends of the bar in the words of `said`: ``4.1 to 5.5``. A terminal has the bar alone."""


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

    @property
    def has_ratios(self) -> bool:
        """Whether its bars are ratios, with equal speed among them."""
        return self.scale is not None and self.scale.middle is not None


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
