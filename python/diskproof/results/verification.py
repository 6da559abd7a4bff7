"""A virtual disk held against what was published of the real one, as a record."""

from typing import Literal

from pydantic import Field

from diskproof.results.profile import Probe, ProfileCell, ProfileMachine
from diskproof.results.record import Record
from diskproof.results.usage import Waiting

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


class VerifiedFigure(Record):
    """One published figure, beside what the model says and what was measured."""

    probe: Probe
    measure: MeasureName
    published: float
    source: str
    fitted: bool
    """Whether the model's parameters were fitted to it; only figures that were not are evidence."""
    model: float | None = None
    measured: float | None = None
    """None: not measured, or too few requests for a percentile."""

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


class Lateness(Record):
    """How punctual the served disk was during one probe."""

    p99_us: float | None
    """None: no answer had a time to keep."""
    share: float | None
    """Of the mean modelled latency; None if the model takes no time."""
    late: bool
    """More than a tenth: what was measured is not the device's."""


class VerifiedProbe(Record):
    """One probe: what fio measured on the served disk, and how punctual that was."""

    cell: ProfileCell
    lateness: Lateness
    waiting: Waiting | None = None
    """The kernel's account of its requests beside the model's; None if too few can be compared."""
    modelled_us: float | None = None
    """Mean latency of reads and writes by the model, as they came; fio's has the way to the disk in it."""

    @property
    def way_share(self) -> float | None:
        """What the path to the disk added to its latency, as a share of it; None if either is unknown."""
        requests = self.cell.requests
        return requests.mean_us / self.modelled_us - 1 if requests and self.modelled_us else None


class Verification(Record):
    """A virtual disk, verified."""

    diskproof_version: str
    device: str
    title: str
    started_at: str
    fio_version: str | None = None
    """None: only the model was run."""
    path_us: float | None = None
    floor_us: float | None = None
    label: str | None = None
    """A note for figures that are near this machine's floor."""
    machine: ProfileMachine
    probes: list[VerifiedProbe] = Field(default_factory=list)
    figures: list[VerifiedFigure]

    @property
    def late(self) -> list[VerifiedProbe]:
        """The probes during which the disk was late, by its own account or the kernel's."""
        return [one for one in self.probes if one.lateness.late or (one.waiting and one.waiting.late)]

    @property
    def failed(self) -> list[VerifiedProbe]:
        """The probes that could not be measured."""
        return [one for one in self.probes if one.cell.error is not None]
