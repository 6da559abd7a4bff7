"""Charts of cells: what they are judged by."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis, CellAnswer
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row
from diskproof.report.charts.style import Encoding, encode
from diskproof.report.compose.rows import UNITS
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import confidence, extrapolated, with_bounds
from diskproof.results.factor import Factor
from diskproof.results.plan import Metric
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import sentence_case

PANEL_HEIGHT_PX = 260

WILD = 4
"""An interval is cut off so many times beyond the smallest or largest figure: two blocks can give any."""

TITLES: dict[Metric, str] = {
    "transactions_per_s": "Throughput",
    "requests_per_s": "Requests",
    "seconds": "Seconds of the job",
}
"""Of charts of the figures that cells are judged by."""


def throughput(analysis: Analysis) -> Iterator[Figure]:
    """Yield throughput, requests and a job's seconds with their intervals, each if cells are judged by it."""
    for metric in TITLES:
        if judged := [one for one in analysis.cells if one.figure and one.metric == metric]:
            yield _figure(analysis, judged, metric)


def _figure(analysis: Analysis, judged: Sequence[CellAnswer], metric: Metric) -> Figure:
    """Return the figures of cells, against clients if those vary."""
    encoding, measure, unit = encode(analysis.plan.cells), TITLES[metric], UNITS[metric]
    # A name need not repeat what all these cells share.
    apart = [one for one in analysis.varying if len({answer.cell.level(one) for answer in judged}) > 1]
    rows_by_panel = {
        levels: [_row(one, apart, encoding) for one in of_panel]
        for levels, of_panel in grouped(judged, lambda one: encoding.panel(one.cell)).items()
    }
    rows = [row for of_panel in rows_by_panel.values() for row in of_panel]
    # All panels share one scale, so that they can be compared by eye; no wild interval decides it.
    domain = min(row["figure"] for row in rows) / WILD, max(row["figure"] for row in rows) * WILD
    for row in rows:
        row |= {end: parts.within(row[end], domain) for end in ("low", "high")}
    figures = [row[end] for row in rows for end in ("figure", "low", "high") if row[end] is not None]
    clients = sorted({one.cell.clients for one in judged})
    if clients[1:]:
        title, by = f"{measure} by clients", "by number of clients"
        panels = tuple(
            _by_clients(clients, encoding, levels, of_panel, figures, metric)
            for levels, of_panel in rows_by_panel.items()
        )
    else:
        title, by = measure, "of each cell"
        panels = (_by_cell(rows, encoding, figures, metric),)
    wide = "; the axis is logarithmic" if parts.is_wide(figures) else ""
    caption = f"{sentence_case(unit)} {by}. Bars: {confidence(analysis)} intervals{wide}."
    keys = parts.keys(analysis, encoding, panels)
    if any(row["low"] is not None for row in rows):
        keys = (*keys, Key(f"bar: {confidence(analysis)} interval"))
    return Figure(measure.split()[0].lower(), title, caption, panels, keys)


def _by_clients(
    clients: Sequence[int],
    encoding: Encoding,
    levels: tuple[str, ...],
    rows: Sequence[Row],
    figures: Sequence[float],
    metric: Metric,
) -> Panel:
    x = parts.doubling("clients", clients, "clients")
    channels = x | {"y": parts.Span.of(figures).channel("figure", UNITS[metric])} | parts.colour(encoding)
    return parts.panel(
        parts.panel_title(encoding, levels),
        f"{TITLES[metric]} by clients",
        rows,
        "interval",
        parts.lines(channels | parts.dash(encoding)),
        parts.intervals(channels),
        parts.points(channels | parts.tooltip("interval") | parts.shape(encoding)),
        height_px=PANEL_HEIGHT_PX,
    )


def _by_cell(rows: Sequence[Row], encoding: Encoding, figures: Sequence[float], metric: Metric) -> Panel:
    span = parts.Span.of(figures)
    channels = parts.STACKED | parts.colour(encoding)
    x = {"x": span.channel("figure", UNITS[metric], orient=parts.orient(rows))}
    return parts.stacked_panel(
        "",
        f"{TITLES[metric]} by cell",
        rows,
        "interval",
        parts.level_intervals(channels, span.scale, strokeWidth=3, opacity=0.6),
        parts.points(channels | x | parts.tooltip("interval") | parts.shape(encoding), yOffset=8),
    )


def _row(answer: CellAnswer, apart: Sequence[Factor], encoding: Encoding) -> Row:
    interval = answer.figure
    assert interval is not None
    return {
        **parts.identity(answer.cell, cell_words(answer.cell, apart), encoding),
        "clients": answer.cell.clients,
        "figure": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "interval": f"{with_bounds(interval)}{extrapolated(answer.extrapolated)} {UNITS[answer.metric]}",
    }
