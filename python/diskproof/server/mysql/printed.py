"""SHOW GLOBAL STATUS as somebody printed it, once or before and after a load: what it says of that while."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diskproof.results.usage import ServerAccount
from diskproof.server.mysql.account import account
from diskproof.server.mysql.status import status
from diskproof.server.samples import Samples, Status


@dataclass(frozen=True)
class Counted:
    """What a server counted of a while; None each where it does not tell."""

    since_start: bool
    """Whether the while began with the server's start, and so holds more than any one load."""
    seconds: float | None
    """How long the while was, by ``Uptime``."""
    statements: int | None
    """Statements of all clients (``Queries``, or ``Questions`` where that is all)."""
    flushes: int | None
    """Flushes of all of InnoDB's files, the log among them."""
    account: ServerAccount


def counted(readings: Sequence[Mapping[str, str]]) -> Counted | None:
    """Return what one reading says since the server's start, or the first and the last of several between.

    None where several do not tell their order (``Uptime``), or are of two starts of the server.
    """
    told = [status(_of_bounded_size(reading)) for reading in readings]
    if len(told) == 1:
        first = Status(counters=dict.fromkeys(told[0].counters, 0.0), gauges={})
        samples = [(0.0, first), (told[0].gauges.get("Uptime", 0.0), told[0])]
    else:
        if any("Uptime" not in one.gauges for one in told):
            return None
        in_order = sorted(told, key=lambda one: one.gauges["Uptime"])
        samples = [(one.gauges["Uptime"], one) for one in (in_order[0], in_order[-1])]
        begun_again = any(
            after < samples[0][1].counters.get(name, 0.0) for name, after in samples[1][1].counters.items()
        )
        if begun_again or samples[0][0] == samples[1][0]:
            return None
    between = Samples(samples)
    statements = between.count("Queries")
    return Counted(
        since_start=len(told) == 1,
        seconds=samples[1][0] - samples[0][0] or None,
        statements=between.count("Questions") if statements is None else statements,
        flushes=between.count("Innodb_data_fsyncs"),
        account=account(between),
    )


MOST_DIGITS = 20
"""The largest counter is 2^64 - 1."""


def _of_bounded_size(reading: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what can be a counter; longer digits are no server's."""
    return [(name, value) for name, value in reading.items() if len(value) <= MOST_DIGITS]
