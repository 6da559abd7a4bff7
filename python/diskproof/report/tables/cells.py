"""What was measured: a row a cell."""

from collections.abc import Callable
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis, CellAnswer, Interval
from diskproof.report import words
from diskproof.report.tables.table import Column, Table, factor_column, shown_factors
from diskproof.results.plan import NO_LEVEL


def cells(analysis: Analysis) -> Table:
    """Return a row a cell: its levels, its figure with interval, latencies, and how many trials count."""
    factors = shown_factors(analysis)
    measures = _measures(analysis)
    percentiles = words.percentiles(analysis.cells)
    columns = [
        *(factor_column(factor) for factor in factors),
        *(column for measure in measures for column in measure.columns(analysis)),
        *(Column(f"p{key} ms", figures=True) for key in percentiles),
        Column("Valid", figures=True),
    ]
    rows = []
    for answer in analysis.cells:
        latencies = [answer.latency_us.get(key) for key in percentiles]
        rows.append(
            (
                *(answer.cell.level(factor) for factor in factors),
                *(entry for measure in measures for entry in measure.entries(answer)),
                *(words.milliseconds(latency.estimate if latency else None) for latency in latencies),
                f"{answer.valid} of {answer.total}",
            )
        )
    return Table(tuple(columns), tuple(rows))


def cells_by_kind(analysis: Analysis) -> list[Table]:
    """Return the cells of servers and those of bare files apart: they have other figures and levels."""
    kinds = [
        [answer for answer in analysis.cells if answer.cell.has_server is has_server]
        for has_server in (True, False)
    ]
    return [cells(_of(analysis, answers)) for answers in kinds if answers]


def _of(analysis: Analysis, answers: list[CellAnswer]) -> Analysis:
    """Return the analysis with some cells alone, told apart by the factors that any of them has."""
    has = [
        factor
        for factor in analysis.varying
        if any(answer.cell.level(factor) != NO_LEVEL for answer in answers)
    ]
    return analysis.model_copy(update={"cells": answers, "varying": has})


@dataclass(frozen=True)
class _Measure:
    """A figure of cells and how it is shown."""

    title: str
    figure: Callable[[CellAnswer], Interval | None]

    def columns(self, analysis: Analysis) -> tuple[Column, ...]:
        return (
            Column(self.title, figures=True),
            Column(f"{words.confidence(analysis)} interval", figures=True),
        )

    def entries(self, answer: CellAnswer) -> tuple[str, ...]:
        figure = self.figure(answer)
        return words.estimate(figure), words.bounds(figure)


class _Plain(_Measure):
    """A figure that is another one in other units, and has its interval."""

    def columns(self, analysis: Analysis) -> tuple[Column, ...]:  # noqa: ARG002 - as every measure
        return (Column(self.title, figures=True),)

    def entries(self, answer: CellAnswer) -> tuple[str, ...]:
        return (words.estimate(self.figure(answer)),)


class _Seconds(_Measure):
    """The seconds of a job, marked where some of them are extrapolated."""

    def entries(self, answer: CellAnswer) -> tuple[str, ...]:
        estimate, bounds = super().entries(answer)
        return f"{estimate}{words.extrapolated(answer.extrapolated)}", bounds


class _Span(_Measure):
    """The shortest and the longest iteration, and how much each client did in one."""

    def columns(self, analysis: Analysis) -> tuple[Column, ...]:  # noqa: ARG002 - as every measure
        return tuple(Column(title, figures=True) for title in ("Min s", "Max s", "Queries/client"))

    def entries(self, answer: CellAnswer) -> tuple[str, ...]:
        span = answer.iterations
        figures = (span.min_s, span.max_s, span.queries_per_client) if span else (None, None, None)
        return tuple(map(words.number, figures))


def _measures(analysis: Analysis) -> list[_Measure]:
    """Return what the cells are judged by, and what stands beside it."""
    metrics = {answer.metric for answer in analysis.cells}
    measures = []
    if metrics & {"transactions_per_s", "latency_mean_us"} or not metrics:
        measures.append(_Measure("Transactions/s", lambda answer: answer.throughput_per_s))
    if "requests_per_s" in metrics:
        measures.append(
            _Measure(
                "Requests/s", lambda answer: answer.figure if answer.metric == "requests_per_s" else None
            )
        )
        measures.append(_Plain("MB/s", lambda answer: answer.megabytes_per_s))
    if "latency_mean_us" in metrics:
        measures.append(_Measure("Mean ms", _mean_ms))
    if "seconds" in metrics:
        measures.append(
            _Seconds("Seconds", lambda answer: answer.figure if answer.metric == "seconds" else None)
        )
    if any(answer.iterations for answer in analysis.cells):
        measures.append(_Span("", lambda _: None))
    return measures


def _mean_ms(answer: CellAnswer) -> Interval | None:
    return words.in_milliseconds(answer.latency_mean_us) if answer.latency_mean_us else None


def costs(analysis: Analysis) -> Table:
    """Return a row a cell: what one transaction costs, as the median over its valid trials."""
    factors = shown_factors(analysis)
    columns = [
        *(factor_column(factor) for factor in factors),
        Column("Server CPU µs", figures=True),
        Column("Client CPU µs", figures=True),
        Column("Reads", figures=True),
        Column("KiB read", figures=True),
        Column("Writes", figures=True),
        Column("KiB written", figures=True),
        Column("Flushes", figures=True),
        Column("Context switches", figures=True),
    ]
    rows = []
    for answer in analysis.cells:
        cost = answer.cost
        figures = (
            cost.server_cpu_us,
            cost.client_cpu_us,
            cost.reads,
            cost.read_kib,
            cost.writes,
            cost.written_kib,
            cost.flushes,
            cost.context_switches,
        )
        levels = (answer.cell.level(factor) for factor in factors)
        rows.append((*levels, *(words.number(figure) for figure in figures)))
    return Table(tuple(columns), tuple(rows))
