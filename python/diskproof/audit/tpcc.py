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
from diskproof.results.plan import Phases
from diskproof.results.tpcc import KINDS, Inputs
from diskproof.stats.distributions import binomial_p, poisson_p
from diskproof.wording import Message, counted, printed, say, seconds, share

MOST_A_MINUTE = 12.86
"""New orders a minute that the ten terminals of a warehouse can enter: with the least keying times and mean
think times a cycle takes 20.99 s on average, and 45% of them are new orders (clauses 4.2.2 and 5.2.5)."""

CYCLE_S = 21.0
"""Mean time that a terminal types and thinks for one transaction, without any response time."""

FEW_CYCLES = 5
"""Transactions that each terminal is to make while it is measured. A judgement."""

LEAST_SHARES: Mapping[str, float] = {
    "payment": 0.43,
    "order_status": 0.04,
    "delivery": 0.04,
    "stock_level": 0.04,
}
"""Of all transactions (clause 5.2.3)."""

LIMITS_S: Mapping[str, float] = {**dict.fromkeys(KINDS, 5.0), "stock_level": 20.0}
"""The longest response times for nine of ten (clause 5.2.5.3)."""

DEFERRED_LIMIT_S = 80.0
"""The same for a deferred delivery, from the moment at which it is queued (clause 2.7.2.2)."""

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


def _inputs(evidence: Evidence) -> Inputs:
    inputs = evidence.load.tpcc
    if inputs is None:
        raise NothingToCheckError("no run of TPC-C with its inputs")
    return inputs


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
    "tpcc-mix",
    reason="A terminal that enters few of the long transactions has more time for new orders.",
    remedy="measure longer (`measure_s`): a deck of 23 transactions must be dealt many times",
    source="TPC-C, clause 5.2.3: at least 43% payments and 4% of each other kind",
)
def mix(evidence: Evidence) -> Iterator[Said]:
    """Find a kind of transaction that completed less often than it must."""
    _inputs(evidence)
    types = evidence.load.transaction_types
    counts: dict[str, int] = {kind.name: kind.count for kind in types if kind.name in KINDS}
    total = sum(counts.values())
    for name, least in LEAST_SHARES.items():
        seen = counts.get(name, 0)
        # The deck's own share is above the least one: what is under way at the ends may be missing.
        if total and seen < least * total and binomial_p(seen, total, least) < 1 / 100:
            yield warning(
                "{seen:.1f} of the transactions are of kind {name}; TPC-C has {least} or more",
                seen=share(seen / total),
                name=name,
                least=share(least),
            )


@check(
    "tpcc-response",
    reason="TPC-C counts new orders only while nine of ten answers of each kind come in time.",
    remedy="fewer warehouses, or a faster storage",
    source="TPC-C, clause 5.2.5.3: 5 s, stock level 20 s; clause 2.7.2.2: 80 s for a deferred delivery",
)
def response(evidence: Evidence) -> Iterator[Said]:
    """Find kinds of transactions with a 90th percentile beyond the specification's limit."""
    drawn = _inputs(evidence)
    for kind in evidence.load.transaction_types:
        limit_s = LIMITS_S.get(kind.name)
        at_most_us = kind.latency_us.percentiles.get(PERCENTILE) if kind.latency_us else None
        if limit_s is not None and at_most_us is not None and at_most_us > limit_s * 1e6:
            yield warning(
                "the 90th percentile of {name} is {found}; TPC-C allows {limit}",
                name=kind.name,
                found=seconds(at_most_us / 1e6),
                limit=seconds(limit_s),
            )
    deferred = drawn.deferred
    if deferred and not deferred.keeps_limit:
        yield warning(
            "{late} of {done:,.0f} deferred deliveries took longer than {limit}; TPC-C allows one in ten",
            late=deferred.done - deferred.done_in_time,
            done=deferred.done,
            limit=seconds(DEFERRED_LIMIT_S),
        )


def too_short(phases: Phases) -> Message | None:
    """Say if a load with think times ends before its terminals have made a few transactions each."""
    least_s = FEW_CYCLES * CYCLE_S
    if phases.warm_up_s >= CYCLE_S and phases.measure_s >= least_s:
        return None
    return say(
        "a warm-up of {warm_up} and a measurement of {measured} are too short for TPC-C with think times: a "
        "terminal types and thinks for {cycle} a transaction, so all have begun after {cycle}, and "
        "{few} transactions each take {least}",
        warm_up=seconds(phases.warm_up_s),
        measured=seconds(phases.measure_s),
        cycle=seconds(CYCLE_S),
        few=FEW_CYCLES,
        least=seconds(least_s),
    )


@check(
    "tpcc-length",
    reason="Terminals type and think for 21 s on average for each transaction. Before each has made a few, "
    "the figure is of their start.",
    remedy="`warm_up_s = 21` and `measure_s = 105` or more; TPC-C itself asks for two hours",
    source="TPC-C, clauses 5.2.5 (keying and think times) and 5.5 (steady state, measurement interval)",
)
def length(evidence: Evidence) -> Iterator[Said]:
    """Find think times that a short measurement does not cover."""
    if not _inputs(evidence).think_times:
        raise NothingToCheckError("without think times the load is there at once")
    if short := too_short(evidence.plan.phases_of(evidence.cell)):
        yield warning("{short}", short=short)


@check(
    "tpcc-rate",
    reason="Ten terminals of a warehouse type and think for 21 s on average for each transaction. More new "
    "orders than they can enter were not made by TPC-C's terminals, so the figure is no tpmC.",
    remedy="call it new orders a minute without think times, or set `think_times = true` and add warehouses",
    source="TPC-C, clauses 4.2.2 and 5.2.5: a mean of at most 12.86 new orders a minute for each warehouse; "
    "Poisson test with p below 1e-6 (terminals scatter less)",
)
def rate(evidence: Evidence) -> Iterator[Said]:
    """Find more new orders a minute than the terminals of that many warehouses can enter."""
    drawn, found = _inputs(evidence), a_minute(evidence.load)
    if not drawn.think_times:
        raise NothingToCheckError("without think times it is called TPC-C-like, and no tpmC")
    if found is None:
        return
    warehouses = drawn.warehouses
    minutes = (evidence.load.seconds or MINUTE_S) / MINUTE_S
    if poisson_p(found * minutes, MOST_A_MINUTE * warehouses * minutes) < UNLIKELY:
        yield invalid(
            "{found} new orders a minute on {warehouses} are {each} for each; its terminals can enter {most} "
            "in the mean",
            found=printed(found),
            warehouses=counted(warehouses, "warehouse"),
            each=printed(found / warehouses),
            most=printed(MOST_A_MINUTE),
        )
