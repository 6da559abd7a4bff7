"""What part of its storage's raw peak each cell moved."""

from diskproof.analysis.answers import Analysis
from diskproof.report.compose.tables import cells_table, figures, noted
from diskproof.report.document import Section, Table
from diskproof.report.intervals import bounds, confidence
from diskproof.wording.numbers import number

NOTE = (
    "Bytes per second that the server read from and wrote to its disks, over the raw peak. The peak is the "
    "fastest sequential pass on files of the same storage in this run. A small share is no fault of the "
    "server: small and synced requests take a disk's time by the request, not by the byte. Cells that must "
    "not be compared are left out."
)


def section(analysis: Analysis) -> Section:
    """Return the part about the raw peak; an empty one if none was measured."""
    title = "Efficiency against the raw peak"
    return noted(title, NOTE, efficiency(analysis), anchor="efficiency", contents="Efficiency")


def efficiency(analysis: Analysis) -> Table:
    """Return a row a cell whose storage's raw peak is known: what it moved, the peak, and their ratio."""
    return cells_table(
        analysis,
        analysis.efficiency,
        (figures("Moved MB/s"), lambda row: number(row.moved_mb_per_s.estimate)),
        (figures("Peak MB/s"), lambda row: number(row.peak_mb_per_s.estimate)),
        ("Peak of", lambda row: analysis.plan.cell(row.peak_cell).workload),
        (figures("Efficiency"), lambda row: number(row.share.estimate)),
        (figures(f"{confidence(analysis)} interval"), lambda row: bounds(row.share)),
        label="What part of its raw peak each storage was asked for",
    )
