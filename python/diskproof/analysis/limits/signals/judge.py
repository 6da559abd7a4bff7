"""How figures become signals.

A wait speaks for a limit from half of a transaction's time on, and against it up to a fifth. A centre that
serves one at a time, or a set of CPUs, speaks for it from 85% of its time on, and against it up to 30%
(`evidence.py` has the reasons); with a single client its share of time is that of the transaction.
"""

from collections.abc import Iterator, Sequence

from diskproof.analysis.evidence import FULL_SHARE, IDLE_SHARE
from diskproof.analysis.limits.disks import Disk
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.shapes import Instrument, Signal
from diskproof.analysis.limits.split import digits_of
from diskproof.analysis.limits.words import share
from diskproof.results.limit import Limit
from diskproof.server.postgresql.waits import limit_of

MOST = 0.5
"""From half of the time on nothing else can take more."""

LITTLE = 0.2
"""What takes up to a fifth of the time would give at most a quarter more if it were gone (Amdahl's law)."""


AGE_OF_STALLS = 0.9
"""Of what the log can hold before clients must wait: so near to that, pages are written at any price."""

PRESSED = 0.95
"""Of what the log can hold before clients must wait. InnoDB writes pages as fast as it can from seven eighths
of that on (`max_modified_age_async`): where the log is fuller in the mean, it cannot keep up."""


def by_time(limit: Limit, instrument: Instrument, of_time: float, says: str) -> Iterator[Signal]:
    """Judge a share of a transaction's time."""
    if of_time >= MOST:
        yield supports(limit, instrument, says)
    elif of_time <= LITTLE:
        yield against(limit, instrument, says)


def by_busy(seen: Observed, limit: Limit, instrument: Instrument, busy: float, says: str) -> Iterator[Signal]:
    """Judge the share of time in which a centre that serves one at a time was busy."""
    if busy >= (MOST if seen.inside == 1 else FULL_SHARE):
        yield supports(limit, instrument, says)
    elif busy <= (LITTLE if seen.inside == 1 else IDLE_SHARE):
        yield against(limit, instrument, says)


def supports(limit: Limit, instrument: Instrument, says: str) -> Signal:
    """Return a signal that speaks for a limit."""
    return Signal(limit=limit, instrument=instrument, supports=True, says=says)


def against(limit: Limit, instrument: Instrument, says: str) -> Signal:
    """Return a signal that speaks against a limit."""
    return Signal(limit=limit, instrument=instrument, supports=False, says=says)


def sessions(seen: Observed, limit: Limit) -> float | None:
    """Return how many sessions waited for what a limit is about; None where the server does not tell."""
    return seen.sessions(lambda name: limit_of(name) == limit)


def of_clients(seen: Observed, count: float) -> str:
    """Say how many of the clients' sessions: ``6.2 of 8``."""
    return f"{digits_of(count)} of {seen.clients}"


def full_log(seen: Observed) -> str | None:
    """Say how full the log is where clients wait for pages to be written because of it; None elsewhere."""
    age = seen.account(lambda account: account.checkpoint_age_mean)
    if age is None or age < PRESSED:
        return None
    return (
        f"the log is in the mean {share(min(age, 1.0))} of the way to where clients must wait for page writes"
    )


def names(disks: Sequence[Disk]) -> str:
    """Name disks."""
    return " and ".join(one.name for one in disks)
