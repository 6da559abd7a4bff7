"""The pictures of speed against price: what a buyer can have, what nothing cheaper beats, what is advised."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, pairwise
from typing import Any

import altair as alt

from diskproof.analysis.advised.advise import LIKELY, SURE
from diskproof.analysis.advised.records import Advice, Candidate
from diskproof.analysis.answers import Analysis
from diskproof.analysis.prices.shapes import CellPrice, Prices
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row
from diskproof.report.charts.style import COLOURS, DASHES, SHAPES, Encoding, encode
from diskproof.report.compose import money
from diskproof.report.compose.verdict_words import BARE_FILES, cell_words
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import confidence, with_bounds
from diskproof.results.factor import Factor
from diskproof.results.plan import Cell, Metric
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


def price_encoding(analysis: Analysis) -> Encoding:
    """Return how storages and tunings look in the picture: names stand at the points, so all colours may do.

    A storage has the colour that it has in the other charts, if they colour storages.
    """
    usual = encode(analysis.plan.cells)
    storages = [one.storage for one in analysis.prices.storages] if analysis.prices else []
    tunings = list(dict.fromkeys(_tuning(cell) for cell in analysis.plan.cells))
    return Encoding(
        colour="storage",
        colours={name: usual.colours[name] for name in storages}
        if usual.colour == "storage"
        else dict(zip(storages, cycle(COLOURS), strict=False)),
        shape="tuning" if len(tunings) > 1 else None,
        shapes=dict(zip(tunings, cycle(zip(SHAPES, DASHES, strict=True)), strict=False))
        if len(tunings) > 1
        else {},
        panels=tuple(factor for factor in PANELS if factor in analysis.varying),
    )


def _tuning(cell: Cell) -> str:
    return cell.tuning if cell.has_server else BARE_FILES


def price_legend(analysis: Analysis) -> Encoding:
    """Return what stands above the picture: no colours that several storages share, since names tell them."""
    encoding = price_encoding(analysis)
    return replace(encoding, colours={}) if len(encoding.colours) > len(COLOURS) else encoding


def speed_against_price(analysis: Analysis) -> Figure | None:
    """Return speed against the price of the storage, a panel a workload; None if nothing is priced."""
    if analysis.prices is None:
        return None
    encoding = price_encoding(analysis)
    fastest = [one for one in analysis.prices.cells if one.fastest]
    by_panel = grouped(fastest, lambda one: encoding.panel(one.cell))
    if not by_panel:
        return None
    panels = tuple(
        _panel(analysis, analysis.prices, encoding, levels, cells) for levels, cells in by_panel.items()
    )
    caption = _caption(analysis, analysis.prices)
    return Figure(
        "price",
        "Speed against price",
        caption,
        panels,
        parts.keys(analysis, price_legend(analysis), panels, with_shapes=True),
    )


def _caption(analysis: Analysis, prices: Prices) -> str:
    at = ", at the number of clients with which it was fastest" if "clients" in analysis.varying else ""
    alone = ", for each tuning by itself" if "tuning" in analysis.varying else ""
    said = [
        f"Speed of each storage{at}, against its price. The line is the Pareto front: storages that no other "
        f"beat in speed for the same price or less{alone}. Bars: {confidence(analysis)} intervals."
    ]
    if barred := sum(bool(one.bars) for one in prices.cells):
        said.append(f"Left out: {count(barred, 'cell')} that must not be compared, see the findings.")
    return " ".join(said)


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
    channels = {
        "color": parts.colour(encoding, "storage"),
        **parts.shape(encoding, "tuning"),
        **parts.dash(encoding, "tuning"),
    }
    titles = f"price, {money.priced(prices)}", UNITS[cells[0].metric]
    return _drawn(parts.panel_title(encoding, levels), titles, points, list(_front(cells)), channels)


def _drawn(
    title: str, titles: tuple[str, str], points: Sequence[Row], lines: Sequence[Row], channels: dict[str, Any]
) -> Panel:
    """Draw speeds with their intervals against prices, the labels of points, and lines between figures.

    A line without an end goes to the edges.
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
    rules = rules.encode(
        x=x, y=y, x2="price2:Q", y2="speed2:Q", strokeDash=channels.get("strokeDash", alt.value([6, 4]))
    )
    edges = {"kind": "line", "price": across.low, "price2": across.high}
    rows = [*points, *({**edges, **{key: at for key, at in one.items() if at is not None}} for one in lines)]
    spec = parts.layered(rules, parts.intervals(coloured, titles[1]), marks, labels, height_px=HEIGHT_PX)
    described = parts.described(f"{titles[1]} against {titles[0]}", points, "figure")
    return Panel(title, described, spec, rows, len(points))


def _point(analysis: Analysis, prices: Prices, one: CellPrice, encoding: Encoding) -> Row:
    speed = f"{with_bounds(one.speed)} {UNITS[one.metric]}"
    row = {
        "kind": "point",
        "name": cell_words(one.cell, analysis.varying),
        "storage": one.cell.storage,
        "price": one.amount,
        "speed": one.speed.estimate,
        "low": one.speed.low,
        "high": one.speed.high,
        "figure": f"{speed} for {money.money(one.amount)} {money.priced(prices)}",
    }
    return {**row, "tuning": _tuning(one.cell)} if encoding.shape else row


def _front(cells: Sequence[CellPrice]) -> Iterator[Row]:
    """Yield the steps of each tuning's front: from one price on, its speed can be had, up to the next."""
    for tuning in dict.fromkeys(_tuning(one.cell) for one in cells):
        best = sorted(
            (one for one in cells if one.on_front and _tuning(one.cell) == tuning), key=lambda one: one.amount
        )
        ends = [*best, None]
        for one, after in pairwise(ends):
            assert one is not None
            until = after.amount if after else None
            step = {"tuning": tuning, "price": one.amount, "speed": one.speed.estimate}
            yield {**step, "price2": until, "speed2": one.speed.estimate}
            if after:
                yield {**step, "price": until, "price2": until, "speed2": after.speed.estimate}


# ---------------------------------------------------------------- an advice

ADVISED, TO_BUY, MEETS, MAY, MISSES, MEASURED = (
    "advised",
    "to buy",
    "meets the target",
    "may meet it",
    "misses the target",
    "measured on a virtual disk",
)
SHAPES_OF_DISKS = {
    ADVISED: "diamond",
    TO_BUY: "diamond",
    MEETS: "circle",
    MAY: "square",
    MISSES: "triangle-up",
    MEASURED: "cross",
}

OTHERS = "other cards"
"""Cards beyond the colours share the last one."""


def throughput_by_price(advice: Advice) -> Figure | None:
    """Return what each disk is predicted to do against its price of a month; None if nothing is predicted."""
    known = [one for one in advice.candidates if one.predicted.per_s]
    if not known:
        return None
    cards = list(dict.fromkeys(one.configuration.card for one in known))
    colours = dict(zip(cards, COLOURS, strict=False))
    if len(cards) > len(COLOURS):
        colours = {**dict(zip(cards, COLOURS[:-1], strict=False)), OTHERS: COLOURS[-1]}
    points = [*(_disk(advice, one, colours) for one in known), *_measured(advice, colours)]
    target = advice.target.per_s
    lines = [] if target is None else [{"speed": target, "speed2": target}]
    channels = {"color": parts.colours("card", colours), "shape": parts.shapes("answer", SHAPES_OF_DISKS)}
    titles = f"{known[0].configuration.currency} a month", "transactions/s"
    drawn = {row["answer"] for row in points}
    keys = [Key(name, colour) for name, colour in colours.items()]
    keys += [Key(name, shape=shape) for name, shape in SHAPES_OF_DISKS.items() if name in drawn]
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


def _disk(advice: Advice, one: Candidate, colours: dict[str, str]) -> Row:
    assert one.predicted.per_s is not None
    answer = MEETS if one.meets_with(SURE) else MAY if one.meets_with(LIKELY) else MISSES
    if advice.verification is not None and one.configuration.name == advice.verification.cheapest:
        answer = TO_BUY
    elif advice.verification is None and one == advice.chosen:
        answer = ADVISED
    return {
        "kind": "point",
        "name": one.configuration.name,
        "card": one.configuration.card if one.configuration.card in colours else OTHERS,
        "answer": answer,
        "label": answer if answer in (ADVISED, TO_BUY) else "",
        "price": one.configuration.a_month,
        "speed": one.predicted.per_s.estimate,
        "low": one.predicted.per_s.low,
        "high": one.predicted.per_s.high,
        "figure": f"{with_bounds(one.predicted.per_s)} transactions/s",
    }


def _measured(advice: Advice, colours: dict[str, str]) -> Iterator[Row]:
    sold = {one.configuration.name: one for one in advice.candidates}
    for seen in advice.verification.runs if advice.verification else ():
        if seen.per_s is not None:
            point = _disk(advice, sold[seen.name], colours)
            measured = {"speed": seen.per_s, "figure": f"measured: {number(seen.per_s)} transactions/s"}
            yield {**point, "answer": MEASURED, "label": "", "low": None, "high": None, **measured}
