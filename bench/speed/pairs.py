"""Measurements in pairs, the ratio that they give, and whether it meets a goal.

Absolute figures mean little on a shared machine. Ours and the peer's take turns, so that what the
machine does to one it does to the other, and only their ratio is judged.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, TypeVar

from diskproof.stats.intervals import paired_ratio

Ours = TypeVar("Ours")
Peer = TypeVar("Peer")


@dataclass(frozen=True)
class Goal:
    """What a ratio is to be: the median of the pairs keeps to it, or its whole 95 % interval does."""

    at_least: float | None = None
    at_most: float | None = None
    whole_interval: bool = False

    def __str__(self) -> str:
        """Return the goal as the table shows it."""
        if self.at_least is not None and self.at_most is not None:
            return f"{self.at_least:.2f} to {self.at_most:.2f}"
        return f">= {self.at_least:.2f}" if self.at_least is not None else f"<= {self.at_most:.2f}"

    def is_met(self, middle: float, low: float | None, high: float | None) -> bool:
        """Judge a ratio; an interval that one pair cannot give meets nothing."""
        least, most = self.at_least or 0.0, self.at_most or math.inf
        if self.whole_interval:
            return low is not None and high is not None and least <= low and high <= most
        return least <= middle <= most


AGREES = Goal(at_least=0.97, at_most=1.03, whole_interval=True)
"""What is measured with one tool can be laid beside what was measured with the other."""


@dataclass(frozen=True)
class Row:
    """One line of the table: ours over the peer's."""

    group: str
    what: str
    unit: str
    ours: float
    peer: float
    pairs: list[tuple[float, float]]
    ratio: float
    """Median of the ratios, pair by pair."""
    low: float | None
    """Of the 95 % interval of the ratio's mean (Student's t on the logarithms); None with one pair."""
    high: float | None
    goal: Goal | None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None if there is none."""
        return None if self.goal is None else self.goal.is_met(self.ratio, self.low, self.high)

    def as_json(self) -> dict[str, Any]:
        """Return everything, the single pairs too."""
        return {**asdict(self), "goal": str(self.goal) if self.goal else None, "met": self.met}


def row(  # every figure of a line is named where it is made
    group: str, what: str, unit: str, pairs: list[tuple[float, float]], goal: Goal | None, note: str = ""
) -> Row:
    """Make a line from pairs of (ours, peer)."""
    interval = paired_ratio([mine for mine, _ in pairs], [theirs for _, theirs in pairs]).interval
    return Row(
        group=group,
        what=what,
        unit=unit,
        ours=median(mine for mine, _ in pairs),
        peer=median(theirs for _, theirs in pairs),
        pairs=pairs,
        ratio=median(mine / theirs for mine, theirs in pairs),
        low=interval.low,
        high=interval.high,
        goal=goal,
        note=note,
    )


def alternate(pairs: int, ours: Callable[[], Ours], peer: Callable[[], Peer]) -> list[tuple[Ours, Peer]]:
    """Run both in turn, the other one first in every second pair."""
    made = []
    for number in range(pairs):
        if number % 2:
            theirs = peer()
            made.append((ours(), theirs))
        else:
            mine = ours()
            made.append((mine, peer()))
    return made
