"""The parts that charts are put together from: figures and panels, channels, scales and rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from diskproof.analysis.answers import Analysis, CellAnswer
from diskproof.analysis.words import cell_words
from diskproof.report.chart_style import Encoding

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


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure."""

    title: str
    description: str
    """What it shows, in words, for those who cannot see it."""
    spec: Spec
    """Vega-Lite specification, without its data and the configuration that all charts share."""
    rows: Sequence[Row]
    marks: int
    """How many cells, percentiles or trials it draws."""
    tall: bool = False
    """Whether it has so many cells that it scrolls in its box."""

    def complete_spec(self) -> Spec:
        """Return the specification with its data, ready to be drawn."""
        return {**self.spec, "description": self.description, "data": {"values": list(self.rows)}}


@dataclass(frozen=True)
class Figure:
    """Panels that answer one question together."""

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    shows_shapes: bool = False
    """Whether shapes and dashes stand for the encoding's second factor."""


@dataclass(frozen=True)
class Key:
    """One entry of a legend: a colour, or a dash and a shape."""

    words: str
    colour: str | None = None
    dash: tuple[float, ...] | None = None
    shape: str = ""


@dataclass(frozen=True)
class Drawing:
    """A figure with the legend that belongs to it."""

    figure: Figure
    keys: tuple[Key, ...]


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


def row_names(offset_px: float = -7) -> alt.Chart:
    """Write each cell's name above its marks: a narrow screen has no room beside them."""
    named = stacked().transform_aggregate(name="min(name)", groupby=["cell"])
    text = named.mark_text(align="left", baseline="middle", yOffset=offset_px)
    chart: alt.Chart = text.encode(x=alt.value(0), text="name:N")
    return chart


def stacked_panel(title: str, description: str, rows: Sequence[Row], *layers: alt.Chart) -> Panel:
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
    spec: Spec = chart.to_dict()
    del spec["config"]
    for layer in spec["layer"]:
        layer.pop("data", None)
    return spec


# ---------------------------------------------------------------- channels


def colour(encoding: Encoding, *, legend: bool) -> alt.Color:
    """Return the channel for the factor that colour stands for."""
    scale = alt.Scale(domain=list(encoding.colours), range=list(encoding.colours.values()))
    return alt.Color("colour:N", scale=scale, legend=alt.Legend(title=encoding.colour) if legend else None)


def shape(encoding: Encoding, *, legend: bool) -> dict[str, Any]:
    """Return the channel for the factor that shape stands for; nothing where there is none."""
    if not encoding.shape:
        return {}
    scale = alt.Scale(domain=list(encoding.shapes), range=[shape for shape, _ in encoding.shapes.values()])
    return {
        "shape": alt.Shape(
            "shape:N", scale=scale, legend=alt.Legend(title=encoding.shape) if legend else None
        )
    }


def dash(encoding: Encoding, *, legend: bool) -> dict[str, Any]:
    """Return the channel that dashes lines as :func:`shape` shapes points; both share one legend."""
    if not encoding.shape:
        return {}
    dashes = [list(dash) for _, dash in encoding.shapes.values()]
    scale = alt.Scale(domain=list(encoding.shapes), range=dashes)
    title = alt.Legend(title=encoding.shape) if legend else None
    return {"strokeDash": alt.StrokeDash("shape:N", scale=scale, legend=title)}


def tooltip(field: str) -> list[alt.Tooltip]:
    """Return what is shown on pointing at a mark: its cell and its figure."""
    return [alt.Tooltip("name:N", title="cell"), alt.Tooltip(f"{field}:N", title="figure")]


# ---------------------------------------------------------------- scales and axes


def is_wide(figures: Sequence[float]) -> bool:
    """Tell whether figures span so much that their axis must be logarithmic."""
    return min(figures) > 0 and max(figures) / min(figures) >= LOG_SPAN


def scale(figures: Sequence[float]) -> alt.Scale:
    """Return a scale for figures that are not negative: logarithmic where they span much, else from zero."""
    if is_wide(figures):
        return alt.Scale(type="log", domain=list(_log_domain(figures)), nice=False)
    return alt.Scale(type="linear", domain=[0, max(figures) * 1.06 or 1], nice=True)


def axis(figures: Sequence[float]) -> alt.Axis:
    """Return the axis that belongs to :func:`scale`, with few and round ticks."""
    if is_wide(figures):
        return alt.Axis(format=",.3~r", labelOverlap=True, values=log_ticks(*_log_domain(figures)))
    return alt.Axis(format=",.3~r", labelOverlap=True, tickCount=5)


def axis_of_rows(figures: Sequence[float], rows: Sequence[Row]) -> alt.Axis:
    """Return the axis of stacked rows: above them where there are so many that they are scrolled."""
    drawn = axis(figures)
    drawn["orient"] = "top" if len({row["cell"] for row in rows}) > MOST_CELLS_SHOWN else "bottom"
    return drawn


def log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten in a range; the powers alone where those are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if math.log10(high / low) <= 3 else (1,)
    return [tick for power in powers for step in steps if low <= (tick := step * 10.0**power) <= high]


def _log_domain(figures: Sequence[float]) -> tuple[float, float]:
    return min(figures) / 1.25, max(figures) * 1.25


# ---------------------------------------------------------------- words


def described(title: str, rows: Sequence[Row], field: str) -> str:
    """Say a chart in words; many rows are left to the table that stands near it."""
    shown = "; ".join(f"{row['name']}: {row[field]}" for row in rows[:DESCRIBED_ROWS])
    return f"{title}. {shown}{'; the table has them all' if len(rows) > DESCRIBED_ROWS else ''}."
