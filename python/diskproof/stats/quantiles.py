"""Which percentiles a number of observations can carry."""

from collections.abc import Iterable

TAIL_OBSERVATIONS = 10
"""Fewest observations beyond a percentile: with ten, the count beyond it is known to a third
(Poisson, 1/sqrt(10)); with one or two, "the p99" is merely one of the slowest transactions."""


def tail_is_known(count: int, percentile: float) -> bool:
    """Tell whether at least ten of `count` observations lie beyond a percentile (0 to 100)."""
    return count >= observations_for(percentile)


def observations_for(percentile: float) -> int:
    """Return how many observations a percentile needs: 1000 for the 99th."""
    # Rounding first: 100 - 99.9 is 0.0999… and would ask for one observation too many.
    return -int(-round(TAIL_OBSERVATIONS * 100 / (100 - percentile), 6) // 1)


def known_percentiles(count: int, names: Iterable[str]) -> list[str]:
    """Return those of the percentiles, given as text (``"99.9"``), that `count` observations carry."""
    return [name for name in names if tail_is_known(count, float(name))]
