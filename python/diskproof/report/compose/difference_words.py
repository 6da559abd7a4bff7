"""How the parts of a difference between two cells are said."""

from collections.abc import Iterator

from diskproof.analysis.limits.records import Difference, PartName
from diskproof.report.compose.limits_words import UNEXPLAINED
from diskproof.report.document import Line
from diskproof.stats.intervals import Interval
from diskproof.wording import numbers

MOSTLY = 0.5
"""A part that makes this share of a difference is most of it."""

SMALL = 0.05
"""Parts below this share of a difference are not named."""

MOST_PARTS = 3

UNITS = (("s", 1e6), ("ms", 1e3), ("µs", 1.0))
"""Units of a time, and how many microseconds each has."""


WORDS: dict[PartName, str] = {
    "CPU": "CPU time",
    "waiting for a CPU": "the wait for a CPU",
    "log flush": "the log flush",
    "data reads": "data reads",
    "page writes": "page writes",
    "locks": "locks",
    "load generator": "the load generator",
    "network": "the network",
}


def lines(one: Difference) -> tuple[Line, ...]:
    """Return what a difference is made of.

    Nothing if no part of it is known.
    """
    if all(name == UNEXPLAINED for name, _ in _main(one)):
        return ()
    return (Line(_sentence(one), lead="The difference", style="plain"),)


def _sentence(one: Difference) -> str:
    """Return ``each transaction takes 1.3 ms longer than 4.2 ms: log flush +0.9, CPU +0.3``."""
    whole = one.whole_us
    largest_us = max(one.baseline_us.estimate, one.baseline_us.estimate + whole.estimate)
    unit, factor = next(unit for unit in UNITS if largest_us >= unit[1] or unit is UNITS[-1])
    parts = [f"{name} {_figures(part, factor)}" for name, part in _main(one)]
    before = numbers.significant(one.baseline_us.estimate / factor, 2)
    takes = _number((one.baseline_us.estimate + whole.estimate) / factor)
    change = _figures(whole, factor)
    return f"each transaction takes {takes} {unit} instead of {before} {unit}, {change}: {', '.join(parts)}"


def largest(one: Difference) -> str | None:
    """Return the part that makes most of a difference, if its interval excludes 0."""
    whole = one.whole_us.estimate
    for name, part in one.parts.items():
        if whole and part.estimate / whole >= MOSTLY and part.excludes(0) and one.whole_us.excludes(0):
            return WORDS[name]
    return None


def _main(one: Difference) -> Iterator[tuple[str, Interval]]:
    """Yield the largest parts, and last what no part explains."""
    least = SMALL * abs(one.whole_us.estimate)
    parts = sorted(one.parts.items(), key=lambda item: -abs(item[1].estimate))
    yield from [(name, part) for name, part in parts if abs(part.estimate) >= least][:MOST_PARTS]
    if abs(one.unexplained_us.estimate) >= least:
        yield UNEXPLAINED, one.unexplained_us


def _figures(interval: Interval, factor: float) -> str:
    """Return a change with its interval: ``+0.9 (0.8 to 1.0)``."""
    said = f"{'+' if interval.estimate >= 0 else ''}{_number(interval.estimate / factor)}"
    if interval.low is None or interval.high is None:
        return said
    return f"{said} ({_number(interval.low / factor)} to {_number(interval.high / factor)})"


def _number(value: float) -> str:
    text = numbers.significant(abs(value), 2)
    return f"-{text}" if value < 0 else text
