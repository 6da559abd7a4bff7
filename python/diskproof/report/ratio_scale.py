"""The scale on which a page draws the intervals of all its ratios: logarithmic, with 1 on it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Interval

_STEPS = (1.0, 2.0, 5.0)
_CLOSE_STEPS = (0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25, 1.5, 2.0)
"""Ticks for ratios that all lie near 1."""

_MOST_TICKS = 7
_MARGIN = 0.06
"""Share of the width that stays free at either end."""


@dataclass(frozen=True)
class RatioScale:
    """From ``low`` to ``high``, both ratios."""

    low: float
    high: float

    def percent(self, ratio: float) -> float:
        """Return where a ratio lies, as percent of the width; what lies outside goes to the edge."""
        share = math.log(max(ratio, 1e-9) / self.low) / math.log(self.high / self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)

    def ticks(self) -> list[float]:
        """Return round ratios within the scale, 1 always among them."""
        if self.high / self.low < 5:
            steps: Sequence[float] = _CLOSE_STEPS
        else:
            steps = [step * 10.0**power for power in range(-6, 7) for step in _STEPS]
        inside = [tick for tick in steps if self.low < tick < self.high]
        while len(inside) > _MOST_TICKS:
            one = inside.index(1.0)
            inside = [tick for index, tick in enumerate(inside) if (index - one) % 2 == 0]
        return inside


def ratio_scale(intervals: Sequence[Interval], same_within: float) -> RatioScale:
    """Return the scale that shows all these ratios, 1 and the band that counts as the same."""
    ends = [1 / (1 + 3 * same_within), 1 + 3 * same_within]
    for interval in intervals:
        ends += [
            end for end in (interval.estimate, interval.low, interval.high) if end is not None and end > 0
        ]
    low, high = min(ends), max(ends)
    margin = (high / low) ** _MARGIN
    return RatioScale(low / margin, high * margin)
