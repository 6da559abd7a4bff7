"""What the parts of jobs took: a table a workload, or one of two cells with their ratio."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, OperationFigure
from diskproof.audit.run import varying_factors
from diskproof.report.compose.tables import figures, table
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Paragraph, Section, Table
from diskproof.report.intervals import extrapolated, with_bounds
from diskproof.results.plan import Cell
from diskproof.wording.numbers import NOT_OBSERVED, number

NOTE = (
    "Seconds of each operation: the geometric mean over the valid trials. +: a time limit cut it short, and "
    "the time of all that was planned is extrapolated. skipped: not run, and in no total. A ratio is one of "
    "speeds, the second cell's over the first's."
)

UNADJUSTED = (
    " Each ratio has an interval of its own. Unlike those of verdicts it is not adjusted for the number of "
    "ratios. Of twenty operations that are equally fast, about one excludes 1 by chance."
)

A_PAIR = 2
"""Cells that are compared operation by operation, whatever their workloads; more have no ratio to show."""


def section(analysis: Analysis) -> Section:
    """Return the part about operations; an empty one if there are none."""
    found = analysis.operations
    if not found:
        return Section("", ())
    note = Paragraph(f"{NOTE}{UNADJUSTED if any(row.ratio for row in found) else ''}")
    tables = (Section(workload or "", (one,)) for workload, one in operations(analysis))
    return Section("Operations", (note, *tables), anchor="operations", contents="Operations")


def operations(analysis: Analysis) -> list[tuple[str | None, Table]]:
    """Return for each workload a row an operation: the seconds in each cell, and the ratio of two.

    None instead of a workload if one table has all. As in sql-bench's own tables a ``+`` marks seconds that
    are extrapolated.
    """
    cells = [cell for cell in analysis.plan.cells if any(cell.id in row.cells for row in analysis.operations)]
    workloads: list[str | None] = list(dict.fromkeys(cell.workload for cell in cells))
    if len(workloads) == 1 or len(cells) == A_PAIR:
        workloads = [None]
    return [
        (one, _table(analysis, one, [cell for cell in cells if one in (None, cell.workload)]))
        for one in workloads
    ]


def _table(analysis: Analysis, workload: str | None, cells: Sequence[Cell]) -> Table:
    """Return a table of these cells. Its columns show only the factors that differ between them."""
    rows = [row for row in analysis.operations if any(cell.id in row.cells for cell in cells)]
    varying = varying_factors(cells) if workload else analysis.varying
    ratios = any(row.ratio for row in rows)
    of = f" of {workload}" if workload else ""
    return table(
        rows,
        ("Test", lambda row: row.test),
        ("Operation", lambda row: row.name),
        (
            figures("Planned"),
            lambda row: _planned([row.cells[one.id] for one in cells if one.id in row.cells]),
        ),
        *(
            (
                figures(_title(cell_words(cell, varying))),
                lambda row, cell=cell: _seconds(row.cells.get(cell.id)),
            )
            for cell in cells
        ),
        *([(figures("Ratio"), lambda row: with_bounds(row.ratio))] if ratios else []),
        label=f"Seconds of each operation in every cell{of}",
        heads=2,
    )


def _title(cell: str) -> str:
    return f"{cell} s" if cell else "Seconds"


def _planned(found: Sequence[OperationFigure]) -> str:
    """Return how often the cells did it: jobs of one workload are equal, others may differ in their scale."""
    fewest, most = min(one.planned for one in found), max(one.planned for one in found)
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"


def _seconds(figure: OperationFigure | None) -> str:
    if figure is None or (figure.seconds is None and not figure.skipped):
        return NOT_OBSERVED
    if figure.seconds is None:
        return "skipped"
    return f"{number(figure.seconds.estimate)}{extrapolated(figure.extrapolated)}"
