"""A server's own figures over a while, in little memory: samples may come each second for a day."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Status:
    """A server's own figures at one moment, under its own names."""

    counters: dict[str, float]
    """Counted since the server's start: only differences mean something."""
    gauges: dict[str, float]
    """Levels, such as dirty pages and running threads: differences mean nothing."""


class Samples:
    """The counters and levels at both ends, and of each level its mean and its highest.

    A figure is None if the server did not report it at both ends, or a level never.
    """

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
        """Add what the server reported at a moment."""
        if self._first is None:
            self._first, self._first_s = status, at_s
        self._last, self._last_s = status, at_s
        for name, level in status.gauges.items():
            self._sums[name] = self._sums.get(name, 0.0) + level
            self._counts[name] = self._counts.get(name, 0) + 1
            self._highest[name] = max(level, self._highest.get(name, level))

    def moved(self, name: str) -> float | None:
        """Return by how much a counter grew."""
        if self._first is None or self._last is None:
            return None
        before, after = self._first.counters.get(name), self._last.counters.get(name)
        return None if before is None or after is None else after - before

    def count(self, *names: str) -> int | None:
        """Return by how many some counters of events grew together."""
        known = [moved for name in names if (moved := self.moved(name)) is not None]
        return sum(map(round, known)) if len(known) == len(names) else None

    def seconds(self, name: str, unit_s: float = 1.0) -> float | None:
        """Return by how much a counter of time grew, which counts in units of so many seconds."""
        moved = self.moved(name)
        return None if moved is None else moved * unit_s

    def mean(self, name: str) -> float | None:
        """Return the mean of a level over the samples that have it."""
        return self._sums[name] / self._counts[name] if name in self._sums else None

    def mean_share(self, part: str, whole: str) -> float | None:
        """Return the mean of one level as a share of another that is constant."""
        return _share(self.mean(part), self.mean(whole))

    def highest_share(self, part: str, whole: str) -> float | None:
        """Return the highest of one level as a share of another that is constant."""
        return _share(self._highest.get(part), self.mean(whole))

    def growth_per_s(self, name: str) -> float | None:
        """Return what a level gained a second from the first sample to the last; below 0 if it fell."""
        if self._first is None or self._last is None or self._last_s <= self._first_s:
            return None
        before, after = self._first.gauges.get(name), self._last.gauges.get(name)
        if before is None or after is None:
            return None
        return (after - before) / (self._last_s - self._first_s)


def first(*figures: Number | None) -> Number | None:
    """Return the first figure that is known."""
    return next((one for one in figures if one is not None), None)


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
