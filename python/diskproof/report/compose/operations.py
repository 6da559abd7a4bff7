"""What the parts of jobs took: a table a workload, or one of two cells with their ratio."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, OperationFigure
from diskproof.report.compose.tables import figures, table
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Paragraph, Section, Table
from diskproof.report.intervals import extrapolated, with_bounds
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


def section(analysis: Analysis) -> Section:
    """Return the part about operations; an empty one if there are none."""
    found = analysis.operations
    if not found:
        return Section("", ())
    note = Paragraph(f"{NOTE}{UNADJUSTED if any(row.ratio for row in found) else ''}")
    return Section("Operations", (note, operations(analysis)), anchor="operations", contents="Operations")


def operations(analysis: Analysis) -> Table:
    """Return a row an operation: the seconds in each cell, and the ratio of two.

    As in sql-bench's own tables a ``+`` marks seconds that are extrapolated.
    """
    rows = analysis.operations
    cells = [cell for cell in analysis.plan.cells if any(cell.id in row.cells for row in rows)]
    titles = [_title(cell_words(cell, analysis.varying)) for cell in cells]
    ratios = (
        [(figures("Ratio"), lambda row: with_bounds(row.ratio))] if any(row.ratio for row in rows) else []
    )
    return table(
        rows,
        ("Test", lambda row: row.test),
        ("Operation", lambda row: row.name),
        (figures("Planned"), lambda row: _planned(list(row.cells.values()))),
        *(
            (figures(title), lambda row, cell=cell: _seconds(row.cells.get(cell.id)))
            for title, cell in zip(titles, cells, strict=True)
        ),
        *ratios,
        label="Seconds of each operation in every cell",
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
