"""How much of what a storage can move its cells did move."""

from diskproof.analysis.answers import Analysis
from diskproof.report import words
from diskproof.report.tables.table import Column, Table, factor_column, shown_factors

NOTE = (
    "Bytes that the server read from and wrote to its disks in a second, over the fastest sequential pass on "
    "files of the same storage in this run. A small share is no fault of the server: small and synced "
    "requests take a disk's time by the request, not by the byte. What "
    "must not be compared is left out."
)


def efficiency(analysis: Analysis, *, bounds: bool = True) -> Table:
    """Return a row a cell whose storage's raw peak is known: what it moved, the peak, and their ratio."""
    factors = shown_factors(analysis)
    columns = [
        *(factor_column(factor) for factor in factors),
        Column("Moved MB/s", figures=True),
        Column("Peak MB/s", figures=True),
        Column("Peak of"),
        Column("Efficiency", figures=True),
        *([Column(f"{words.confidence(analysis)} interval", figures=True)] if bounds else []),
    ]
    rows = tuple(
        (
            *(row.cell.level(factor) for factor in factors),
            words.number(row.moved_mb_per_s.estimate),
            words.number(row.peak_mb_per_s.estimate),
            analysis.plan.cell(row.peak_cell).workload,
            words.number(row.share.estimate),
            *([words.bounds(row.share)] if bounds else []),
        )
        for row in analysis.efficiency
    )
    return Table(tuple(columns), rows)
