"""How intervals are written."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, CellAnswer
from diskproof.results.plan import Metric
from diskproof.stats.intervals import Interval
from diskproof.wording.numbers import NOT_OBSERVED, milliseconds, number, percent

APART = 100.0
"""Times the lower end from which on the upper one says nothing: ten times more or less. A judgement."""


def estimate(interval: Interval | None) -> str:
    """Return only the estimate."""
    return NOT_OBSERVED if interval is None else number(interval.estimate)


def bounds(interval: Interval | None) -> str:
    """Return only the interval's ends, or why there are none."""
    if interval is None:
        return NOT_OBSERVED
    if interval.low is None or interval.high is None:
        return "none: one block" if interval.n == 1 else "none"
    if _is_open(interval):
        return "open"
    return f"{number(interval.low)} to {number(interval.high)}"


def with_bounds(interval: Interval | None) -> str:
    """Return an estimate with its interval in brackets, or that it has none."""
    if interval is None:
        return NOT_OBSERVED
    if interval.low is None or interval.high is None:
        return f"{number(interval.estimate)} ({'one block, ' if interval.n == 1 else ''}no interval)"
    return f"{number(interval.estimate)} ({'interval open' if _is_open(interval) else bounds(interval)})"


def _is_open(interval: Interval) -> bool:
    """Return whether an interval, such as that of two blocks that scatter, leaves the figure unknown."""
    return bool(interval.low and interval.high and 0 < interval.low * APART < interval.high)


def as_shown(metric: Metric, figure: Interval | None) -> Interval | None:
    """Return a figure in the unit that people see: latencies in milliseconds."""
    return figure.scaled(1 / 1000) if figure and metric == "latency_mean_us" else figure


def extrapolated(is_so: bool) -> str:
    """Return the mark of seconds that were not all measured, as in sql-bench's own tables."""
    return "+" if is_so else ""


def confidence(analysis: Analysis) -> str:
    """Return the confidence of a run's intervals: ``95%``."""
    levels = [answer.figure.confidence for answer in analysis.cells if answer.figure is not None]
    return percent(levels[0] if levels else 0.95)


def percentile(key: str, cell: CellAnswer) -> str:
    """Return a percentile in ms; ``>=``: it ends its histogram, and the true one may be any above it."""
    figure = cell.latency_us.get(key)
    at_least = ">= " if key in cell.latency_at_least else ""
    return f"{at_least}{milliseconds(figure.estimate if figure else None)}"


def percentiles(cells: Sequence[CellAnswer]) -> list[str]:
    """Return those of the usual percentiles that at least one cell has, in ascending order."""
    return [key for key in ("50", "95", "99") if any(key in answer.latency_us for answer in cells)]
