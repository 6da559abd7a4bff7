"""Checks of loads that are not a closed loop: jobs, and loads at a set rate."""

from collections.abc import Iterator

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
from diskproof.results.load import Operation
from diskproof.results.record import recorded
from diskproof.wording import per_s, say, seconds, share, us

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
