"""Checks of loads that are not a closed loop: jobs, and those at a rate of their own."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, check
from diskproof.audit.load import DELAY_NOTED, DELAY_WARNED
from diskproof.results.load import Operation
from diskproof.results.record import format_figure, recorded


@check(
    "rate",
    reason="Where transactions come faster than they are served, latency only tells how long one has "
    "measured.",
    remedy="a lower `rate` in `[workloads.NAME]`, or more `clients` where the server has idle capacity",
    source="Schroeder, Wierman and Harchol-Balter, Open Versus Closed, NSDI 2006",
    elsewhere="a lower rate, or more clients where the server has idle capacity",
    bars_from="invalid",
)
def rate(evidence: Evidence) -> Iterator[Said]:
    """Find a rate that was not held, and one that the load generator itself was late to serve."""
    load, asked = evidence.load, evidence.load.rate
    if asked is None:
        yield Apart("a closed loop: no rate was set")
        return
    if not asked.held:
        yield Problem(
            "invalid",
            f"the rate of {asked.asked_per_s:,.10g} transactions/s was not held: "
            f"{format_figure(asked.achieved_per_s)} "
            f"completed in a second, up to {asked.most_waiting:,} waited for a client, the first for "
            f"{format_figure(asked.most_behind_s, 2)} s, and {asked.waiting:,} still waited at the end",
        )
    delay_us = recorded(asked.start_delay_mean_us, "how late transactions began though a client was idle")
    late = delay_us / recorded(load.latency_us, "the mean latency").mean
    if late > DELAY_NOTED:
        yield Problem(
            "warning" if late > DELAY_WARNED else "note",
            f"transactions began {delay_us:.0f} us late though a client was idle, "
            f"{late:.1%} of their latency: the load generator's own",
            "a quieter machine, or one with more CPUs",
        )


@check(
    "operations",
    reason="A part of a job that met errors has done less than was planned, one that was skipped nothing, "
    "and of one that was cut short the time is worked out, not measured.",
    remedy="read the server's log; a larger `limit_s` or a smaller `scale` in `[workloads.NAME]` leaves "
    "nothing to be worked out",
    source="sql-bench's own output, which marks estimated times",
    elsewhere="read the server's log; a higher `--time-limit` leaves nothing to be worked out",
)
def operations(evidence: Evidence) -> Iterator[Said]:
    """Find a job's parts with errors, those that were skipped, and those whose time is extrapolated."""
    parts = evidence.load.operations
    if not parts:
        yield Apart("no job of several parts")
    if wrong := [part for part in parts if part.errors]:
        errors = sum(part.errors for part in wrong)
        what = f"{errors:,} errors in {_named(wrong)}"
        yield Problem("invalid", f"{what}: what they did is not what was planned")
    if cut := [part for part in parts if part.estimated]:
        yield Problem("note", f"cut short, and their time extrapolated: {_named(cut)}")
    for reason in dict.fromkeys(part.skipped for part in parts if part.skipped):
        skipped = [part for part in parts if part.skipped == reason]
        yield Problem("note", f"skipped, and in no total: {_named(skipped)} ({reason})", "")


def _named(parts: list[Operation], most: int = 6) -> str:
    names = list(dict.fromkeys(part.name for part in parts))
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
