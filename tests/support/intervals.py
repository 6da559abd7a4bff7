"""What tests ask of intervals that they know to be there."""

from diskproof.stats.intervals import Interval


def given(interval: Interval | None) -> Interval:
    """Return the estimate; a test that meets none has failed."""
    assert interval is not None
    return interval


def bounds(interval: Interval | None) -> tuple[float, float]:
    """Return the interval's ends; a test that meets none has failed."""
    assert interval is not None
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high
