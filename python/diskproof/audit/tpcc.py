"""Checks that what was run was TPC-C. Clauses are those of the Standard Specification, revision 5.11."""

from collections.abc import Iterator, Mapping

from diskproof.audit.check import Evidence, NothingToCheckError, Said, check, invalid
from diskproof.results.load import LoadResult
from diskproof.results.tpcc import KINDS

LIMITS_S: Mapping[str, float] = {**dict.fromkeys(KINDS, 5.0), "stock_level": 20.0}
"""The longest response times for nine of ten (clause 5.2.5.3)."""

PERCENTILE = "90"

MINUTE_S = 60


def a_minute(load: LoadResult) -> float | None:
    """Return the new orders a minute; None if they were not counted."""
    orders = next((kind.count for kind in load.transaction_types if kind.name == "new_order"), None)
    if orders is None or not load.seconds:
        return None
    return orders / load.seconds * MINUTE_S


@check(
    "tpcc-consistency",
    reason="Transactions that leave the tables inconsistent are not those of TPC-C, or the database lost a "
    "part of them. The speed of either says nothing.",
    remedy="see which condition is broken, and look for errors in the server's log; keep the data folder",
    source="TPC-C, clause 3.3.2: twelve consistency conditions",
)
def consistency(evidence: Evidence) -> Iterator[Said]:
    """Find tables that break a consistency condition, or do not have their rows."""
    tables = evidence.trial.tables
    if tables is None:
        raise NothingToCheckError("no tables of TPC-C")
    for complaint in tables.complaints:
        yield invalid("{complaint}", complaint=complaint)
