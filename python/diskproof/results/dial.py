"""A property of a disk as a factor: the points of its curve, and what was predicted of them."""

from pydantic import Field

from diskproof.results.record import Record

FLUSH = "flush_us"
"""The property by which disks of all kinds have their place on a curve: the time of a flush."""


class DialPoint(Record):
    """A storage that differs from its neighbours in one or two properties of one virtual disk."""

    dial: str
    """The study's name of all of them."""
    device: str
    """The disk that is varied."""
    values: dict[str, float]
    """By the property's name in the device's file, in its unit."""

    @property
    def value(self) -> float:
        """Of the first property, which is the axis of its curve."""
        return next(iter(self.values.values()))

    @property
    def family(self) -> tuple[object, ...]:
        """Equal for the points of one curve: all but its first property is alike."""
        return self.dial, *list(self.values.items())[1:]


class PredictedPoint(Record):
    """What the model of a cell's disk predicts of it, from the ends of the curve."""

    cell: str
    per_s: float


class Mark(Record):
    """A disk on the axis of a curve."""

    name: str
    value: float
    """Of the property that is varied, in its unit."""


class Dials(Record):
    """What was worked out for the curves of a run at its end, with the disks' models: ``dial.json``."""

    predicted: list[PredictedPoint] = Field(default_factory=list)
    marks: list[Mark] = Field(default_factory=list)
    """Disks of the catalogue, by the time of their flush."""
