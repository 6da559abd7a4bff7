"""Throughput over a property of a disk, with the model's prediction and the disks that lie on the curve."""

import math
from collections.abc import Sequence

import altair as alt

from diskproof.analysis.answers import Analysis
from diskproof.analysis.dials import Curve
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row, Span
from diskproof.report.charts.style import COLOURS
from diskproof.report.compose.dials import held, shown, title_of, unit_of
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import confidence, with_bounds
from diskproof.results.dial import FLUSH
from diskproof.results.limit import IN_WORDS
from diskproof.wording import numbers

HEIGHT_PX = 300

MOST_CURVES = len(COLOURS)


def curve(analysis: Analysis) -> Figure | None:
    """Return the curves of the run, if it varies a property of a disk; None if not."""
    curves = analysis.curves[:MOST_CURVES]
    if not curves:
        return None
    key = curves[0].key
    rows = [row for one in curves for row in _rows(one)]
    x = _axis(key, [row["x"] for row in rows])
    span = Span.of([row[end] for row in rows for end in ("figure", "low", "high") if row[end] is not None])
    unit = unit_of(curves[0])
    y = alt.Y("figure:Q", title=unit, scale=span.scale, axis=span.axis())
    by_name = {held(one) or one.dial: colour for one, colour in zip(curves, COLOURS, strict=False)}
    base = (
        alt.Chart()
        .transform_filter("isValid(datum.figure)")
        .encode(x=x, color=parts.colours("name", by_name))
    )
    predicted = (
        base.transform_filter("isValid(datum.predicted)")
        .mark_line(strokeDash=[4, 3], opacity=0.7)
        .encode(y=alt.Y("predicted:Q", title="", scale=span.scale))
    )
    lines = base.mark_line(strokeWidth=2, opacity=0.8).encode(y=y)
    marks = parts.points(base).encode(y=y, tooltip=[*parts.tooltip("said"), alt.Tooltip("limit:N")])
    disks = _disks(analysis, key, [row["x"] for row in rows])
    at_disk = alt.Chart().transform_filter("isValid(datum.disk)").encode(x=x)
    ticks = at_disk.mark_tick(orient="vertical", size=8, opacity=0.7).encode(y=alt.value(HEIGHT_PX - 4))
    names = at_disk.mark_text(angle=270, align="left", dx=2, fontSize=10).encode(
        y=alt.value(HEIGHT_PX - 10), text="disk:N"
    )
    described = parts.described(f"Throughput by {title_of(key)}", rows, "said")
    spec = parts.layered(ticks, names, lines, predicted, parts.intervals(base), marks, height_px=HEIGHT_PX)
    keys = [Key(name, colour) for name, colour in by_name.items() if len(by_name) > 1]
    if any(row["predicted"] is not None for row in rows):
        keys.append(Key("predicted by the disk's model from both ends", dash=(4, 3)))
    keys.append(Key(f"bar: {confidence(analysis)} interval"))
    caption = f"{numbers.sentence_case(unit)} by {title_of(key)} of {curves[0].device}."
    return Figure(
        "curve",
        f"Throughput by {title_of(key)}",
        caption,
        (Panel("", described, spec, [*rows, *disks], len(rows)),),
        tuple(keys),
    )


def _rows(one: Curve) -> list[Row]:
    is_predicted = any(point.predicted is not None for point in one.points)
    known = (one.points[0], one.points[-1]) if is_predicted else ()
    ends = {point.cell: point.figure.estimate for point in known}
    return [
        {
            "name": held(one) or one.dial,
            "x": point.value / 1000 if one.key.endswith("_us") else point.value,
            "figure": point.figure.estimate,
            "low": point.figure.low,
            "high": point.figure.high,
            "predicted": ends.get(point.cell, point.predicted),
            "limit": IN_WORDS[point.limit] if point.limit else "",
            "said": f"{shown(one.key, point.value)}: {with_bounds(point.figure)} {unit_of(one)}",
        }
        for point in one.points
    ]


NEAR = 0.06
"""Of the axis: nearer disks than this would have their names over each other."""


def _disks(analysis: Analysis, key: str, values: Sequence[float]) -> list[Row]:
    """Return the disks that lie on the axis, without those too near to another one."""
    if key != FLUSH:
        return []
    low, high = min(values), max(values)
    shown_at: list[float] = []
    rows = []
    for mark in sorted(analysis.marks, key=lambda mark: mark.value):
        x = mark.value / 1000
        if not low <= x <= high or any(
            abs(math.log(x / at)) < NEAR * math.log(high / low) for at in shown_at
        ):
            continue
        shown_at.append(x)
        rows.append({"disk": mark.name, "x": x})
    return rows


def _axis(key: str, values: Sequence[float]) -> alt.X:
    low, high = min(values) / 1.2, max(values) * 1.2
    axis = alt.Axis(values=sorted(set(values)), format=",.3~r", grid=False, labelOverlap=True)
    title = f"{title_of(key)}, ms" if key.endswith("_us") else title_of(key)
    return alt.X("x:Q", title=title, scale=alt.Scale(type="log", domain=[low, high], nice=False), axis=axis)
