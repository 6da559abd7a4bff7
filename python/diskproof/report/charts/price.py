"""The pictures of speed against price: what a buyer can have, what nothing cheaper beats, what is advised."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from diskproof.analysis.advised.advise import LIKELY, SURE
from diskproof.analysis.advised.records import Advice, Candidate
from diskproof.analysis.answers import Analysis
from diskproof.analysis.prices.shapes import CellPrice, Prices
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row
from diskproof.report.charts.style import COLOURS, Encoding, encode
from diskproof.report.compose import money
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import confidence, with_bounds
from diskproof.results.factor import Factor
from diskproof.results.plan import Metric
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import count, number, percent

HEIGHT_PX = 310
PANELS: tuple[Factor, ...] = ("workload", "server", "memory")
"""Factors that make a panel each if they vary: only storages and tunings are compared."""

UNITS: dict[Metric, str] = {
    "transactions_per_s": "transactions/s",
    "requests_per_s": "requests/s",
    "seconds": "runs an hour",
}


def speed_against_price(analysis: Analysis) -> Figure | None:
    """Return speed against the price of the storage, a panel a workload; None if nothing is priced."""
    if analysis.prices is None:
        return None
    usual = encode(analysis.plan.cells)  # names stand at the points
    encoding = replace(usual, panels=tuple(factor for factor in PANELS if factor in analysis.varying))
    fastest = [one for one in analysis.prices.cells if one.fastest]
    by_panel = grouped(fastest, lambda one: encoding.panel(one.cell))
    if not by_panel:
        return None
    prices = analysis.prices
    panels = tuple(_panel(analysis, prices, encoding, levels, cells) for levels, cells in by_panel.items())
    at = ", at the number of clients with which it was fastest" if "clients" in analysis.varying else ""
    caption = f"Speed of each storage{at}, against its price. Bars: {confidence(analysis)} intervals."
    if barred := sum(bool(one.bars) for one in prices.cells):
        caption += f" Left out: {count(barred, 'cell')} that must not be compared, see the findings."
    keys = parts.keys(analysis, encoding, panels, with_shapes=True)
    return Figure("price", "Speed against price", caption, panels, keys)


# ---------------------------------------------------------------- a panel


def _panel(
    analysis: Analysis,
    prices: Prices,
    encoding: Encoding,
    levels: tuple[str, ...],
    cells: Sequence[CellPrice],
) -> Panel:
    first = {one.cell.storage: one.cell for one in sorted(cells, key=lambda one: one.speed.estimate)}
    points = [_point(analysis, prices, one, encoding) for one in cells]
    for point, one in zip(points, cells, strict=True):
        point["label"] = one.cell.storage if first[one.cell.storage] == one.cell else ""
    channels = {"color": parts.colour(encoding), **parts.shape(encoding)}
    titles = f"price, {money.priced(prices)}", UNITS[cells[0].metric]
    return _drawn(parts.panel_title(encoding, levels), titles, points, [], channels)


def _drawn(
    title: str,
    titles: tuple[str, str],
    points: Sequence[Row],
    lines: Sequence[float],
    channels: dict[str, Any],
) -> Panel:
    """Draw speeds with their intervals against prices, the labels of points, and lines between figures.

    A line goes from edge to edge.
    """
    across = parts.Span.of([row["price"] for row in points])
    up = parts.Span.of([row[end] for row in points for end in ("speed", "low", "high") if row[end]])
    x = alt.X("price:Q", title=titles[0], scale=across.scale, axis=across.axis())
    y = alt.Y("speed:Q", title=titles[1], scale=up.scale, axis=up.axis())
    base = alt.Chart().transform_filter("datum.kind == 'point'").encode(x=x)
    coloured = base.encode(color=channels["color"])
    marks = parts.points(coloured, size=80).encode(
        y=y, tooltip=parts.tooltip("figure"), **{key: channels[key] for key in channels if key == "shape"}
    )
    labels = base.mark_text(align="left", baseline="middle", dx=9).encode(y=y, text="label:N")
    rules = alt.Chart().transform_filter("datum.kind == 'line'").mark_rule(strokeWidth=1.5, opacity=0.7)
    rules = rules.encode(x=x, y=y, x2="price2:Q", y2="speed:Q", strokeDash=alt.value([6, 4]))
    edges = {"kind": "line", "price": across.low, "price2": across.high}
    rows = [*points, *({**edges, "speed": speed} for speed in lines)]
    spec = parts.layered(rules, parts.intervals(coloured, titles[1]), marks, labels, height_px=HEIGHT_PX)
    described = parts.described(f"{titles[1]} against {titles[0]}", points, "figure")
    return Panel(title, described, spec, rows, len(points))


def _point(analysis: Analysis, prices: Prices, one: CellPrice, encoding: Encoding) -> Row:
    speed = f"{with_bounds(one.speed)} {UNITS[one.metric]}"
    known = next(answer for answer in analysis.cells if answer.cell.id == one.cell.id)
    return {
        **parts.identity(analysis, known, encoding),
        "kind": "point",
        "price": one.amount,
        "speed": one.speed.estimate,
        "low": one.speed.low,
        "high": one.speed.high,
        "figure": f"{speed} for {money.money(one.amount)} {money.priced(prices)}",
    }


# ---------------------------------------------------------------- an advice

ADVISED, TO_BUY = "advised", "to buy"
MEETS, MAY, MISSES = "meets the target", "may meet it", "misses the target"
MEASURED = "measured on a virtual disk"
ANSWERS = dict(zip((ADVISED, MEETS, TO_BUY, MISSES, MAY, MEASURED), COLOURS, strict=False))


def throughput_by_price(advice: Advice) -> Figure | None:
    """Return what each disk is predicted to do against its price of a month; None if nothing is predicted."""
    known = [one for one in advice.candidates if one.predicted.per_s]
    if not known:
        return None
    points = [*(_disk(advice, one) for one in known), *_measured(advice)]
    target = advice.target.per_s
    lines = [] if target is None else [target]
    channels = {"color": parts.colours("answer", ANSWERS)}
    titles = f"{known[0].configuration.currency} a month", "transactions/s"
    drawn = {row["answer"] for row in points}
    keys = [Key(name, colour) for name, colour in ANSWERS.items() if name in drawn]
    if target is not None:
        keys.append(Key(f"target: {number(target)} transactions/s", dash=(6, 4)))
    return Figure(
        "advice",
        "Throughput against price",
        f"Predicted throughput with its interval. Meets the target: with {percent(SURE)} or more; may meet "
        f"it: with {percent(LIKELY)} or more. All parts of the target count.",
        (_drawn("", titles, points, lines, channels),),
        tuple(keys),
    )


def _disk(advice: Advice, one: Candidate) -> Row:
    assert one.predicted.per_s is not None
    answer = MEETS if one.meets_with(SURE) else MAY if one.meets_with(LIKELY) else MISSES
    if advice.verification is not None and one.configuration.name == advice.verification.cheapest:
        answer = TO_BUY
    elif advice.verification is None and one == advice.chosen:
        answer = ADVISED
    return {
        "kind": "point",
        "name": one.configuration.name,
        "answer": answer,
        "label": one.configuration.name if answer in (ADVISED, TO_BUY) else "",
        "price": one.configuration.a_month,
        "speed": one.predicted.per_s.estimate,
        "low": one.predicted.per_s.low,
        "high": one.predicted.per_s.high,
        "figure": f"{with_bounds(one.predicted.per_s)} transactions/s",
    }


def _measured(advice: Advice) -> Iterator[Row]:
    sold = {one.configuration.name: one for one in advice.candidates}
    for seen in advice.verification.runs if advice.verification else ():
        if seen.per_s is not None:
            point = _disk(advice, sold[seen.name])
            measured = {"speed": seen.per_s, "figure": f"measured: {number(seen.per_s)} transactions/s"}
            yield {**point, "answer": MEASURED, "label": "", "low": None, "high": None, **measured}
