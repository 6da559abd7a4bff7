"""The parts that charts are put together from: figures and panels, channels, scales and rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
from altair.utils.schemapi import disable_debug_mode

from diskproof.analysis.answers import Analysis, CellAnswer
from diskproof.report.charts.style import Encoding
from diskproof.report.compose.names import in_short
from diskproof.report.compose.verdict_words import cell_words, subject
from diskproof.report.document import Key, Panel
from diskproof.results.plan import NO_LEVEL

disable_debug_mode()  # else each part of a picture is checked against Vega-Lite's schema, and the whole again

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


def keys(
    analysis: Analysis, encoding: Encoding, panels: Sequence[Panel], *, with_shapes: bool = False
) -> tuple[Key, ...]:
    """Return the legend of an encoding: the levels that a row of the panels has, with what they are."""
    channels = ("colour", "shape", encoding.colour, encoding.shape or "shape")
    drawn = {row.get(channel) for panel in panels for row in panel.rows for channel in channels}
    colours = [
        Key(in_short(analysis, subject(encoding.colour, level)), colour)
        for level, colour in encoding.colours.items()
        if level in drawn
    ]
    if not with_shapes or not encoding.shape:
        return tuple(colours)
    shapes = [
        Key(in_short(analysis, subject(encoding.shape, level)), dash=dash, shape=shape)
        for level, (shape, dash) in encoding.shapes.items()
        if level in drawn
    ]
    return (*colours, *shapes)


def identity(analysis: Analysis, answer: CellAnswer, encoding: Encoding) -> Row:
    """Return the fields that say which cell a row belongs to and how it is drawn."""
    row = {
        "cell": answer.cell.id,
        "name": cell_words(answer.cell, analysis.varying),
        "colour": answer.cell.level(encoding.colour),
    }
    return {**row, "shape": answer.cell.level(encoding.shape)} if encoding.shape else row


def stacked() -> alt.Chart:
    """Return a chart without marks that gives each cell a row, in the order of the plan."""
    y = alt.Y("cell:N", sort=None, axis=None, scale=alt.Scale(type="band", paddingInner=0, paddingOuter=0))
    return alt.Chart().encode(y=y)


def row_names() -> alt.Chart:
    """Write each cell's name above its marks: a narrow screen has no room beside them."""
    named = stacked().transform_aggregate(name="min(name)", groupby=["cell"])
    text = named.mark_text(align="left", baseline="middle", yOffset=-7)
    chart: alt.Chart = text.encode(x=alt.value(0), text="name:N")
    return chart


def stacked_panel(
    title: str,
    description: str,
    rows: Sequence[Row],
    *layers: alt.Chart,
) -> Panel:
    """Lay marks and the cells' names over each other, as high as the number of cells demands."""
    cells = len({row["cell"] for row in rows})
    spec = layered(row_names(), *layers, height_px=ROW_HEIGHT_PX * cells)
    return Panel(title, description, spec, rows, len(rows), tall=cells > MOST_CELLS_SHOWN)


def layered(*layers: alt.Chart, height_px: float) -> Spec:
    """Lay marks over each other in a chart as wide as its place on the page.

    The data are joined to the specification at the very end, above all layers: Altair would copy and
    check each row of them several times. Until then it names them as empty in every layer.
    """
    chart = alt.LayerChart(layer=list(layers)).properties(width="container", height=height_px)
    spec: Spec = chart.to_dict(validate=False)
    del spec["config"]
    for layer in spec["layer"]:
        layer.pop("data", None)
    return spec


# ---------------------------------------------------------------- channels


def colours(field: str, by_name: Mapping[str, str]) -> alt.Color:
    """Return the channel that colours a field's names."""
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=list(by_name), range=list(by_name.values())))


def shapes(field: str, by_name: Mapping[str, str]) -> alt.Shape:
    """Return the channel that gives a field's names their shapes."""
    return alt.Shape(f"{field}:N", scale=alt.Scale(domain=list(by_name), range=list(by_name.values())))


def dashes(field: str, by_name: Mapping[str, Sequence[float]]) -> alt.StrokeDash:
    """Return the channel that gives a field's names their dashes."""
    made = [list(dash) for dash in by_name.values()]
    return alt.StrokeDash(f"{field}:N", scale=alt.Scale(domain=list(by_name), range=made))


def colour(encoding: Encoding, field: str = "colour") -> alt.Color:
    """Return the channel for the factor that colour stands for."""
    return colours(field, encoding.colours)


def shape(encoding: Encoding, field: str = "shape") -> dict[str, Any]:
    """Return the channel for the factor that shape stands for; none if there is no such factor."""
    by_level = {level: shape for level, (shape, _) in encoding.shapes.items()}
    return {"shape": shapes(field, by_level)} if encoding.shape else {}


def dash(encoding: Encoding, field: str = "shape") -> dict[str, Any]:
    """Return the channel that dashes lines as :func:`shape` shapes points."""
    by_level = {level: dash for level, (_, dash) in encoding.shapes.items()}
    return {"strokeDash": dashes(field, by_level)} if encoding.shape else {}


def intervals(base: alt.Chart, y: str = "") -> alt.Chart:
    """Draw upright intervals from ``low`` to ``high``, for the rows that have one."""
    bounded = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=3, opacity=0.6)
    chart: alt.Chart = bounded.encode(y=alt.Y("low:Q", title=y), y2="high:Q")
    return chart


def level_intervals(base: alt.Chart, scale: alt.Scale, **options: Any) -> alt.Chart:  # noqa: ANN401
    """Draw level intervals below the names of stacked rows, for the rows that have one."""
    bounded = base.transform_filter("isValid(datum.low)").mark_rule(yOffset=8, **options)
    chart: alt.Chart = bounded.encode(x=alt.X("low:Q", title="", scale=scale), x2="high:Q")
    return chart


def points(base: alt.Chart, **options: Any) -> alt.Chart:  # noqa: ANN401 - as Altair has them
    """Draw solid points."""
    chart: alt.Chart = base.mark_point(**{"size": 60, "filled": True, "opacity": 1, **options})
    return chart


def doubling(field: str, values: Sequence[int], title: str) -> alt.X:
    """Return an axis of numbers that double, such as clients, each with a tick."""
    scale = alt.Scale(type="log", base=2, domain=[min(values) / 1.2, max(values) * 1.2], nice=False)
    axis = alt.Axis(values=sorted(set(values)), format="d", grid=False, labelOverlap=True)
    return alt.X(f"{field}:Q", title=title, scale=scale, axis=axis)


def over_seconds(lines: alt.Chart, y: alt.Y, height_px: float, **channels: Any) -> Spec:  # noqa: ANN401
    """Draw lines over the seconds of a trial, with a rule at the beginning of the measured phase."""
    x = alt.X("t:Q", title="seconds", scale=alt.Scale(nice=False), axis=alt.Axis(grid=False, tickCount=5))
    once = alt.Chart().transform_aggregate(points="count()")
    begin = once.mark_rule(strokeDash=[2, 2], opacity=0.6).encode(x=alt.datum(0))
    return layered(begin, lines.encode(x=x, y=y, **channels), height_px=height_px)


def tooltip(field: str) -> list[alt.Tooltip]:
    """Return what is shown on pointing at a mark: its cell and its figure."""
    return [alt.Tooltip("name:N", title="cell"), alt.Tooltip(f"{field}:N", title="figure")]


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
    def scale(self) -> alt.Scale:
        """The scale as Vega-Lite takes it."""
        return alt.Scale(type="log" if self.log else "linear", domain=[self.low, self.high], nice=False)

    def axis(self, **options: Any) -> alt.Axis:  # noqa: ANN401 - as Altair has them
        """Return the axis that belongs to the scale, with few and round ticks."""
        ticks = {"values": log_ticks(self.low, self.high)} if self.log else {"tickCount": 5}
        return alt.Axis(format=",.3~r", labelOverlap=True, **ticks, **options)


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
    shown = "; ".join(f"{row['name']}: {row[field]}" for row in rows[:DESCRIBED_ROWS])
    return f"{title}. {shown}{'; the table has them all' if len(rows) > DESCRIBED_ROWS else ''}."
