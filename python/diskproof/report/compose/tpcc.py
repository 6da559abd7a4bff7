"""What runs of TPC-C say: new orders, response times, and the proof that it was TPC-C."""

from diskproof.analysis.answers import Analysis
from diskproof.report.compose.tables import Of, cells_table, figures
from diskproof.report.document import Block, Paragraph, Section, Table
from diskproof.report.intervals import with_bounds
from diskproof.wording.numbers import NOT_OBSERVED, number

UNTHOUGHT = (
    "TPC-C-like, no think time: each client begins its next transaction at once. The new orders a minute are "
    "no tpmC, and must not be compared with published TPC-C results."
)

THOUGHT = (
    "With keying and think times as specified. The figures are not audited by the Transaction Processing "
    "Performance Council, so they are no TPC results."
)

PROOF = (
    "Consistent: trials after which all twelve consistency conditions of clause 3.3.2 held, and all tables "
    "of clause 1.2.1 had its rows. Inputs: the smallest p of the chi-square tests of districts, lines, "
    "items, customers and last names, adjusted for the number of tests; only a p below 0.000001 fails."
)

RESPONSES = (
    "The longest 90th percentile of all trials beside the limit of clause 5.2.5.3. Without think times the "
    "limits say how far the load is beyond what TPC-C's users would accept. A deferred delivery may take "
    "80 s from its queuing (clause 2.7.2.2). Those in time are counted, without a percentile."
)


def section(analysis: Analysis) -> Section:
    """Return the part about TPC-C; an empty one if it was not run."""
    found = analysis.tpcc
    if not found:
        return Section("", ())
    manners = [
        *([Paragraph(UNTHOUGHT)] if any(not one.think_times for one in found) else []),
        *([Paragraph(THOUGHT)] if any(one.think_times for one in found) else []),
    ]
    blocks: tuple[Block, ...] = (
        *manners,
        Paragraph(PROOF),
        _orders(analysis),
        Paragraph(RESPONSES),
        _responses(analysis),
    )
    return Section("TPC-C", blocks, anchor="tpcc", contents="TPC-C")


def _orders(analysis: Analysis) -> Table:
    return cells_table(
        analysis,
        analysis.tpcc,
        (figures("Warehouses"), lambda row: f"{row.warehouses:,}"),
        (figures("New orders/min"), lambda row: with_bounds(row.new_orders_per_min)),
        (
            figures("Consistent"),
            lambda row: f"{row.consistent} of {row.checked}" if row.checked else NOT_OBSERVED,
        ),
        (figures("Inputs, p"), lambda row: number(row.distributions_p)),
        label="New orders a minute, and whether it was TPC-C",
    )


def _responses(analysis: Analysis) -> Table:
    return cells_table(
        analysis,
        [Of(one.cell, it) for one in analysis.tpcc for it in one.responses],
        ("Transaction", lambda row: row.it.name.replace("_", " ")),
        (figures("Count"), lambda row: f"{row.it.count:,}"),
        (figures("Mean ms"), lambda row: _ms(row.it.mean_us)),
        (figures("p90 ms"), lambda row: _ms(row.it.p90_us)),
        (figures("Limit s"), lambda row: number(row.it.limit_s)),
        ("Kept", lambda row: {True: "yes", False: "no", None: NOT_OBSERVED}[row.it.kept]),
        label="Response times of each kind of transaction",
    )


def _ms(us: float | None) -> str:
    return NOT_OBSERVED if us is None else number(us / 1000)
