"""The two clocks of this machine: the calendar, which can be set, and the monotonic one, which cannot."""

import time

READINGS = 5

SET_NS = 10_000_000
"""A calendar that moved by less than this against the monotonic clock was not set: NTP slews both alike."""


def calendar_ahead_ns() -> int:
    """Return how far the calendar is ahead of the monotonic clock: it changes only if the calendar is set.

    While a machine sleeps, its monotonic clock stands still, so that counts as set. The quickest of a few
    readings is returned: this process may have waited for a CPU within another.
    """
    readings = [(time.monotonic_ns(), time.time_ns(), time.monotonic_ns()) for _ in range(READINGS)]
    before_ns, calendar_ns, after_ns = min(readings, key=lambda one: one[2] - one[0])
    return calendar_ns - (before_ns + after_ns) // 2


def calendar_set_ns(then_ns: int) -> int:
    """Return by how much the calendar was set since `calendar_ahead_ns` returned that; 0 if it was not."""
    moved_ns = abs(calendar_ahead_ns() - then_ns)
    return moved_ns if moved_ns > SET_NS else 0
