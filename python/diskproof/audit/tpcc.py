"""Checks that what was run was TPC-C. Clauses are those of the Standard Specification, revision 5.11."""

from collections.abc import Iterator, Mapping

from diskproof.audit.check import (
    Evidence,
    NothingToCheckError,
    Said,
    check,
    invalid,
    warning,
)
from diskproof.results.load import LoadResult
from diskproof.results.tpcc import KINDS
from diskproof.stats.distributions import poisson_p
from diskproof.wording import counted, printed

MOST_A_MINUTE = 12.86
"""New orders a minute that the ten terminals of a warehouse can enter: with the least keying times and mean
think times a cycle takes 20.99 s on average, and 45% of them are new orders (clauses 4.2.2 and 5.2.5)."""

LIMITS_S: Mapping[str, float] = {**dict.fromkeys(KINDS, 5.0), "stock_level": 20.0}
"""The longest response times for nine of ten (clause 5.2.5.3)."""

PERCENTILE = "90"

UNLIKELY = 1e-6
"""There are many runs, and a correct one should hardly ever fail."""

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


@check(
    "tpcc-rate",
    reason="Ten terminals of a warehouse type and think for 21 s on average for each transaction. More new "
    "orders than they can enter were not made by TPC-C's terminals, so the figure is no tpmC.",
    remedy="call it new orders a minute without think times",
    source="TPC-C, clauses 4.2.2 and 5.2.5: a mean of at most 12.86 new orders a minute for each warehouse; "
    "Poisson test with p below 1e-6 (terminals scatter less)",
)
def rate(evidence: Evidence) -> Iterator[Said]:
    """Find more new orders a minute than the terminals of that many warehouses can enter."""
    if evidence.load.tpcc is not None:
        raise NothingToCheckError("our own is called TPC-C-like, and no tpmC")
    found, warehouses = _elsewhere(evidence)
    if found is None:
        return
    minutes = (evidence.load.seconds or MINUTE_S) / MINUTE_S
    if poisson_p(found * minutes, MOST_A_MINUTE * warehouses * minutes) < UNLIKELY:
        yield warning(
            "{found} new orders a minute on {warehouses} are {each} for each; its terminals can enter {most} "
            "in the mean",
            found=printed(found),
            warehouses=counted(warehouses, "warehouse"),
            each=printed(found / warehouses),
            most=printed(MOST_A_MINUTE),
        )


def _elsewhere(evidence: Evidence) -> tuple[float | None, int]:
    """Return another tool's new orders a minute, and its warehouses."""
    result = evidence.result
    if result is None or not result.source.format.startswith("HammerDB"):
        raise NothingToCheckError("no run of TPC-C")
    warehouses = result.asked.get("warehouses", "")
    if not warehouses.isdecimal() or int(warehouses) == 0:
        raise NothingToCheckError("the number of warehouses is not in the output")
    return evidence.load.transactions_per_s * MINUTE_S, int(warehouses)
