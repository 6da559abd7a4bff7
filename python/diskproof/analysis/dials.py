"""Curves over a property of a disk: what was measured at each value, and which value is enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from diskproof.analysis.limits.records import CellLimit
from diskproof.results.dial import Dials
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.limit import Limit
from diskproof.results.plan import THROUGHPUTS, Metric, Plan
from diskproof.results.record import Record
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval

if TYPE_CHECKING:
    from diskproof.analysis.answers import CellAnswer

LOSSES = (0.05, 0.1, 0.5)
"""Of the throughput at the curve's best end: how much of it one may be ready to give up."""


class CurvePoint(Record):
    """One value of the property."""

    value: float
    cell: str
    figure: Interval
    predicted: float | None = None
    """By the disk's model, from the ends of the curve; None: it is an end, or nothing was predicted."""
    limit: Limit | None = None


class Need(Record):
    """The value at which a share of the throughput is lost."""

    loss: float
    value: float | None
    """By interpolation of logarithms; None: the curve does not come so low."""
    low: float | None = None
    """The same for the ends of the points' intervals; None: there are none, or they do not come so low."""
    high: float | None = None


class Curve(Record):
    """Throughput over a property, everything else held equal."""

    dial: str
    device: str
    key: str
    """The property's name in the device's file."""
    metric: Metric
    held: dict[Factor, str]
    """The factors that vary in the study, but for the storage, with their levels here."""
    also: dict[str, float]
    """The second property that the study varies, with its value here."""
    points: list[CurvePoint]
    """By value; at least two."""
    needs: list[Need]

    @property
    def best(self) -> CurvePoint:
        """The end with the higher throughput."""
        return max(self.points[0], self.points[-1], key=lambda one: one.figure.estimate)


def curves_of(
    plan: Plan,
    cells: Sequence[CellAnswer],
    limits: Sequence[CellLimit],
    known: Dials,
    varying: Sequence[Factor],
) -> list[Curve]:
    """Return the curves of a run; none if no disk's property varies, or nothing counts."""
    predicted = {one.cell: one.per_s for one in known.predicted}
    held_back = {one.cell.id: one.limit for one in limits}
    found = [
        one for one in cells if one.cell.storage in plan.dials and one.figure and one.metric in THROUGHPUTS
    ]
    families = grouped(found, lambda one: (plan.dials[one.cell.storage].family, _held(one, varying)))
    curves = []
    for some in families.values():
        at = plan.dials[some[0].cell.storage]
        key, *second = at.values
        points = [
            CurvePoint(
                value=plan.dials[one.cell.storage].value,
                cell=one.cell.id,
                figure=one.figure,
                predicted=predicted.get(one.cell.id),
                limit=held_back.get(one.cell.id),
            )
            for one in some
            if one.figure
        ]
        points.sort(key=lambda one: one.value)
        if len(points) > 1:
            curves.append(
                Curve(
                    dial=at.dial,
                    device=at.device,
                    key=key,
                    metric=some[0].metric,
                    held=dict(_held(some[0], varying)),
                    also={name: at.values[name] for name in second},
                    points=points,
                    needs=[_need(points, loss) for loss in LOSSES],
                )
            )
    return curves


def _held(one: CellAnswer, varying: Sequence[Factor]) -> tuple[tuple[Factor, str], ...]:
    return tuple(
        (factor, one.cell.level(factor)) for factor in FACTORS if factor in varying and factor != "storage"
    )


def _need(points: Sequence[CurvePoint], loss: float) -> Need:
    """Return where the curve comes down to a share of its best end, seen from there."""
    falling = points[0].figure.estimate >= points[-1].figure.estimate
    way = list(points) if falling else list(reversed(points))
    level = way[0].figure.estimate * (1 - loss)
    values = [one.value for one in way]

    def at(end: Literal["estimate", "low", "high"]) -> float | None:
        figures = [getattr(one.figure, end) for one in way]
        return None if None in figures else crossing(list(zip(values, figures, strict=True)), level)

    ends = at("low"), at("high")
    low, high = ends if falling else reversed(ends)
    return Need(loss=loss, value=at("estimate"), low=low, high=high)


def crossing(curve: Sequence[tuple[float, float]], level: float) -> float | None:
    """Return where a curve of (value, figure) first comes below a level; logarithms are interpolated.

    None if it does not; its first value if it begins below.
    """
    if curve[0][1] < level:
        return curve[0][0]
    for (before, above), (after, below) in pairwise(curve):
        if below < level:
            share = math.log(above / level) / math.log(above / below)
            return math.exp(math.log(before) + share * math.log(after / before))
    return None


def figure_at(curve: Curve, value: float) -> Interval | None:
    """Return the throughput at a value between two points; logarithms are interpolated, as are the ends.

    None beyond the ends of the curve.
    """
    values = [point.value for point in curve.points]
    if not values[0] <= value <= values[-1]:
        return None

    def at(end: Literal["estimate", "low", "high"]) -> float | None:
        figures = [getattr(point.figure, end) for point in curve.points]
        if None in figures:
            return None
        return math.exp(np.interp(math.log(value), np.log(values), np.log(figures)))

    estimate = at("estimate")
    assert estimate is not None
    blocks = min(point.figure.n for point in curve.points)
    return Interval(estimate=estimate, low=at("low"), high=at("high"), n=blocks)
