"""What an experiment published, to be laid beside what a run measured."""

from typing import Literal

from diskproof.results.factor import Factor
from diskproof.results.record import Record

PublishedMeasure = Literal[
    "transactions_per_s",
    "statements_per_s",
    "requests_per_s",
    "megabytes_per_s",
    "seconds",
    "latency_mean_ms",
    "latency_min_ms",
    "latency_max_ms",
    "latency_p95_ms",
]
"""What a published figure is. ``seconds`` are a job's: of one iteration, of one of sql-bench's tests
(``part``), or of all that was run."""

RATES: tuple[PublishedMeasure, ...] = (
    "transactions_per_s",
    "statements_per_s",
    "requests_per_s",
    "megabytes_per_s",
)
"""The measures that grow with speed; the others are times."""


class _Printed(Record):
    """What was printed about some levels."""

    table: str
    """Its table or section: ``Table 4.1``."""
    place: str
    """Where in the publication that is."""
    at: dict[Factor, str]
    """The levels that it was measured at. A factor that is not named here was not published, or does not
    matter: every cell with these levels is held against it. Of a ratio: those that both sides have."""
    part: str | None = None
    """The test of a job of several tests."""
    measure: PublishedMeasure


class PublishedFigure(_Printed):
    """One figure as it was printed, in the unit of its measure."""

    value: float


class PublishedRatio(_Printed):
    """How much faster one level was than another: of two figures, or as it was printed.

    Above 1 where `level` is the faster: a ratio of rates, or of times turned over.
    """

    factor: Factor
    level: str
    baseline: str
    ratio: float


class Published(Record):
    """An experiment's published figures."""

    title: str
    by: str
    """Author, place and date."""
    figures: list[PublishedFigure]
    ratios: list[PublishedRatio]
