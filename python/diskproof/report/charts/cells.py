"""Charts of cells: throughput, latency."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis, CellAnswer
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row
from diskproof.report.charts.style import Encoding, encode
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import confidence, extrapolated, with_bounds
from diskproof.results.plan import Metric
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import sentence_case

PANEL_HEIGHT_PX = 260

WILD = 4
"""An interval is cut off so many times beyond the smallest or largest figure: two blocks can give any."""


# ---------------------------------------------------------------- throughput


@dataclass(frozen=True)
class Measure:
    """A figure that cells are judged by, and what a chart calls it."""

    metric: Metric
    name: str
    title: str
    unit: str


THROUGHPUT = Measure("transactions_per_s", "throughput", "Throughput", "transactions/s")
REQUESTS = Measure("requests_per_s", "requests", "Requests", "requests/s")
SECONDS = Measure("seconds", "seconds", "Seconds of the job", "seconds")


def throughput(analysis: Analysis, measure: Measure = THROUGHPUT) -> Figure | None:
    """Return throughput (or a job's seconds) with its interval, against clients if those vary.

    None if no cell is judged by it.
    """
    encoding = encode(analysis.plan.cells)
    judged = [one for one in analysis.cells if one.figure and one.metric == measure.metric]
    if not judged:
        return None
    rows_by_panel = {
        levels: [_throughput_row(analysis, one, encoding, measure) for one in of_panel]
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
        title, by = f"{measure.title} by clients", "by number of clients"
        panels = tuple(
            _by_clients(clients, encoding, levels, of_panel, figures, measure)
            for levels, of_panel in rows_by_panel.items()
        )
    else:
        title, by = measure.title, "of each cell"
        panels = (_by_cell(rows, encoding, figures, measure),)
    wide = "; the axis is logarithmic" if parts.is_wide(figures) else ""
    caption = f"{sentence_case(measure.unit)} {by}. Bars: {confidence(analysis)} intervals{wide}."
    keys = parts.keys(analysis, encoding, panels)
    if any(row["low"] is not None for row in rows):
        keys = (*keys, Key(f"bar: {confidence(analysis)} interval"))
    return Figure(measure.name, title, caption, panels, keys)


def _by_clients(
    clients: Sequence[int],
    encoding: Encoding,
    levels: tuple[str, ...],
    rows: Sequence[Row],
    figures: Sequence[float],
    measure: Measure,
) -> Panel:
    x = parts.doubling("clients", clients, "clients")
    channels = x | {"y": parts.Span.of(figures).channel("figure", measure.unit)} | parts.colour(encoding)
    return parts.panel(
        parts.panel_title(encoding, levels),
        f"{measure.title} by clients",
        rows,
        "interval",
        parts.lines(channels | parts.dash(encoding)),
        parts.intervals(channels),
        parts.points(channels | parts.tooltip("interval") | parts.shape(encoding)),
        height_px=PANEL_HEIGHT_PX,
    )


def _by_cell(rows: Sequence[Row], encoding: Encoding, figures: Sequence[float], measure: Measure) -> Panel:
    span = parts.Span.of(figures)
    channels = parts.STACKED | parts.colour(encoding)
    x = {"x": span.channel("figure", measure.unit, orient=parts.orient(rows))}
    return parts.stacked_panel(
        "",
        f"{measure.title} by cell",
        rows,
        "interval",
        parts.level_intervals(channels, span.scale, strokeWidth=3, opacity=0.6),
        parts.points(channels | x | parts.tooltip("interval") | parts.shape(encoding), yOffset=8),
    )


def _throughput_row(analysis: Analysis, answer: CellAnswer, encoding: Encoding, measure: Measure) -> Row:
    interval = answer.figure
    assert interval is not None
    return {
        **parts.identity(analysis, answer, encoding),
        "clients": answer.cell.clients,
        "figure": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "interval": f"{with_bounds(interval)}{extrapolated(answer.extrapolated)} {measure.unit}",
    }
