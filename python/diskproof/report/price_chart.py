"""The picture of speed against price: what a buyer can have, and what nothing cheaper beats."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, pairwise

import altair as alt

from diskproof.analysis.answers import Analysis
from diskproof.analysis.prices.shapes import CellPrice, Prices
from diskproof.analysis.words import cell_words, subject
from diskproof.report import labels, money, words
from diskproof.report.chart_parts import (
    Figure,
    Panel,
    Row,
    Spec,
    described,
    is_wide,
    layered,
    log_ticks,
    tooltip,
)
from diskproof.report.chart_style import COLOURS, DASHES, SHAPES, Encoding, encode
from diskproof.results.factor import Factor
from diskproof.results.plan import NO_LEVEL, Cell, Metric

HEIGHT_PX = 300
NARROW_PX = 400
"""Width for which names are placed; on a wider drawing points lie farther apart, and so do their names."""

PANELS: tuple[Factor, ...] = ("workload", "server", "memory")
"""Factors that make a panel each where they vary: only storages and tunings are held against each other."""

BARE_FILES = "bare files"
"""Stands for a tuning where no server has any."""

UNITS: dict[Metric, str] = {
    "transactions_per_s": "transactions/s",
    "requests_per_s": "requests/s",
    "seconds": "runs an hour",
}


def price_encoding(analysis: Analysis) -> Encoding:
    """Return how storages and tunings look in the picture: names stand at the points, so all colours may do.

    A storage has the colour that it has in the other charts, where they colour storages.
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


def speed_against_price(analysis: Analysis, *, legend: bool = False) -> Figure | None:
    """Return speed against the price of the storage, a panel a workload; None where nothing is priced."""
    if analysis.prices is None:
        return None
    encoding = price_encoding(analysis)
    by_panel: dict[tuple[str, ...], list[CellPrice]] = defaultdict(list)
    for one in analysis.prices.cells:
        if one.fastest:
            by_panel[encoding.panel(one.cell)].append(one)
    if not by_panel:
        return None
    panels = tuple(
        _panel(analysis, analysis.prices, encoding, levels, cells, legend=legend)
        for levels, cells in by_panel.items()
    )
    caption = _caption(analysis, analysis.prices)
    return Figure("price", "Speed against price", caption, panels, shows_shapes=bool(encoding.shape))


def _caption(analysis: Analysis, prices: Prices) -> str:
    at = ", at the number of clients with which it was fastest" if "clients" in analysis.varying else ""
    alone = ", for each tuning by itself" if "tuning" in analysis.varying else ""
    said = [
        f"Speed of each storage{at}, against its price. The line is the Pareto front: what nothing was "
        f"faster than for as much or less{alone}. Bars: {words.confidence(analysis)} intervals."
    ]
    if barred := sum(bool(one.bars) for one in prices.cells):
        said.append(f"Left out: {words.count(barred, 'cell')} that must not be compared, see the findings.")
    return " ".join(said)


# ---------------------------------------------------------------- a panel


@dataclass(frozen=True)
class _Span:
    """A scale with ends of its own, so that where a figure lies is known before it is drawn."""

    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, figures: Sequence[float]) -> "_Span":
        """Return the span of figures above 0: logarithmic by the rule of all charts, else from zero."""
        if is_wide(figures):
            return cls(min(figures) / 1.5, max(figures) * 1.5, log=True)
        return cls(0.0, max(figures) * 1.15, log=False)

    def share(self, figure: float) -> float:
        """Return how far along a figure lies, from 0 to 1."""
        if self.log:
            return math.log(figure / self.low) / math.log(self.high / self.low)
        return figure / self.high

    @property
    def scale(self) -> alt.Scale:
        return alt.Scale(type="log" if self.log else "linear", domain=[self.low, self.high], nice=False)

    @property
    def axis(self) -> alt.Axis:
        if self.log:
            return alt.Axis(format=",.3~r", labelOverlap=True, values=log_ticks(self.low, self.high))
        return alt.Axis(format=",.3~r", labelOverlap=True, tickCount=5)


def _panel(
    analysis: Analysis,
    prices: Prices,
    encoding: Encoding,
    levels: tuple[str, ...],
    cells: Sequence[CellPrice],
    *,
    legend: bool,
) -> Panel:
    across = _Span.of([one.amount for one in cells])
    up = _Span.of([end for one in cells for end in _ends(one)])
    points = [_point(analysis, prices, one, encoding) for one in cells]
    front = list(_front(cells, across.high))
    rows = [*points, *front, *_names(cells, front, encoding, across, up)]
    title = ", ".join(
        subject(factor, level)
        for factor, level in zip(encoding.panels, levels, strict=True)
        if level != NO_LEVEL
    )
    unit = UNITS[cells[0].metric]
    spec = _spec(encoding, across, up, (money.priced(prices), unit), legend=legend)
    return Panel(title, described(f"{unit} against price", points, "figure"), spec, rows, len(points))


def _point(analysis: Analysis, prices: Prices, one: CellPrice, encoding: Encoding) -> Row:
    speed = f"{words.with_bounds(one.speed)} {UNITS[one.metric]}"
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


def _names(
    cells: Sequence[CellPrice], front: Sequence[Row], encoding: Encoding, across: _Span, up: _Span
) -> Iterator[Row]:
    """Yield the storages' names where they cover nothing: at the fastest point, at each if colours repeat."""

    def at(price: float, speed: float) -> tuple[float, float]:
        return across.share(price) * NARROW_PX, (1 - up.share(speed)) * HEIGHT_PX

    ordered = sorted(cells, key=lambda one: -one.speed.estimate)
    if len(encoding.colours) <= len(COLOURS):
        ordered = list({one.cell.storage: one for one in reversed(ordered)}.values())[::-1]
    drawn = [(at(one.amount, min(_ends(one))), at(one.amount, max(_ends(one)))) for one in cells]
    drawn += [(at(row["price"], row["speed"]), at(row["price2"], row["speed2"])) for row in front]
    wanted = [(*at(one.amount, one.speed.estimate), one.cell.storage) for one in ordered]
    placed = labels.place(wanted, [labels.around(*ends) for ends in drawn], NARROW_PX, HEIGHT_PX)
    for one, label in zip(ordered, placed, strict=True):
        lead_dx, lead_dy = label.lead or (None, None)
        yield {
            "kind": "name",
            "storage": one.cell.storage,
            "price": one.amount,
            "speed": one.speed.estimate,
            "dx": label.dx,
            "dy": label.dy,
            "align": label.align,
            "lead_dx": lead_dx,
            "lead_dy": lead_dy,
        }


def _ends(one: CellPrice) -> list[float]:
    return [end for end in (one.speed.estimate, one.speed.low, one.speed.high) if end is not None and end > 0]


def _spec(encoding: Encoding, across: _Span, up: _Span, titles: tuple[str, str], *, legend: bool) -> Spec:
    x = alt.X("price:Q", title=f"price, {titles[0]}", scale=across.scale, axis=across.axis)
    y = alt.Y("speed:Q", title=titles[1], scale=up.scale, axis=up.axis)
    colours = alt.Scale(domain=list(encoding.colours), range=list(encoding.colours.values()))
    colour = alt.Color("storage:N", scale=colours, legend=None)
    base = alt.Chart()
    points = base.transform_filter("datum.kind == 'point'")
    front = (
        base.transform_filter("datum.kind == 'front'")
        .mark_rule(strokeWidth=1.5, opacity=0.7)
        .encode(x=x, y=y, x2="price2:Q", y2="speed2:Q", **_dash(encoding, legend=legend))
    )
    bars = (
        points.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=3, opacity=0.6)
        .encode(x=x, y=alt.Y("low:Q", title=titles[1]), y2="high:Q", color=colour)
    )
    marks = points.mark_point(size=70, filled=True, opacity=1).encode(
        x=x, y=y, color=colour, tooltip=tooltip("figure"), **_shape(encoding, legend=legend)
    )
    named = base.transform_filter("datum.kind == 'name'").encode(x=x, y=y)
    names = named.mark_text(
        align=alt.expr("datum.align"), baseline="middle", dx=alt.expr("datum.dx"), dy=alt.expr("datum.dy")
    ).encode(text="storage:N")
    leaders = (
        named.transform_filter("isValid(datum.lead_dx)")
        .mark_rule(strokeWidth=0.8, x2Offset=alt.expr("datum.lead_dx"), y2Offset=alt.expr("datum.lead_dy"))
        .encode(x2="price:Q", y2="speed:Q")
    )
    return layered(leaders, front, bars, marks, names, height_px=HEIGHT_PX)


def _shape(encoding: Encoding, *, legend: bool) -> dict[str, alt.Shape]:
    if not encoding.shape:
        return {}
    scale = alt.Scale(domain=list(encoding.shapes), range=[shape for shape, _ in encoding.shapes.values()])
    return {
        "shape": alt.Shape("tuning:N", scale=scale, legend=alt.Legend(title="tuning") if legend else None)
    }


def _dash(encoding: Encoding, *, legend: bool) -> dict[str, alt.StrokeDash]:
    if not encoding.shape:
        return {}
    scale = alt.Scale(
        domain=list(encoding.shapes), range=[list(dash) for _, dash in encoding.shapes.values()]
    )
    shown = alt.Legend(title="tuning") if legend else None
    return {"strokeDash": alt.StrokeDash("tuning:N", scale=scale, legend=shown)}
