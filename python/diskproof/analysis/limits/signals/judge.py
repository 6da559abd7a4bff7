"""All signals of a cell, and how figures become signals.

A wait supports a limit from half of a transaction's time on, and contradicts it up to a fifth. A centre that
serves one at a time, or a set of CPUs supports it from 85% of its time on, and contradicts it up to 30%. With
a single client its share of time is that of the transaction (`thresholds.py` has the reasons).
"""

from collections.abc import Iterator

from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Instrument, Signal
from diskproof.analysis.limits.thresholds import FULL_SHARE, IDLE_SHARE, LITTLE, LOG_IS_FULL, MOST
from diskproof.results.limit import Limit
from diskproof.wording import Message, say, share


def supports(limit: Limit, instrument: Instrument, says: Message) -> Signal:
    """Return a signal for a limit."""
    return Signal(limit=limit, instrument=instrument, supports=True, says=says)


def against(limit: Limit, instrument: Instrument, says: Message) -> Signal:
    """Return a signal against a limit."""
    return Signal(limit=limit, instrument=instrument, supports=False, says=says)


def by_time(limit: Limit, instrument: Instrument, of_time: float, says: Message) -> Iterator[Signal]:
    """Judge a share of a transaction's time."""
    if of_time >= MOST:
        yield supports(limit, instrument, says)
    elif of_time <= LITTLE:
        yield against(limit, instrument, says)


def by_busy(
    seen: Observed, limit: Limit, instrument: Instrument, busy: float, says: Message
) -> Iterator[Signal]:
    """Judge the busy share of a centre that serves one at a time."""
    if busy >= (MOST if seen.inside == 1 else FULL_SHARE):
        yield supports(limit, instrument, says)
    elif busy <= (LITTLE if seen.inside == 1 else IDLE_SHARE):
        yield against(limit, instrument, says)


def by_sessions(seen: Observed, limit: Limit, form: str) -> Iterator[Signal]:
    """Judge the number of sessions that waited; the form has the gaps ``{n:2}`` and ``{clients}``."""
    waiting = seen.waiting[limit]
    says = say(form, n=waiting, clients=seen.clients)
    yield from by_time(limit, "server", waiting / seen.clients, says)


def full_log(seen: Observed) -> Message | None:
    """Say how full the log is if clients wait for page writes because of it."""
    age = seen.account.checkpoint_age_mean
    if age is None or age < LOG_IS_FULL:
        return None
    form = "the log is on average {age} of the way to where clients must wait for page writes"
    return say(form, age=share(min(age, 1.0)))
