"""The picture of throughput against clients with its bounds drawn in."""

import math
from collections.abc import Iterator, Sequence

import altair as alt
import numpy as np

from diskproof.analysis.answers import Analysis, CellAnswer
from diskproof.analysis.limits.records import Sweep
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row, Spec
from diskproof.report.charts.style import INVALID_COLOUR, encode
from diskproof.report.compose import limits_words as said
from diskproof.report.compose.verdict_words import clients
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import confidence, with_bounds
from diskproof.stats.intervals import Interval
from diskproof.stats.scalability import law
from diskproof.wording.numbers import number

HEIGHT_PX = 260
POINTS_OF_A_CURVE = 40
FAR = 20.0
"""A bound that lies further above all throughputs than this factor is named and not drawn: it would press
them together."""

NEAR = 3.0
"""Ends of intervals that lie further from all throughputs than this factor are cut off."""

ROOM = 1.3
"""How far the axes go beyond what is drawn, as a factor: both are logarithmic."""

ALONE = "each client as fast as with the fewest"
BOUND = "the most its busiest part can serve"
LAW = "Universal Scalability Law, fitted"
DASHES: dict[str, tuple[float, ...]] = {ALONE: (6, 3), BOUND: (2, 2), LAW: (1, 0)}


def throughput_with_bounds(analysis: Analysis) -> Figure | None:
    """Return throughput against clients, a panel a sweep; None if no sweep has two points."""
    found = analysis.limits.sweeps if analysis.limits else []
    drawn = [(one, rows) for one in found if len(rows := list(_points(analysis, one))) > 1]
    if not drawn:
        return None
    domain = _domain([(one, rows) for one, rows in drawn])
    panels = tuple(_panel(analysis, one, rows, domain) for one, rows in drawn)
    present = [line for line in DASHES if any(_has(one, line) for one, _ in drawn)]
    caption = (
        f"Throughput by number of clients, with {confidence(analysis)} intervals. Two lines bound it: each "
        "client as fast as if it were alone, and the most that the busiest part can serve. They meet at the "
        "knee. Both axes are logarithmic."
    )
    keys = (
        Key("measured", colour=INVALID_COLOUR, shape="circle"),
        *(Key(line, dash=DASHES[line]) for line in present),
    )
    return Figure("bounds", "Throughput and its bounds", caption, panels, keys)


def _has(sweep: Sweep, line: str) -> bool:
    known = {ALONE: sweep.smallest_latency_us, BOUND: sweep.bound_per_s, LAW: sweep.scaling}
    return known[line] is not None


def _points(analysis: Analysis, sweep: Sweep) -> Iterator[Row]:
    figures = {answer.cell.id: _throughput(answer) for answer in analysis.cells}
    unit = _unit(analysis, sweep)
    for cell, count, throughput in zip(sweep.cells, sweep.clients, sweep.throughput_per_s, strict=True):
        if throughput is None or throughput <= 0:
            continue
        interval = figures.get(cell)
        yield {
            "kind": "measured",
            "clients": count,
            "speed": throughput,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "name": clients(f"{count}"),
            "shown": f"{with_bounds(interval) if interval else number(throughput)} {unit}",
        }


def _throughput(answer: CellAnswer) -> Interval | None:
    """Return what a cell did in a second, transactions or, on bare files, requests."""
    return answer.figure if answer.metric == "requests_per_s" else answer.throughput_per_s


def _unit(analysis: Analysis, sweep: Sweep) -> str:
    metric = analysis.plan.metric(analysis.plan.cell(sweep.cells[0]))
    return "requests/s" if metric == "requests_per_s" else "transactions/s"


def _domain(drawn: Sequence[tuple[Sweep, Sequence[Row]]]) -> tuple[float, float]:
    """Return the ends of the axis that all panels share: what rises without end does not count."""
    speeds = [row["speed"] for _, rows in drawn for row in rows]
    low, high = min(speeds) / NEAR, max(speeds) * NEAR
    ends = [row[end] for _, rows in drawn for row in rows for end in ("low", "high") if row[end]]
    near = [min(max(end, low), high) for end in ends]
    bounds = [one.bound_per_s for one, _ in drawn if one.bound_per_s and one.bound_per_s <= high * FAR]
    return min([*speeds, *near, *bounds]) / ROOM, max([*speeds, *near, *bounds]) * ROOM


def _panel(analysis: Analysis, sweep: Sweep, points: Sequence[Row], domain: tuple[float, float]) -> Panel:
    fewest, most = min(sweep.clients), max(sweep.clients)
    cut = [{**row, **{end: parts.within(row[end], domain) for end in ("low", "high")}} for row in points]
    rows = [*cut, *_lines(sweep, fewest / 1.2, most * 1.2, domain), *_notes(sweep, fewest, most, domain)]
    encoding = encode(analysis.plan.cells)
    colour = encoding.colours[analysis.plan.cell(sweep.cells[0]).level(encoding.colour)]
    name = said.sweep_name(analysis, sweep)
    return Panel(
        name,
        parts.described(f"Throughput by clients of {name}", points, "shown"),
        _spec(sweep, _unit(analysis, sweep), colour, domain),
        rows,
        len(points),
    )


def _lines(sweep: Sweep, low: float, high: float, domain: tuple[float, float]) -> Iterator[Row]:
    """Yield the points of each bound and of the fitted law, as far as they lie within the drawing."""
    bottom, top = domain
    first = min(sweep.clients)
    steps = [first * (high / first) ** (step / POINTS_OF_A_CURVE) for step in range(POINTS_OF_A_CURVE + 1)]
    if sweep.smallest_latency_us:
        per_client = 1e6 / sweep.smallest_latency_us
        ends = max(low, bottom / per_client), min(high, top / per_client)
        if ends[0] < ends[1]:
            yield from ({"kind": ALONE, "clients": at, "speed": at * per_client} for at in ends)
    if sweep.bound_per_s and sweep.bound_per_s <= top:
        yield from ({"kind": BOUND, "clients": at, "speed": sweep.bound_per_s} for at in (low, high))
    if sweep.scaling:
        fit = sweep.scaling
        fitted = (one.estimate for one in (fit.per_client_per_s, fit.contention, fit.coherency))
        speeds = law(np.array(steps), *fitted).tolist()
        points = zip(steps, speeds, strict=True)
        yield from (
            {"kind": LAW, "clients": at, "speed": speed} for at, speed in points if bottom <= speed <= top
        )


def _notes(sweep: Sweep, fewest: float, most: float, domain: tuple[float, float]) -> Iterator[Row]:
    bottom, top = domain
    if sweep.bound_per_s:
        above = sweep.bound_per_s > top
        yield {
            "kind": "bound note",
            "clients": fewest / 1.15,
            "speed": top / ROOM if above else sweep.bound_per_s,
            "note": f"bound {number(sweep.bound_per_s)}/s{', above the drawing' if above else ''}",
        }
    if sweep.knee_clients and fewest / 1.2 < sweep.knee_clients < most * 1.2:
        # Beside the line on the side that has more room.
        left = math.log(sweep.knee_clients / fewest) > math.log(most / fewest) / 2
        yield {
            "kind": "knee",
            "clients": sweep.knee_clients,
            "speed": bottom * (top / bottom) ** 0.04,
            "note": f"knee {number(sweep.knee_clients)}",
            "align": "right" if left else "left",
            "dx": -5 if left else 5,
        }


def _spec(sweep: Sweep, unit: str, colour: str, domain: tuple[float, float]) -> Spec:
    ticks = parts.log_ticks(*domain)
    axis = alt.Axis(format=",.3~r", labelOverlap=True, values=ticks if len(ticks) > 1 else alt.Undefined)
    x = parts.doubling("clients", sweep.clients, "clients")
    y = alt.Y("speed:Q", title=unit, scale=alt.Scale(type="log", domain=list(domain), nice=False), axis=axis)
    base = alt.Chart().encode(x=x)
    lines = (
        base.transform_filter(alt.FieldOneOfPredicate(field="kind", oneOf=list(DASHES)))
        .mark_line(strokeWidth=1.6, color=INVALID_COLOUR)
        .encode(y=y, strokeDash=parts.dashes("kind", DASHES))
    )
    knee = base.transform_filter("datum.kind == 'knee'")
    upright = knee.mark_rule(strokeWidth=1, color=INVALID_COLOUR, opacity=0.7)
    align, dx = alt.expr("datum.align"), alt.expr("datum.dx")
    knee_note = knee.mark_text(align=align, baseline="bottom", dx=dx).encode(y=y, text="note:N")
    bound_note = (
        base.transform_filter("datum.kind == 'bound note'")
        .mark_text(align="left", baseline="bottom", dy=-3)
        .encode(y=y, text="note:N")
    )
    measured = base.transform_filter("datum.kind == 'measured'").encode(color=alt.value(colour))
    marks = parts.points(measured).encode(y=y, tooltip=parts.tooltip("shown", "clients"))
    return parts.layered(
        lines, upright, parts.intervals(measured, unit), marks, knee_note, bound_note, height_px=HEIGHT_PX
    )
