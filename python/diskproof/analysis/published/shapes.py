"""The shapes of what was measured beside published figures."""

from typing import Literal

from pydantic import Field

from diskproof.results.published import PublishedFigure, PublishedRatio
from diskproof.results.record import Record
from diskproof.stats.intervals import Interval
from diskproof.wording import Message

Agreement = Literal["agrees", "differs", "open"]
"""Whether something is as published; ``open``: the measured interval allows both."""

Mark = Literal[
    "agrees",
    "order agrees",
    "size differs",
    "order differs",
    "inconclusive",
    "not comparable",
    "not measured",
]
"""A measured ratio held against a published one; `marks.mark_of` says how it is decided."""


class BesideFigure(Record):
    """A published figure and what one cell with its levels measured."""

    published: PublishedFigure
    cell: str | None = None
    """Id of the cell; None: the study has none with these levels at this scale."""
    measured: Interval | None = None
    """In the unit of the published measure: geometric mean over the valid trials."""
    of_published: Interval | None = None
    """Measured over published."""
    extrapolated: bool = False
    """Whether the seconds hold some that are extrapolated, in one trial at least."""


class BesideRatio(Record):
    """A published ratio and what one pair of cells with its levels measured."""

    published: PublishedRatio
    cell: str | None = None
    baseline_cell: str | None = None
    """Ids of the two cells; None: the study has none with these levels at this scale."""
    measured: Interval | None = None
    """Speed of the level over speed of the baseline, paired by block."""
    of_published: Interval | None = None
    """The ratio of the two ratios, measured over published."""
    order: Agreement = "open"
    """Whether the faster one is the one that was published to be."""
    size: Agreement = "open"
    """Whether it is so by about as much."""
    mark: Mark
    extrapolated: bool = False
    """Whether the seconds compared hold some that are extrapolated."""
    reasons: list[Message] = Field(default_factory=list)
    """Why it was not measured, must not be compared, or decides nothing."""


class Beside(Record):
    """All published figures and ratios of a study, in their order, with what was measured."""

    figures: list[BesideFigure]
    ratios: list[BesideRatio]
