"""What a server told of itself over a while, kept in little: samples may come each second for a day."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Status:
    """What a server tells of itself at one moment, under its own names."""

    counters: dict[str, float]
    """Counted since the server's start: only a difference of two says anything."""
    gauges: dict[str, float]
    """Levels: dirty pages, running threads. A difference of two says nothing."""


class Samples:
    """Counters at both ends, and of each level its mean, its highest, and both ends."""

    def __init__(self, samples: Iterable[tuple[float, Status]] = ()) -> None:
        """Begin with some, each with its time in seconds, in order."""
        self._first: Status | None = None
        self._last: Status | None = None
        self._first_s = self._last_s = 0.0
        self._sums: dict[str, float] = {}
        self._counts: dict[str, int] = {}
        self._highest: dict[str, float] = {}
        for at_s, status in samples:
            self.add(at_s, status)

    def add(self, at_s: float, status: Status) -> None:
        """Add what the server told at a moment."""
        if self._first is None:
            self._first, self._first_s = status, at_s
        self._last, self._last_s = status, at_s
        for name, level in status.gauges.items():
            self._sums[name] = self._sums.get(name, 0.0) + level
            self._counts[name] = self._counts.get(name, 0) + 1
            self._highest[name] = max(level, self._highest.get(name, level))

    def moved(self, name: str) -> float | None:
        """Return by how much a counter grew; None where it was not told of at both ends."""
        if self._first is None or self._last is None:
            return None
        before, after = self._first.counters.get(name), self._last.counters.get(name)
        return None if before is None or after is None else after - before

    def count(self, name: str) -> int | None:
        """Return by how many a counter of events grew."""
        moved = self.moved(name)
        return None if moved is None else round(moved)

    def count_of_all(self, *names: str) -> int | None:
        """Return by how many some counters grew together; None where one of them was not told of."""
        counts = [self.count(name) for name in names]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(names) else None

    def seconds(self, name: str, unit_s: float = 1.0) -> float | None:
        """Return by how much a counter of time grew, which is told in units of so many seconds."""
        moved = self.moved(name)
        return None if moved is None else moved * unit_s

    def mean(self, name: str) -> float | None:
        """Return the mean of a level over the samples that have it."""
        return self._sums[name] / self._counts[name] if name in self._sums else None

    def highest(self, name: str) -> float | None:
        """Return the highest of a level."""
        return self._highest.get(name)

    def mean_share(self, part: str, whole: str) -> float | None:
        """Return the mean of one level as a share of another that stays as it is."""
        return _share(self.mean(part), self.mean(whole))

    def highest_share(self, part: str, whole: str) -> float | None:
        """Return the highest of one level as a share of another that stays as it is."""
        return _share(self.highest(part), self.mean(whole))

    def growth_per_s(self, name: str) -> float | None:
        """Return what a level gained a second from the first sample to the last; below 0 where it fell."""
        if self._first is None or self._last is None or self._last_s <= self._first_s:
            return None
        before, after = self._first.gauges.get(name), self._last.gauges.get(name)
        if before is None or after is None:
            return None
        return (after - before) / (self._last_s - self._first_s)


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
