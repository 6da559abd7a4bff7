"""Which percentiles a number of observations supports."""

from collections.abc import Iterable

TAIL_OBSERVATIONS = 10
"""Fewest observations beyond a percentile: ten are known to a third (Poisson, 1/sqrt(10)). With one or two,
"the p99" is only one of the slowest transactions."""


def observations_for(percentile: float) -> int:
    """Return how many observations a percentile needs: 1000 for the 99th."""
    # Rounded, because 100 - 99.9 is 0.0999…, which would need one observation more.
    return -int(-round(TAIL_OBSERVATIONS * 100 / (100 - percentile), 6) // 1)


def known_percentiles(count: int | None, names: Iterable[str]) -> list[str]:
    """Return those of the percentiles, given as text (``"99.9"``), that `count` observations support."""
    return [name for name in names if count is not None and count >= observations_for(float(name))]
