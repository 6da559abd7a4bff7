"""The scale on which all ratios of a page are drawn: logarithmic, with 1 on it."""

from collections.abc import Sequence

from diskproof.report.document import Axis, Bar

_STEPS = (1.0, 2.0, 5.0)
_CLOSE_STEPS = (0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25, 1.5, 2.0)
"""Ticks for ratios that all lie near 1."""

_MOST_TICKS = 7
_MARGIN = 0.06
"""Share of the width that stays free at either end."""


def ticks(low: float, high: float) -> list[float]:
    """Return round ratios between two, 1 always among them."""
    steps: Sequence[float] = _CLOSE_STEPS
    if high / low >= 5:
        steps = [step * 10.0**power for power in range(-6, 7) for step in _STEPS]
    inside = [tick for tick in steps if low < tick < high]
    while len(inside) > _MOST_TICKS:
        one = inside.index(1.0)
        inside = [tick for index, tick in enumerate(inside) if (index - one) % 2 == 0]
    return inside


def axis(bars: Sequence[Bar], same_within: float, words: str) -> Axis:
    """Return the axis that shows all these ratios, 1, and the band that counts as the same."""
    ends = [1 / (1 + 3 * same_within), 1 + 3 * same_within]
    for bar in bars:
        ends += [end for end in (bar.estimate, bar.low, bar.high) if end is not None and end > 0]
    low, high = min(ends), max(ends)
    margin = (high / low) ** _MARGIN
    return Axis(low / margin, high * margin, same_within, words)
