"""SHOW GLOBAL STATUS as somebody printed it, once or before and after a load: what it says of that time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diskproof.families.mysql import MYSQL
from diskproof.families.mysql.account import account
from diskproof.families.samples import Samples, Status
from diskproof.results.usage import ServerAccount

MOST_DIGITS = 20
"""Of a counter: the largest is 2^64 - 1."""


@dataclass(frozen=True)
class Counted:
    """What a server counted over a while; a figure that it does not report is None."""

    since_start: bool
    """Whether the while began with the server's start, and so covers more than one load."""
    seconds: float | None
    """How long the while was, by ``Uptime``."""
    statements: int | None
    """Statements of all clients (``Queries``, or ``Questions`` if there is nothing else)."""
    flushes: int | None
    """Flushes of all of InnoDB's files, the log among them."""
    account: ServerAccount


def counted(readings: Sequence[Mapping[str, str]]) -> Counted | None:
    """Return what was counted since the start of the server, or between the first and the last reading.

    None if several have no order (``Uptime``), or are of two starts of the server.
    """
    statuses = [
        MYSQL.status((name, value) for name, value in reading.items() if len(value) <= MOST_DIGITS)
        for reading in readings
    ]
    if len(statuses) == 1:
        first = Status(counters=dict.fromkeys(statuses[0].counters, 0.0), gauges={})
        samples = [(0.0, first), (statuses[0].gauges.get("Uptime", 0.0), statuses[0])]
    else:
        if any("Uptime" not in one.gauges for one in statuses):
            return None
        in_order = sorted(statuses, key=lambda one: one.gauges["Uptime"])
        samples = [(one.gauges["Uptime"], one) for one in (in_order[0], in_order[-1])]
        begun_again = any(
            after < samples[0][1].counters.get(name, 0.0) for name, after in samples[1][1].counters.items()
        )
        if begun_again or samples[0][0] == samples[1][0]:
            return None
    between = Samples(samples)
    statements = between.count("Queries")
    return Counted(
        since_start=len(statuses) == 1,
        seconds=samples[1][0] - samples[0][0] or None,
        statements=between.count("Questions") if statements is None else statements,
        flushes=between.count("Innodb_data_fsyncs"),
        account=account(between),
    )
