"""What was measured: a row a cell."""

from collections.abc import Callable, Iterator
from functools import partial

from diskproof.analysis.answers import Analysis, CellAnswer
from diskproof.report.compose.head import work
from diskproof.report.compose.tables import cells_table, figures
from diskproof.report.document import Column, Paragraph, Section, Table
from diskproof.report.intervals import (
    as_shown,
    bounds,
    confidence,
    estimate,
    extrapolated,
    percentile,
    percentiles,
)
from diskproof.stats.intervals import Interval

Filled = tuple[Column, Callable[[CellAnswer], str]]


def section(analysis: Analysis) -> Section:
    """Return the figures of the cells: a row a cell."""
    none = (Paragraph("No cell has been measured yet."),)
    blocks = (Paragraph(note(analysis)), cells(analysis)) if analysis.cells else none
    return Section("Cells", blocks, anchor="cells", contents="Cells")


def note(analysis: Analysis) -> str:
    """Return how the figures of the cells are made."""
    first = f"A cell is one case. Geometric means over the blocks; latencies of a {work(analysis.plan)}."
    syncs = any(answer.metric == "requests_per_s" for answer in analysis.cells)
    cut_short = any(answer.extrapolated for answer in analysis.cells)
    syncs_too = " Syncs take time and are not counted." if syncs else ""
    plus = " +: seconds of operations that a time limit cut short are extrapolated." if cut_short else ""
    return f"{first}{syncs_too}{plus} n/a: not observed."


def cells(analysis: Analysis) -> Table:
    """Return a row a cell: its levels, its figure with interval, latencies, and how many trials count."""
    return cells_table(
        analysis,
        analysis.cells,
        *_measures(analysis),
        *((figures(f"p{key} ms"), partial(percentile, key)) for key in percentiles(analysis.cells)),
        (figures("Valid"), lambda answer: f"{answer.valid} of {answer.total}"),
        label="Throughput and latency of every cell",
    )


def _measures(analysis: Analysis) -> Iterator[Filled]:
    """Yield the columns of what the cells are judged by, and what is shown with it."""
    metrics = {answer.metric for answer in analysis.cells}
    interval = f"{confidence(analysis)} interval"

    def measure(title: str, figure: Callable[[CellAnswer], Interval | None]) -> Iterator[Filled]:
        of_jobs = title == "Seconds"
        yield figures(title), lambda one: estimate(figure(one)) + extrapolated(of_jobs and one.extrapolated)
        yield figures(interval), lambda one: bounds(figure(one))

    if metrics & {"transactions_per_s", "latency_mean_us"} or not metrics:
        yield from measure("Transactions/s", lambda answer: answer.throughput_per_s)
    if "requests_per_s" in metrics:
        yield from measure("Requests/s", _of_metric("requests_per_s"))
        yield figures("MB/s"), lambda answer: estimate(answer.megabytes_per_s)
    if any(answer.rate_asked_per_s for answer in analysis.cells):
        yield figures("Rate held"), _rate
    if "latency_mean_us" in metrics:
        yield from measure("Mean ms", lambda one: as_shown("latency_mean_us", one.latency_mean_us))
    if "seconds" in metrics:
        yield from measure("Seconds", _of_metric("seconds"))


def _rate(answer: CellAnswer) -> str:
    if answer.rate_asked_per_s is None:
        return "-"
    asked = f"{answer.rate_asked_per_s:,.6f}".rstrip("0").rstrip(".") + "/s"
    return f"yes: {asked}" if answer.rate_held else f"no: {estimate(answer.throughput_per_s)} of {asked}"


def _of_metric(metric: str) -> Callable[[CellAnswer], Interval | None]:
    return lambda answer: answer.figure if answer.metric == metric else None
