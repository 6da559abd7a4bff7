"""What replays of a log say: which statements became faster or slower, and how true the replays were."""

from diskproof.analysis.answers import Analysis
from diskproof.report.compose.tables import cells_table, figures, levels, shown_factors, table
from diskproof.report.document import Block, Paragraph, Section, Table
from diskproof.report.intervals import with_bounds
from diskproof.wording.numbers import NOT_OBSERVED, number

MOST_STATEMENTS = 20

CERTIFICATE = (
    "Of a cell's trials the least true one counts. Late: 99 statements in 100 were sent no later than this "
    "behind the log's times; what their sessions still waited for is the server's."
)


def section(analysis: Analysis) -> Section:
    """Return the part about replays; an empty one if there were none."""
    if not analysis.replays:
        return Section("", ())
    blocks: tuple[Block, ...] = (Paragraph(CERTIFICATE), _certificate(analysis))
    if analysis.statements:
        blocks = (_statements(analysis), *blocks)
    return Section("Replay", blocks, anchor="replay", contents="Replay")


def _statements(analysis: Analysis) -> Table:
    decided = sorted(analysis.statements, key=lambda row: row.outcome == "inconclusive")
    return table(
        decided[:MOST_STATEMENTS],
        *levels(shown_factors(analysis)),
        ("Against", lambda row: row.baseline.level(row.factor)),
        ("Statement", lambda row: row.statement),
        (figures("Time"), lambda row: f"{row.share:.0%}"),
        (figures("Speed"), lambda row: with_bounds(row.ratio)),
        ("", lambda row: "open" if row.outcome == "inconclusive" else row.outcome),
        label="Statements that became faster or slower, and those that take most",
    )


def _certificate(analysis: Analysis) -> Table:
    return cells_table(
        analysis,
        analysis.replays,
        (figures("Sent"), lambda row: f"{row.sent:.1%}"),
        (figures("Late, ours, ms"), lambda row: number(row.own_p99_us / 1e3)),
        (figures("Late, server's, ms"), lambda row: number(row.server_p99_us / 1e3)),
        (figures("At once"), lambda row: number(row.concurrency)),
        (
            figures("In the log"),
            lambda row: (
                NOT_OBSERVED if row.recorded_concurrency is None else number(row.recorded_concurrency)
            ),
        ),
        (figures("Other refusals"), lambda row: f"{row.other_refusals:,}"),
        (figures("Other rows"), lambda row: f"{row.other_rows:.1%}"),
        (figures("Overtook"), lambda row: f"{row.commits_overtook:,} of {row.commits:,}"),
        label="How true the replays were",
    )
