"""The charts: each is one Altair specification, drawn live on the page and as a still picture alike."""

import textwrap
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import vl_convert

from diskproof.analysis.answers import Analysis, CellAnswer, Interval
from diskproof.analysis.words import subject
from diskproof.report import words
from diskproof.report.chart_parts import (
    Figure,
    Panel,
    Row,
    Spec,
    axis,
    axis_of_rows,
    colour,
    dash,
    described,
    identity,
    is_wide,
    layered,
    scale,
    shape,
    stacked,
    stacked_panel,
    tooltip,
)
from diskproof.report.chart_style import LIGHT, Encoding, Ink, config, encode
from diskproof.results.plan import NO_LEVEL, Metric

PANEL_HEIGHT_PX = 260
STILL_WIDTH_PX = 420
STILL_COLUMNS = 2
STILL_CAPTION_LETTERS = 80
"""Letters of a caption that go over the width of one drawing."""

_PERCENTILE_SHAPES = {"50": "circle", "95": "diamond", "99": "triangle-up"}

_COSTS = (
    ("server_cpu_us", "Server CPU", "µs"),
    ("client_cpu_us", "Client CPU", "µs"),
    ("written_kib", "Written", "KiB"),
    ("flushes", "Flushes", "flushes"),
)
"""Field of ``Cost``, title of its panel, unit."""


# ---------------------------------------------------------------- throughput


@dataclass(frozen=True)
class Measure:
    """A figure that cells are judged by, and how a chart names it."""

    metric: Metric
    name: str
    title: str
    unit: str
    described: str


THROUGHPUT = Measure(
    "transactions_per_s", "throughput", "Throughput", "transactions/s", "Transactions per second"
)
REQUESTS = Measure("requests_per_s", "requests", "Requests", "requests/s", "Requests per second")
SECONDS = Measure("seconds", "seconds", "Seconds of the job", "seconds", "Seconds of the whole job")


def throughput(analysis: Analysis, measure: Measure = THROUGHPUT, *, legend: bool = False) -> Figure | None:
    """Return throughput (or a job's seconds) with its interval, against clients where those vary.

    None where no cell is judged by it.
    """
    answers = [answer for answer in analysis.cells if answer.figure and answer.metric == measure.metric]
    if not answers:
        return None
    encoding = encode(analysis.plan.cells)
    figures = [figure for answer in answers for figure in _figures_of(answer.figure)]
    bars = f"Bars: {words.confidence(analysis)} intervals"
    wide = "; the axis is logarithmic" if is_wide(figures) else ""
    rows_by_panel: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for answer in answers:
        rows_by_panel[encoding.panel(answer.cell)].append(
            _throughput_row(analysis, answer, encoding, measure)
        )
    if "clients" not in analysis.varying:
        rows = [row for panel_rows in rows_by_panel.values() for row in panel_rows]
        panels: tuple[Panel, ...] = (_throughput_by_cell(rows, encoding, figures, measure, legend=legend),)
        caption = f"{measure.described} of each cell. {bars}{wide}."
        return Figure(measure.name, measure.title, caption, panels, shows_shapes=bool(encoding.shape))
    clients = sorted({cell.clients for cell in analysis.plan.cells})
    spec = _throughput_by_clients(encoding, figures, clients, measure, legend=legend)
    panels = tuple(
        Panel(
            ", ".join(
                subject(*one) for one in zip(encoding.panels, levels, strict=True) if one[1] != NO_LEVEL
            ),
            described(f"{measure.title} by clients", rows, "interval"),
            spec,
            rows,
            len(rows),
        )
        for levels, rows in rows_by_panel.items()
    )
    caption = f"{measure.described} by number of clients. {bars}{wide}."
    return Figure(
        measure.name, f"{measure.title} by clients", caption, panels, shows_shapes=bool(encoding.shape)
    )


def _throughput_by_clients(
    encoding: Encoding, figures: Sequence[float], clients: Sequence[int], measure: Measure, *, legend: bool
) -> Spec:
    x = alt.X(
        "clients:Q",
        title="clients",
        scale=alt.Scale(type="log", base=2, domain=[clients[0] / 1.2, clients[-1] * 1.2], nice=False),
        axis=alt.Axis(values=list(clients), format="d", grid=False, labelOverlap=True),
    )
    # All panels share one scale, so that they can be compared by eye.
    y = alt.Y("figure:Q", title=measure.unit, scale=scale(figures), axis=axis(figures))
    base = alt.Chart().encode(x=x, color=colour(encoding, legend=legend))
    lines = base.mark_line(strokeWidth=2, opacity=0.8).encode(y=y, **dash(encoding, legend=legend))
    bounded = base.transform_filter("isValid(datum.low)")
    intervals = bounded.mark_rule(strokeWidth=3, opacity=0.6).encode(y=alt.Y("low:Q", title=""), y2="high:Q")
    points = base.mark_point(size=60, filled=True, opacity=1).encode(
        y=y, tooltip=tooltip("interval"), **shape(encoding, legend=legend)
    )
    return layered(lines, intervals, points, height_px=PANEL_HEIGHT_PX)


def _throughput_by_cell(
    rows: Sequence[Row], encoding: Encoding, figures: Sequence[float], measure: Measure, *, legend: bool
) -> Panel:
    x = alt.X("figure:Q", title=measure.unit, scale=scale(figures), axis=axis_of_rows(figures, rows))
    base = stacked().encode(color=colour(encoding, legend=legend))
    bounded = base.transform_filter("isValid(datum.low)")
    intervals = bounded.mark_rule(strokeWidth=3, opacity=0.6, yOffset=8).encode(
        x=alt.X("low:Q", title="", scale=scale(figures)), x2="high:Q"
    )
    points = base.mark_point(size=60, filled=True, opacity=1, yOffset=8).encode(
        x=x, tooltip=tooltip("interval"), **shape(encoding, legend=legend)
    )
    return stacked_panel("", described(f"{measure.title} by cell", rows, "interval"), rows, intervals, points)


def _throughput_row(analysis: Analysis, answer: CellAnswer, encoding: Encoding, measure: Measure) -> Row:
    interval = answer.figure
    assert interval is not None
    return {
        **identity(analysis, answer, encoding),
        "clients": answer.cell.clients,
        "figure": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "interval": f"{words.with_bounds(interval)}{words.extrapolated(answer.extrapolated)} {measure.unit}",
    }


def _figures_of(interval: Interval | None) -> list[float]:
    ends = (interval.estimate, interval.low, interval.high) if interval else ()
    return [end for end in ends if end is not None]


# ---------------------------------------------------------------- latency


def latency(analysis: Analysis, *, legend: bool = False) -> Figure | None:
    """Return latency percentiles, a row a cell; None where no cell has any."""
    encoding = encode(analysis.plan.cells)
    rows = [
        {
            **identity(analysis, answer, encoding),
            "percentile": f"p{key}",
            "latency": answer.latency_us[key].estimate / 1000,
            "interval": f"p{key} {words.with_bounds(words.in_milliseconds(answer.latency_us[key]))} ms",
        }
        for answer in analysis.cells
        for key in words.percentiles([answer])
        if answer.latency_us[key].estimate > 0
    ]
    if not rows:
        return None
    figures = [row["latency"] for row in rows]
    x = alt.X("latency:Q", title="milliseconds", scale=scale(figures), axis=axis_of_rows(figures, rows))
    percentile = alt.Shape(
        "percentile:N",
        scale=alt.Scale(
            domain=[f"p{key}" for key in _PERCENTILE_SHAPES], range=list(_PERCENTILE_SHAPES.values())
        ),
        legend=alt.Legend(title="latency") if legend else None,
    )
    base = stacked().encode(x=x, color=colour(encoding, legend=legend))
    spans = base.mark_line(strokeWidth=2, opacity=0.45, yOffset=8).encode(detail="cell:N")
    points = base.mark_point(size=60, filled=True, opacity=1, yOffset=8).encode(
        shape=percentile, tooltip=tooltip("interval")
    )
    caption = (
        f"How long a {words.work(analysis.plan)} takes: p50 (circle), p95 (diamond) and p99 (triangle). A "
        "percentile with fewer than ten of them beyond it is left out."
    )
    panel = stacked_panel("", described("Latency percentiles", rows, "interval"), rows, spans, points)
    return Figure("latency", "Latency", caption, (panel,))


# ---------------------------------------------------------------- cost


def cost(analysis: Analysis, *, legend: bool = False) -> Figure | None:
    """Return what one transaction, or a job's statement, costs, a panel a resource.

    None where nothing was observed.
    """
    work = words.work(analysis.plan)
    encoding = encode(analysis.plan.cells)
    panels, missing = [], []
    for field, title, unit in _COSTS:
        rows = [
            {
                **identity(analysis, answer, encoding),
                "figure": figure,
                "shown": f"{words.number(figure)} {unit}",
            }
            for answer in analysis.cells
            if (figure := getattr(answer.cost, field)) is not None
        ]
        if rows:
            panels.append(_cost_panel(rows, encoding, title, work, legend=legend))
        else:
            missing.append(title.lower())
    if not panels:
        return None
    caption = f"What one {work} takes, as the median over the cell's valid trials."
    if missing:
        caption += f" Not observed: {', '.join(missing)}."
    if len({panel.marks for panel in panels}) > 1:
        caption += " A cell that a panel leaves out was not observed there."
    return Figure("cost", f"Cost of a {work}", caption, tuple(panels))


def _cost_panel(rows: Sequence[Row], encoding: Encoding, title: str, work: str, *, legend: bool) -> Panel:
    # Room on the right for the figure that stands at the bar's end.
    top = max(row["figure"] for row in rows) * 1.4 or 1
    x = alt.X("figure:Q", scale=alt.Scale(domain=[0, top], nice=False), axis=None)
    base = stacked().encode(x=x)
    bars = base.mark_bar(size=9, yOffset=8, cornerRadiusEnd=2).encode(
        color=colour(encoding, legend=legend), tooltip=tooltip("shown")
    )
    ends = base.mark_text(align="left", baseline="middle", dx=5, yOffset=8).encode(text="shown:N")
    return stacked_panel(title, described(f"{title} per {work}", rows, "shown"), rows, bars, ends)


# ---------------------------------------------------------------- still pictures


def png(figure: Figure, ink: Ink = LIGHT, scale_factor: float = 2) -> bytes:
    """Return a figure as a PNG picture; make the figure with ``legend=True``."""
    picture: bytes = vl_convert.vegalite_to_png(_still(figure, ink), scale=scale_factor)
    return picture


def svg(figure: Figure, ink: Ink = LIGHT) -> str:
    """Return a figure as an SVG picture; make the figure with ``legend=True``."""
    picture: str = vl_convert.vegalite_to_svg(_still(figure, ink))
    return picture


def _still(figure: Figure, ink: Ink) -> Spec:
    drawings = [
        {**panel.complete_spec(), "width": STILL_WIDTH_PX, "title": panel.title} for panel in figure.panels
    ]
    return {
        "title": {
            "text": figure.title,
            "subtitle": textwrap.wrap(figure.caption, STILL_CAPTION_LETTERS * len(drawings[:STILL_COLUMNS])),
            "offset": 14,
        },
        "concat": drawings,
        "columns": STILL_COLUMNS,
        "config": config(ink),
        "background": ink.paper,
        "padding": 16,
    }
