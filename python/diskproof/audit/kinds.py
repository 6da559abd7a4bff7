"""Checks of some kinds of loads: jobs, those at a set rate, replays of a log, and TPC-C.

Clauses of TPC-C are those of the Standard Specification, revision 5.11.
"""

from collections.abc import Iterator, Mapping

from diskproof.audit.check import (
    Evidence,
    NothingToCheckError,
    Said,
    check,
    invalid,
    note,
    problem,
    warning,
)
from diskproof.audit.load import DELAY_NOTED, DELAY_WARNED, RATES
from diskproof.results.load import LoadResult, Operation
from diskproof.results.record import recorded
from diskproof.results.replay import Certificate
from diskproof.results.tpcc import KINDS
from diskproof.wording import per_s, seconds, share, us
from diskproof.wording.numbers import duration

HELD_WITHIN = 0.03
"""Share by which another tool's rate may fall short of the one that was asked for: arrivals are random. A
judgement."""


@check(
    "rate",
    reason="If transactions come faster than they are served, the answer is how many are served. Latency "
    "then only shows how long the measurement was.",
    remedy="a lower `rate` in `[workloads.NAME]`, or more `clients` if the server has idle capacity",
    source="Schroeder, Wierman and Harchol-Balter, Open Versus Closed, NSDI 2006",
    elsewhere="a lower rate, or more clients if the server has idle capacity",
    bars_from="warning",
)
def rate(evidence: Evidence) -> Iterator[Said]:
    """Find a rate that was not held: then throughput is the answer, and latency is none."""
    asked = evidence.load.rate
    if asked is None:
        yield from _asked_elsewhere(evidence)
        return
    if not asked.held:
        yield warning(
            "the rate was not held: {achieved} of {asked} completed, up to {most} waited for a client, the "
            "first for {behind}, and {waiting} still waited at the end",
            asked=per_s(asked.asked_per_s, "transactions"),
            achieved=per_s(asked.achieved_per_s),
            most=asked.most_waiting,
            behind=seconds(asked.most_behind_s),
            waiting=asked.waiting,
        )


def _asked_elsewhere(evidence: Evidence) -> Iterator[Said]:
    """Compare another tool's rate with the one that it was asked for."""
    told = evidence.result.asked if evidence.result else {}
    asked_per_s = next((float(told[name]) for name in RATES if told.get(name, "").isdecimal()), 0.0)
    done_per_s = evidence.load.transactions_per_s
    if evidence.metric != "transactions_per_s" or not asked_per_s:
        raise NothingToCheckError("a closed loop: no rate was set")
    if done_per_s < (1 - HELD_WITHIN) * asked_per_s:
        yield warning(
            "the rate was not held: {achieved} of {asked} completed. Each second more of them waited, and "
            "the latency includes that",
            asked=per_s(asked_per_s, "transactions"),
            achieved=per_s(done_per_s),
        )


@check(
    "late-start",
    reason="At a set rate a transaction begins when it arrives. If the load generator begins it late, its "
    "latency includes that.",
    remedy="use a quieter machine, or one with more CPUs",
    source="Schroeder, Wierman and Harchol-Balter, Open Versus Closed, NSDI 2006",
)
def late_start(evidence: Evidence) -> Iterator[Said]:
    """Find transactions that the load generator itself was late to begin."""
    load, asked = evidence.load, evidence.load.rate
    if asked is None:
        raise NothingToCheckError("a closed loop: no rate was set")
    delay_us = recorded(asked.start_delay_mean_us, "how late transactions began though a client was idle")
    late = delay_us / recorded(load.latency_us, "the mean latency").mean
    if late > DELAY_NOTED:
        yield problem(
            "warning" if late > DELAY_WARNED else "note",
            "transactions began {delay} late though a client was idle: {share:.1f} of their latency is "
            "the load generator's own",
            delay=us(delay_us),
            share=share(late),
        )


@check(
    "operations",
    reason="A part of a job that met errors did less than planned, and a skipped part did nothing. If a part "
    "was cut short, its time is computed, not measured.",
    remedy="read the server's log; with a larger `limit_s` or a smaller `scale` in `[workloads.NAME]` every "
    "part is measured to its end",
    source="sql-bench's own output, which marks estimated times",
    elsewhere="read the server's log; with a higher `--time-limit` every part is measured to its end",
)
def operations(evidence: Evidence) -> Iterator[Said]:
    """Find a job's parts with errors, those that were skipped, and those whose time is extrapolated."""
    parts = evidence.load.operations
    if not parts:
        raise NothingToCheckError("no job of several parts")
    if wrong := [part for part in parts if part.errors]:
        yield invalid(
            "{errors} errors in {parts}: what they did is not what was planned",
            errors=sum(part.errors for part in wrong),
            parts=_names(wrong),
        )
    if cut := [part for part in parts if part.estimated]:
        yield note("cut short, and their time extrapolated: {parts}", parts=_names(cut))
    for reason in dict.fromkeys(part.skipped for part in parts if part.skipped):
        skipped = [part for part in parts if part.skipped == reason]
        yield note("skipped, and in no total: {parts} ({why})", "", parts=_names(skipped), why=reason)


WHOLE_TEST = "all"
"""The name of a part that is a whole test of sql-bench."""


def _names(parts: list[Operation]) -> list[str]:
    return list(dict.fromkeys(part.test if part.name == WHOLE_TEST else part.name for part in parts))


MOST_UNSENT = 0.01
"""Of the statements."""

MOST_REFUSED = 0.01
"""Of the statements sent: more refusals than the log has are those of other data."""

MOST_OTHER_ROWS = 0.1
"""Of the replies whose rows the log has. Sessions that overlap see each other's rows in either order."""

OWN_LATENESS_S = 0.005
"""Of 99 statements in 100: about a commit on a fast disk."""

ASKED_FOR = ("of another database", "no mere read, and only reads were asked for")
"""Reasons that the study gives."""


def _certificate(evidence: Evidence) -> Certificate:
    if evidence.load.replay is None:
        raise NothingToCheckError("no replay of a log")
    return evidence.load.replay


@check(
    "replay-data",
    reason="Statements that fail, or find other rows than in the log, do other work: the data are not those "
    "of the log.",
    remedy="begin with the data as they were when the log began: `prepare` with a dump of that moment",
    source="diskproof: refusals and rows of each reply beside those in the log",
)
def same_data(evidence: Evidence) -> Iterator[Said]:
    """Find replies that differ from the log's."""
    said = _certificate(evidence)
    if said.sent and said.refusals_in_replay_only > MOST_REFUSED * said.sent:
        yield invalid(
            "the server refused {refused:.1f} of the statements, which it did not in the log",
            refused=share(said.refusals_in_replay_only / said.sent),
        )
    if said.rows_different > MOST_OTHER_ROWS * said.rows_compared:
        yield invalid(
            "{different:.1f} of the replies had other rows than in the log",
            different=share(said.rows_different / said.rows_compared),
        )


@check(
    "replay-sent",
    reason="Statements that are left out are load that the server did not have.",
    remedy="see which statements leave the database, and whether connections were lost",
    source="diskproof: at most 1 statement in 100",
)
def sent(evidence: Evidence) -> Iterator[Said]:
    """Find statements that were not sent for a reason that the study does not give."""
    said = _certificate(evidence)
    wanted = said.statements - sum(said.left_out.get(reason, 0) for reason in ASKED_FOR)
    if wanted and wanted - said.sent > MOST_UNSENT * wanted:
        yield invalid("{unsent:.1f} of the statements were not sent", unsent=share(1 - said.sent / wanted))


@check(
    "replay-late",
    reason="A replayer that is behind the log's times by its own fault makes another load.",
    remedy="replay slower or fewer sessions, leave the machine alone, or put the load on another machine",
    source="diskproof: 5 ms for 99 statements in 100",
)
def replayer(evidence: Evidence) -> Iterator[Said]:
    """Find a replayer that could not keep the log's times."""
    said = _certificate(evidence)
    if said.speed is not None and said.own_us.p99 > OWN_LATENESS_S * 1e6:
        yield invalid(
            "1 in 100 statements was sent {late} late or more by the load generator's own fault",
            late=duration(said.own_us.p99 / 1e6),
        )


@check(
    "replay-order",
    reason="Commits in another order than in the log may leave other rows.",
    remedy="none: sessions that overlapped in the log may change places",
    source="diskproof: commits by their ends in the log",
)
def order(evidence: Evidence) -> Iterator[Said]:
    """Find an order of commits that was given up."""
    said = _certificate(evidence)
    if said.gave_up_order:
        yield warning(
            "{count} statements did not wait any longer for commits before them", count=said.gave_up_order
        )


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
