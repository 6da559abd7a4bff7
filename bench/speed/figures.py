"""Measurements of one thing by itself, against a goal in its own unit."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from rich.table import Table


@dataclass(frozen=True)
class Bound:
    """What a figure is to be."""

    at_least: float | None = None
    at_most: float | None = None

    def __str__(self) -> str:
        """Return the bound as the table shows it."""
        return f">= {self.at_least:,.0f}" if self.at_least is not None else f"<= {self.at_most:,.0f}"

    def is_met(self, figure: float) -> bool:
        """Judge a figure."""
        if self.at_least is not None and figure < self.at_least:
            return False
        return self.at_most is None or figure <= self.at_most


@dataclass(frozen=True)
class Figure:
    """One line of the table: what was measured some times over."""

    group: str
    what: str
    unit: str
    values: Sequence[float]
    bound: Bound | None
    note: str = ""

    @property
    def middle(self) -> float:
        """The median, which is judged."""
        return median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None if there is none."""
        return None if self.bound is None else self.bound.is_met(self.middle)

    def as_json(self) -> dict[str, Any]:
        """Return everything, the single values too."""
        made = {**asdict(self), "values": list(self.values), "middle": self.middle}
        return {**made, "goal": str(self.bound) if self.bound else None, "met": self.met}


def table(figures: Sequence[Figure]) -> Table:
    """Return the table of all lines."""
    made = Table(box=None, pad_edge=False)
    made.add_column("")
    made.add_column("what")
    for heading in ("median", "least", "most", "goal", "met"):
        made.add_column(heading, justify="right")
    made.add_column("unit")
    made.add_column("")
    for one in figures:
        shown = [f"{value:,.4g}" if value < 1000 else f"{value:,.0f}" for value in _three(one)]
        met = {True: "yes", False: "no", None: ""}[one.met]
        goal = str(one.bound) if one.bound else ""
        made.add_row(one.group, one.what, *shown, goal, met, one.unit, one.note)
    return made


def _three(figure: Figure) -> tuple[float, float, float]:
    return figure.middle, min(figure.values), max(figure.values)
