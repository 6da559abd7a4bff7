"""What the parts of jobs took: a table a workload, or one of two cells with their ratio."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis, OperationAnswer, OperationFigure
from diskproof.analysis.verdicts import varying_factors
from diskproof.analysis.words import cell_words
from diskproof.report import words
from diskproof.report.tables.table import Column, Table
from diskproof.results.plan import Cell

A_PAIR = 2
"""Cells that are compared operation by operation, whatever their workloads; more have no ratio to show."""


@dataclass(frozen=True)
class OperationTable:
    """A table of operations."""

    workload: str | None
    """None: those of all workloads."""
    seconds: list[float]
    """What the operation of each row took at the most."""
    table: Table

    def longest(self, most: int) -> Table:
        """Return the rows of the operations that took longest in any of its cells."""
        rows = sorted(zip(self.seconds, self.table.rows, strict=True), key=lambda row: -row[0])
        return Table(self.table.columns, tuple(row for _, row in rows[:most]))


def operations(analysis: Analysis, *, bounds: bool = True) -> list[OperationTable]:
    """Return a row an operation of a job: the seconds that it took in each cell, and the ratio of two.

    As in sql-bench's own tables a ``+`` marks seconds that are extrapolated.
    """
    cells = [cell for cell in analysis.plan.cells if any(cell.id in row.cells for row in analysis.operations)]
    workloads = dict.fromkeys(cell.workload for cell in cells)
    if len(workloads) == 1 or len(cells) == A_PAIR:
        return [_table(analysis, None, cells, bounds=bounds)]
    return [
        _table(analysis, workload, [cell for cell in cells if cell.workload == workload], bounds=bounds)
        for workload in workloads
    ]


def _table(
    analysis: Analysis, workload: str | None, cells: Sequence[Cell], *, bounds: bool
) -> OperationTable:
    """Return the table of some cells, which are told apart by what differs between them."""
    known = [row for row in analysis.operations if any(cell.id in row.cells for cell in cells)]
    ratios = any(row.ratio for row in known)
    varying = varying_factors(cells) if workload else analysis.varying
    columns = [
        Column("Test"),
        Column("Operation"),
        Column("Planned", figures=True),
        *(Column(_title(cell_words(cell, varying)), figures=True) for cell in cells),
        *([Column("Ratio", figures=True)] if ratios else []),
    ]
    rows = [
        (
            row.test,
            row.name,
            _planned([row.cells[cell.id] for cell in cells if cell.id in row.cells]),
            *(_operation_seconds(row.cells.get(cell.id)) for cell in cells),
            *([(words.with_bounds if bounds else words.estimate)(row.ratio)] if ratios else []),
        )
        for row in known
    ]
    seconds = [_most_seconds(row, cells) for row in known]
    return OperationTable(workload, seconds, Table(tuple(columns), tuple(rows)))


def _title(cell: str) -> str:
    return f"{cell} s" if cell else "Seconds"


def _planned(figures: Sequence[OperationFigure]) -> str:
    """Return how often the cells did it: jobs of one workload are equal, others may differ in their scale."""
    fewest, most = min(one.planned for one in figures), max(one.planned for one in figures)
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"


def _most_seconds(operation: OperationAnswer, cells: Sequence[Cell]) -> float:
    figures = [operation.cells[cell.id] for cell in cells if cell.id in operation.cells]
    return max((one.seconds.estimate for one in figures if one.seconds), default=0.0)


def _operation_seconds(figure: OperationFigure | None) -> str:
    if figure is None or (figure.seconds is None and not figure.skipped):
        return words.NOT_OBSERVED
    if figure.seconds is None:
        return "skipped"
    return f"{words.number(figure.seconds.estimate)}{words.extrapolated(figure.extrapolated)}"
