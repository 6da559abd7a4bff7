"""The picture of speed against price: what a buyer can have, and what nothing cheaper beats."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, pairwise

import altair as alt

from diskproof.analysis.answers import Analysis
from diskproof.analysis.prices.shapes import CellPrice, Prices
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row, Spec
from diskproof.report.charts.style import COLOURS, DASHES, SHAPES, Encoding, encode
from diskproof.report.compose import money
from diskproof.report.compose.verdict_words import BARE_FILES, cell_words
from diskproof.report.document import Figure, Panel
from diskproof.report.intervals import confidence, with_bounds
from diskproof.results.factor import Factor
from diskproof.results.plan import Cell, Metric
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import count

HEIGHT_PX = 300
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
    across = parts.Span.of([one.amount for one in cells])
    up = parts.Span.of([end for one in cells for end in _ends(one)])
    first = {one.cell.storage: one.cell for one in sorted(cells, key=lambda one: one.speed.estimate)}
    points = [
        {**_point(analysis, prices, one, encoding), "named": first[one.cell.storage] == one.cell}
        for one in cells
    ]
    rows = [*points, *_front(cells, across.high)]
    unit = UNITS[cells[0].metric]
    spec = _spec(encoding, across, up, (money.priced(prices), unit))
    title = parts.panel_title(encoding, levels)
    return Panel(title, parts.described(f"{unit} against price", points, "figure"), spec, rows, len(points))


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


def _front(cells: Sequence[CellPrice], right: float) -> Iterator[Row]:
    """Yield the steps of each tuning's front: from one price on, its speed can be had, up to the next."""
    for tuning in dict.fromkeys(_tuning(one.cell) for one in cells):
        best = sorted(
            (one for one in cells if one.on_front and _tuning(one.cell) == tuning), key=lambda one: one.amount
        )
        ends = [*best, None]
        for one, after in pairwise(ends):
            assert one is not None
            until = after.amount if after else right
            step = {"kind": "front", "tuning": tuning, "price": one.amount, "speed": one.speed.estimate}
            yield {**step, "price2": until, "speed2": one.speed.estimate}
            if after:
                yield {**step, "price": until, "price2": until, "speed2": after.speed.estimate}


def _ends(one: CellPrice) -> list[float]:
    return [end for end in (one.speed.estimate, one.speed.low, one.speed.high) if end is not None and end > 0]


def _spec(encoding: Encoding, across: parts.Span, up: parts.Span, titles: tuple[str, str]) -> Spec:
    x = alt.X("price:Q", title=f"price, {titles[0]}", scale=across.scale, axis=across.axis())
    y = alt.Y("speed:Q", title=titles[1], scale=up.scale, axis=up.axis())
    base = alt.Chart()
    of_cells = base.transform_filter("datum.kind == 'point'").encode(
        x=x, color=parts.colour(encoding, "storage")
    )
    front = base.transform_filter("datum.kind == 'front'").mark_rule(strokeWidth=1.5, opacity=0.7)
    front = front.encode(x=x, y=y, x2="price2:Q", y2="speed2:Q", **parts.dash(encoding, "tuning"))
    marks = parts.points(of_cells, size=70).encode(
        y=y, tooltip=parts.tooltip("figure"), **parts.shape(encoding, "tuning")
    )
    named = base.transform_filter("datum.named").encode(x=x, y=y, text="storage:N")
    names = named.mark_text(align="left", baseline="middle", dx=9)
    return parts.layered(front, parts.intervals(of_cells, titles[1]), marks, names, height_px=HEIGHT_PX)
