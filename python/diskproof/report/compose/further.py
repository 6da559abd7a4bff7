"""What only some runs have: jobs' operations, TPC-C, replays."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, OperationFigure, ReplayAnswer, StatementVerdict
from diskproof.report.compose.rows import tpcc
from diskproof.report.compose.tables import cells_table, figures, noted, table
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Item, Items, Paragraph, Section, Table
from diskproof.report.intervals import extrapolated, with_bounds
from diskproof.results.plan import Cell
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import NOT_OBSERVED, number


def sections(analysis: Analysis) -> tuple[Section, ...]:
    """Return these parts; those that a run does not have are empty."""
    unadjusted = UNADJUSTED if any(row.ratio for row in analysis.operations) else ""
    return (
        *(
            noted(f"Operations {of}".strip(), f"{OPERATIONS_NOTE}{unadjusted}", one, anchor="operations")
            for of, one in operations(analysis)
        ),
        *(noted("TPC-C", TPCC_NOTE, one.table(), anchor="tpcc") for one in tpcc(analysis)),
        noted("Statements of the replay", STATEMENTS_NOTE, _statements(analysis), anchor="statements"),
        _plans(analysis),
        noted("How true the replay was", CERTIFICATE, _certificate(analysis), anchor="replay"),
    )


STATEMENTS_NOTE = "Those that became faster or slower first, then those that take most time."


# ---------------------------------------------------------------- jobs

OPERATIONS_NOTE = (
    "Seconds: the geometric mean over the valid trials. +: extrapolated beyond a time limit. skipped: not "
    "run, and in no total."
)

UNADJUSTED = (
    " A ratio is one of speeds, the second cell's over the first's, with an interval of its own: it is not "
    "adjusted for the number of ratios, of which about one in twenty excludes 1 by chance."
)


A_PAIR = 2
"""Cells that are compared operation by operation, whatever their workloads; more have no ratio to show."""


def operations(analysis: Analysis) -> list[tuple[str, Table]]:
    """Return for each workload a row an operation: the seconds in each cell, and the ratio of two.

    As in sql-bench's own tables a ``+`` marks seconds that are extrapolated.
    """
    cells = [one for one in analysis.plan.cells if any(one.id in row.cells for row in analysis.operations)]
    by_workload = grouped(cells, lambda one: one.workload if len(cells) > A_PAIR else "")
    return [(workload, _operations(analysis, some)) for workload, some in by_workload.items()]


def _operations(analysis: Analysis, cells: Sequence[Cell]) -> Table:
    rows = [row for row in analysis.operations if any(one.id in row.cells for one in cells)]
    varying = [factor for factor in analysis.varying if len({one.level(factor) for one in cells}) > 1]
    titles = [f"{name} s" if (name := cell_words(cell, varying)) else "Seconds" for cell in cells]
    has_ratio = any(row.ratio for row in rows)
    return table(
        rows,
        ("Test", lambda row: row.test),
        ("Operation", lambda row: row.name),
        (
            figures("Planned"),
            lambda row: _planned([row.cells[one.id] for one in cells if one.id in row.cells]),
        ),
        *(
            (figures(title), lambda row, cell=cell: _seconds(row.cells.get(cell.id)))
            for title, cell in zip(titles, cells, strict=True)
        ),
        *([(figures("Ratio"), lambda row: with_bounds(row.ratio))] if has_ratio else []),
        label="Seconds of each operation in every cell",
        heads=2,
    )


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


# ---------------------------------------------------------------- TPC-C

TPCC_NOTE = (
    "TPC-C-like, no think time: the new orders a minute are no tpmC, and no published ones compare. "
    "Consistent: trials after which the conditions of clause 3.3.2 held, and all tables had their rows."
)


# ---------------------------------------------------------------- replays

MOST_STATEMENTS = 20

CERTIFICATE = (
    "The least true trial of each cell. Not prepared: statements that only the log has prepared. "
    "Preparations: made, of those in the log. Late: at most so far behind the log were 99 statements in 100."
)


def _statements(analysis: Analysis) -> Table:
    rows = sorted(analysis.statements, key=lambda row: row.outcome == "inconclusive" and not row.plans)
    rows = rows[:MOST_STATEMENTS]
    differ = any(row.plans for row in rows)
    return cells_table(
        analysis,
        rows,
        ("Against", lambda row: row.baseline.level(row.factor)),
        ("Statement", lambda row: row.statement),
        (figures("Time"), lambda row: f"{row.share:.0%}"),
        (figures("Speed"), lambda row: with_bounds(row.ratio)),
        ("", lambda row: "open" if row.outcome == "inconclusive" else row.outcome),
        *([("Plan", lambda row: "differs" if row.plans else "")] if differ else []),
        label="Statements that became faster or slower, and those that take most",
    )


def _plans(analysis: Analysis) -> Section:
    """Return both plans of each statement whose plan differs."""

    def item(row: StatementVerdict, plans: tuple[str, str]) -> Item:
        sides = [cell_words(cell, analysis.varying) for cell in (row.baseline, row.cell)]
        lines = (Paragraph(f"`{plan}`", lead=side) for side, plan in zip(sides, plans, strict=True))
        return Item("", "-", name=row.statement, lines=tuple(lines))

    items = tuple(item(row, row.plans) for row in analysis.statements if row.plans)
    return Section("Plans that differ", (Items(items),), "plans", "Plans that differ")


def _order(row: ReplayAnswer) -> str:
    return "{:,} of {:,}".format(*row.ordered) if row.ordered else ""


def _certificate(analysis: Analysis) -> Table:
    explains = any(row.explained for row in analysis.replays)
    return cells_table(
        analysis,
        analysis.replays,
        (figures("Sent"), lambda row: f"{row.sent:.1%}"),
        (figures("Not prepared"), lambda row: f"{row.prepared_as_text:,}"),
        (figures("Preparations"), lambda row: " of ".join(f"{one:,}" for one in row.preparations if one)),
        (figures("Late, ours, ms"), lambda row: number(row.own_p99_us / 1e3)),
        (figures("Late, server's, ms"), lambda row: number(row.server_p99_us / 1e3)),
        (figures("At once"), lambda row: number(row.concurrency)),
        (figures("In the log"), lambda row: number(row.recorded_concurrency)),
        (figures("Other refusals"), lambda row: f"{row.other_refusals:,}"),
        (figures("Other rows"), lambda row: f"{row.other_rows:.1%}"),
        (figures("Overtook"), lambda row: f"{row.commits_overtook:,} of {row.commits:,}"),
        *([(figures("Order by binary log"), _order)] if any(row.ordered for row in analysis.replays) else []),
        *([(figures("Explained"), lambda row: f"{row.explained:,}")] if explains else []),
        label="How true the replays were",
    )
