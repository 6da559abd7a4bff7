"""Throughput over a property of a disk, with the model's prediction and the disks of the catalogue."""

import math
from collections.abc import Mapping, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.dials import Curve
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row, Span, Spec
from diskproof.report.charts.style import COLOURS
from diskproof.report.compose import verdict_words
from diskproof.report.compose.dials import held, shown, title_of, unit_of
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import confidence, with_bounds
from diskproof.results.dial import FLUSH
from diskproof.results.limit import IN_WORDS
from diskproof.results.plan import NO_LEVEL
from diskproof.stats.grouping import grouped
from diskproof.wording import numbers

HEIGHT_PX = 300

NEAR = 0.06
"""Of the axis: nearer disks than this would have their names over each other."""

IS_DISK = "datum.is_disk"


def curve(analysis: Analysis) -> Figure | None:
    """Return the curves of the run, a panel a number of clients; None if no property of a disk varies."""
    curves = analysis.curves
    if not curves:
        return None
    by_clients = grouped(curves, lambda one: one.held.get("clients", ""))
    names = dict.fromkeys(_name(one) for one in curves)
    by_name = dict(zip(names, COLOURS, strict=False))  # of more curves, the table has the rest
    drawn = [[one for one in some if _name(one) in by_name] for some in by_clients.values()]
    panels = tuple(
        _panel(analysis, some, by_name, clients) for clients, some in zip(by_clients, drawn, strict=True)
    )
    keys = [Key(name, colour) for name, colour in by_name.items() if len(by_name) > 1]
    if any(point.predicted is not None for one in curves for point in one.points):
        keys.append(Key("dashed: predicted by the disk's model from both ends", dash=(4, 3)))
    keys.append(Key(f"bar: {confidence(analysis)} interval"))
    title, unit = title_of(curves[0].key), unit_of(curves[0])
    caption = f"{numbers.sentence_case(unit)} by {title} of {curves[0].device}."
    return Figure("curve", f"Throughput by {title}", caption, panels, tuple(keys))


def _name(one: Curve) -> str:
    """Return what tells a curve from the others of its panel."""
    return held(one, but="clients") or one.dial


def _panel(analysis: Analysis, curves: Sequence[Curve], by_name: Mapping[str, str], clients: str) -> Panel:
    key = curves[0].key
    rows = [row for one in curves for row in _rows(one)]
    x = _axis(key, [row["x"] for row in rows])
    span = Span.of([row[end] for row in rows for end in ("figure", "low", "high") if row[end] is not None])
    channels = {
        "x": x,
        "y": span.channel("figure", unit_of(curves[0])),
        "color": parts.looks("name", by_name),
    }
    disks = _disks(analysis, key, [row["x"] for row in rows])
    at_disk = {"x": x, "y": {"value": HEIGHT_PX - 4}}
    named = at_disk | {"text": parts.words("name")}
    predicted = channels | {"y": parts.figures("predicted", title="", scale=span.scale)}
    title = verdict_words.subject("clients", clients) if clients and clients != NO_LEVEL else ""
    return parts.panel(
        title,
        f"Throughput by {title_of(key)}, {title}".rstrip(", "),
        [*rows, *disks],
        "said",
        parts.layer("tick", at_disk, IS_DISK, orient="vertical", size=8, opacity=0.7),
        parts.layer("text", named, IS_DISK, angle=270, align="left", dx=8, fontSize=10),
        parts.lines(channels, "isValid(datum.figure)"),
        parts.lines(predicted, "isValid(datum.predicted)", strokeDash=[4, 3], opacity=0.7),
        parts.intervals(channels),
        parts.points(channels | parts.tooltip("said"), "isValid(datum.figure)"),
        height_px=HEIGHT_PX,
    )


def _rows(one: Curve) -> list[Row]:
    is_predicted = any(point.predicted is not None for point in one.points)
    known = (one.points[0], one.points[-1]) if is_predicted else ()
    ends = {point.cell: point.figure.estimate for point in known}
    return [
        {
            "name": _name(one),
            "x": point.value / 1000 if one.key.endswith("_us") else point.value,
            "figure": point.figure.estimate,
            "low": point.figure.low,
            "high": point.figure.high,
            "predicted": ends.get(point.cell, point.predicted),
            "said": f"{shown(one.key, point.value)}: {with_bounds(point.figure)} {unit_of(one)}"
            f"{f'; limit: {IN_WORDS[point.limit]}' if point.limit else ''}",
        }
        for point in one.points
    ]


def _disks(analysis: Analysis, key: str, values: Sequence[float]) -> list[Row]:
    """Return the disks that lie on the axis, without those too near to another one."""
    low, high = min(values), max(values)
    rows: list[Row] = []
    for mark in sorted(analysis.marks, key=lambda mark: mark.value) if key == FLUSH else ():
        x = mark.value / 1000
        before = rows[-1]["x"] if rows else 0.0
        if low <= x <= high and (not before or math.log(x / before) >= NEAR * math.log(high / low)):
            rows.append({"name": mark.name, "x": x, "is_disk": True, "said": shown(key, mark.value)})
    return rows


def _axis(key: str, values: Sequence[float]) -> Spec:
    scale = Span(min(values) / 1.2, max(values) * 1.2, log=True).scale
    axis = {"values": sorted(set(values)), "format": ",.3~r", "grid": False, "labelOverlap": True}
    title = f"{title_of(key)}, ms" if key.endswith("_us") else title_of(key)
    return parts.figures("x", title=title, scale=scale, axis=axis)
