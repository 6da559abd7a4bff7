"""A figure of a disk beside what its model says, and how near the two are to be."""

from typing import Literal

from diskproof.results.profile import Probe
from diskproof.results.record import Record

MeasureName = Literal[
    "iops", "megabytes_per_s", "mean_us", "median_us", "p95_us", "p99_us", "max_us", "flushes_per_s"
]

GOALS: dict[MeasureName, float | None] = {
    "iops": 0.10,
    "megabytes_per_s": 0.10,
    "flushes_per_s": 0.10,
    "mean_us": 0.15,
    "median_us": 0.15,
    "p95_us": 0.25,
    "p99_us": 0.25,
    "max_us": None,
}
"""How near a model is to come to a published figure, as a share of it; no model predicts a maximum."""


class ModelledFigure(Record):
    """One published or measured figure, beside what the model says."""

    probe: Probe
    measure: MeasureName
    published: float
    source: str
    fitted: bool
    """Whether the model's parameters were fitted to it; only figures that were not are evidence."""
    model: float | None = None

    @property
    def goal(self) -> float | None:
        """How far from the published figure it may be, as a share of that."""
        return GOALS[self.measure]

    def ratio(self, figure: float | None) -> float | None:
        """Return a figure over the published one."""
        return None if figure is None or not self.published else figure / self.published

    def within(self, figure: float | None) -> bool | None:
        """Tell whether a figure reaches the goal; None if there is no figure, or no goal."""
        ratio = self.ratio(figure)
        return None if ratio is None or self.goal is None else abs(ratio - 1) <= self.goal
