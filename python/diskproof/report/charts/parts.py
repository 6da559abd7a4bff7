"""The parts that charts are put together from: panels, layers of marks, channels, scales and rows.

A layer is part of a Vega-Lite specification; its data are joined to it at the very end, above all layers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from diskproof.analysis.answers import Analysis
from diskproof.report.charts.style import Encoding
from diskproof.report.compose.names import in_short
from diskproof.report.compose.verdict_words import subject
from diskproof.report.document import Key, Panel
from diskproof.results.plan import NO_LEVEL, Cell

LOG_SPAN = 12
"""From this ratio of the largest to the smallest figure on, an axis is logarithmic: on a linear one the
smallest would lie within the thickness of the marks."""

ROW_HEIGHT_PX = 38
MOST_CELLS_SHOWN = 16
"""A drawing with more cells than these scrolls in its box."""

DESCRIBED_ROWS = 12
"""As many rows as a listener can follow; a chart with more refers to its table."""

Row = dict[str, Any]
Spec = dict[str, Any]


def keys(analysis: Analysis, encoding: Encoding, panels: Sequence[Panel]) -> tuple[Key, ...]:
    """Return the legend of an encoding: the levels that a row of the panels has, with what they are."""
    drawn = {row.get(channel) for panel in panels for row in panel.rows for channel in ("colour", "shape")}
    colours = [
        Key(in_short(analysis, subject(encoding.colour, level)), colour)
        for level, colour in encoding.colours.items()
        if level in drawn
    ]
    shapes = [
        Key(in_short(analysis, subject(encoding.shape, level)), dash=dash, shape=shape)
        for level, (shape, dash) in encoding.shapes.items()
        if encoding.shape and level in drawn
    ]
    return (*colours, *shapes)


def identity(cell: Cell, name: str, encoding: Encoding) -> Row:
    """Return the fields that say which cell a row belongs to and how it is drawn."""
    row = {"cell": cell.id, "name": name, "colour": cell.level(encoding.colour)}
    return {**row, "shape": cell.level(encoding.shape)} if encoding.shape else row


# ---------------------------------------------------------------- panels and layers


def panel(
    title: str,
    told: str,
    rows: Sequence[Row],
    field: str,
    *layers: Spec,
    height_px: float,
    tall: bool = False,
) -> Panel:
    """Lay marks over each other; `told` and the rows' `field` describe them in words."""
    spec = {"layer": layers, "height": height_px}
    return Panel(title, described(told, rows, field), spec, rows, len(rows), tall=tall)


def stacked_panel(title: str, told: str, rows: Sequence[Row], field: str, *layers: Spec) -> Panel:
    """Give each cell a row, as high as their number demands, with its name above its marks.

    A narrow screen has no room beside them.
    """
    cells = len({row["cell"] for row in rows})
    once = {"aggregate": [{"op": "min", "field": "name", "as": "name"}], "groupby": ["cell"]}
    channels = STACKED | {"x": {"value": 0}, "text": words("name")}
    names = layer("text", channels, align="left", baseline="middle", yOffset=-7) | {"transform": [once]}
    height_px, tall = ROW_HEIGHT_PX * cells, cells > MOST_CELLS_SHOWN
    return panel(title, told, rows, field, names, *layers, height_px=height_px, tall=tall)


def layer(kind: str, channels: Spec, where: str = "", **look: object) -> Spec:
    """Return marks of a kind, for the rows of which a condition holds."""
    made = {"mark": {"type": kind, **look}, "encoding": channels}
    return {**made, "transform": [{"filter": where}]} if where else made


def lines(channels: Spec, where: str = "", **look: object) -> Spec:
    """Draw lines."""
    return layer("line", channels, where, **{"strokeWidth": 2, "opacity": 0.8, **look})


def points(channels: Spec, where: str = "", **look: object) -> Spec:
    """Draw solid points."""
    return layer("point", channels, where, **{"size": 60, "filled": True, "opacity": 1, **look})


def intervals(channels: Spec, y: str = "") -> Spec:
    """Draw upright intervals from ``low`` to ``high``, for the rows that have one."""
    ends = {"y": figures("low", title=y), "y2": {"field": "high"}}
    return layer("rule", channels | ends, "isValid(datum.low)", strokeWidth=3, opacity=0.6)


def level_intervals(channels: Spec, scale: Spec, **look: object) -> Spec:
    """Draw level intervals below the names of stacked rows, for the rows that have one."""
    ends = {"x": figures("low", title="", scale=scale), "x2": {"field": "high"}}
    return layer("rule", channels | ends, "isValid(datum.low)", yOffset=8, **look)


# ---------------------------------------------------------------- channels


def figures(field: str, **options: object) -> Spec:
    """Return the channel of a field with figures."""
    return {"field": field, "type": "quantitative", **options}


def words(field: str, **options: object) -> Spec:
    """Return the channel of a field with names."""
    return {"field": field, "type": "nominal", **options}


STACKED = {
    "y": words("cell", sort=None, axis=None, scale={"type": "band", "paddingInner": 0, "paddingOuter": 0})
}
"""Each cell has a row, in the order of the plan."""


def looks(field: str, by_name: Mapping[str, object]) -> Spec:
    """Return the channel that gives a field's names their colours, shapes or dashes."""
    return words(field, scale={"domain": list(by_name), "range": list(by_name.values())})


def colour(encoding: Encoding) -> Spec:
    """Return the channel for the factor that colour stands for."""
    return {"color": looks("colour", encoding.colours)}


def shape(encoding: Encoding) -> Spec:
    """Return the channel for the factor that shape stands for; none if there is no such factor."""
    by_level = {level: shape for level, (shape, _) in encoding.shapes.items()}
    return {"shape": looks("shape", by_level)} if encoding.shape else {}


def dash(encoding: Encoding) -> Spec:
    """Return the channel that dashes lines as :func:`shape` shapes points."""
    by_level = {level: dash for level, (_, dash) in encoding.shapes.items()}
    return {"strokeDash": looks("shape", by_level)} if encoding.shape else {}


def doubling(field: str, values: Sequence[int], title: str) -> Spec:
    """Return an axis of numbers that double, such as clients, each with a tick."""
    scale = {**Span(min(values) / 1.2, max(values) * 1.2, log=True).scale, "base": 2}
    axis = {"values": sorted(set(values)), "format": "d", "grid": False, "labelOverlap": True}
    return {"x": figures(field, title=title, scale=scale, axis=axis)}


def tooltip(field: str) -> Spec:
    """Return what is shown on pointing at a mark: its cell and its figure."""
    return {"tooltip": [words("name", title="cell"), words(field, title="figure")]}


# ---------------------------------------------------------------- scales and axes


def is_wide(figures: Sequence[float]) -> bool:
    """Tell whether figures span so much that their axis must be logarithmic."""
    return min(figures) > 0 and max(figures) / min(figures) >= LOG_SPAN


@dataclass(frozen=True)
class Span:
    """The scale of an axis, and where on it a figure lies."""

    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, figures: Sequence[float]) -> "Span":
        """Return a span of figures that are not negative: logarithmic if they span much, else from zero."""
        if is_wide(figures):
            return cls(min(figures) / 1.25, max(figures) * 1.25, log=True)
        return cls(0.0, max(figures) * 1.1 or 1.0, log=False)

    @property
    def scale(self) -> Spec:
        """The scale as Vega-Lite takes it."""
        return {"type": "log" if self.log else "linear", "domain": [self.low, self.high], "nice": False}

    def channel(self, field: str, title: str, **options: object) -> Spec:
        """Return the channel of a field on the scale; its axis has few and round ticks."""
        ticks: Spec = {"values": log_ticks(self.low, self.high)} if self.log else {"tickCount": 5}
        axis = {"format": ",.3~r", "labelOverlap": True, **ticks, **options}
        return figures(field, title=title, scale=self.scale, axis=axis)


def orient(rows: Sequence[Row]) -> Literal["top", "bottom"]:
    """Return where the axis of stacked rows is: on top if there are so many that they scroll."""
    return "top" if len({row["cell"] for row in rows}) > MOST_CELLS_SHOWN else "bottom"


def log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten in a range; the powers alone if those are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if math.log10(high / low) <= 3 else (1,)
    return [tick for power in powers for step in steps if low <= (tick := step * 10.0**power) <= high]


def within(figure: float | None, domain: tuple[float, float]) -> float | None:
    """Return a figure, cut off at the ends of a domain."""
    return None if figure is None else min(max(figure, domain[0]), domain[1])


# ---------------------------------------------------------------- words


def panel_title(encoding: Encoding, levels: Sequence[str]) -> str:
    """Return the levels of a panel as its title."""
    named = zip(encoding.panels, levels, strict=True)
    return ", ".join(subject(factor, level) for factor, level in named if level != NO_LEVEL)


def described(title: str, rows: Sequence[Row], field: str) -> str:
    """Describe a chart in words; of many rows only the first."""
    told = list(dict.fromkeys(f"{row['name']}: {row[field]}" for row in rows))
    shown = "; ".join(told[:DESCRIBED_ROWS])
    return f"{title}. {shown}{'; the table has them all' if len(told) > DESCRIBED_ROWS else ''}."
