"""Which limit a cell has, by what supports and contradicts each; none if that is not established."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from diskproof.analysis.limits.records import Instrument, Signal, Split
from diskproof.analysis.limits.thresholds import CLEARLY, INSTRUMENTS_NEEDED, LITTLE
from diskproof.results.limit import IN_WORDS, Limit
from diskproof.wording import NOTHING, Message, say, share

OF_A_DISK: tuple[Limit, ...] = ("log flush", "data reads", "page writes", "disk")
"""Limits for which kernel and virtual disk count as one: they time the same requests on the same wire."""

WAITED_FOR: tuple[Limit, ...] = ("log flush", "data reads", "page writes", "locks", "network")
"""Limits that hold clients back by a wait: a disk may be as busy while no client waits for it."""

WHO_WAITS: tuple[Instrument, ...] = ("clients", "server", "threads")

OBSERVED_BY: dict[Instrument, str] = {
    "clients": "the clients' times",
    "server": "the server's figures",
    "kernel": "the kernel's counters",
    "threads": "samples of the threads",
    "virtual disk": "the virtual disk's figures",
}
"""What each instrument observes, as a plural."""


@dataclass(frozen=True)
class Established:
    """A limit with what supports it, or why there is none."""

    limit: Limit | None
    signals: list[Signal]
    """All of the cell: those that support it first, then those that contradict it, then the others."""
    missing: Message = NOTHING
    """Why no limit is established."""


def establish(signals: Sequence[Signal], split: Split | None, taken: float = 0.0) -> Established:
    """Return the limit that two instruments agree on and that fewer contradict.

    A set rate, or a load generator that uses most of the CPUs, is the answer whatever else is busy. If two
    limits have equal support, a transaction's time decides, if it is clear. CPUs are no limit of the database
    if other work had a fifth of them (`taken`).
    """
    support = {limit: found for limit in get_args(Limit) if (found := _support(signals, limit)) is not None}
    for first in ("arrivals", "load generator"):
        if first in support:
            return Established(first, _sorted(signals, first))
    if not support:
        return Established(None, list(signals), _what_is_missing(signals, split))
    best = [limit for limit, found in support.items() if found == max(support.values())]
    chosen = best[0] if len(best) == 1 else _by_time(best, split)
    if chosen == "CPU" and taken >= LITTLE:
        others = say("other work on the machine took {taken} of the CPUs", taken=share(taken))
        return Established(None, list(signals), others)
    if chosen is None:
        equal = say("{limits} have equal support", limits=[IN_WORDS[one] for one in best])
        return Established(None, list(signals), equal)
    if chosen == "locks" and split and (part := split.part("locks") / split.latency_us) < LITTLE / 2:
        little = say("threads wait for one another, but locks take {part} of the time", part=share(part))
        return Established(None, list(signals), little)
    return Established(chosen, _sorted(signals, chosen))


def _support(signals: Sequence[Signal], limit: Limit) -> int | None:
    """Return how many more instruments support a limit than contradict it; None if it is not established.

    An instrument that waits must report a wait, and the clients' own clock must not contradict it. If COMMIT
    takes a fifth of a transaction, no flush can take more.
    """
    support, oppose = (
        _instruments(signals, limit, supports=True),
        _instruments(signals, limit, supports=False),
    )
    if limit in WAITED_FOR and ("clients" in oppose or not support & set(WHO_WAITS)):
        return None
    pro, contra = _count(support, limit), _count(oppose, limit)
    return pro - contra if pro >= INSTRUMENTS_NEEDED and pro > contra else None


def _instruments(signals: Sequence[Signal], limit: Limit, *, supports: bool) -> set[Instrument]:
    return {one.instrument for one in signals if one.limit == limit and one.supports == supports}


def _count(instruments: set[Instrument], limit: Limit) -> int:
    """Count instruments; kernel and virtual disk are one if the limit is of a disk."""
    one = limit in OF_A_DISK and {"kernel", "virtual disk"} <= instruments
    return len(instruments) - one


def _by_time(limits: Sequence[Limit], split: Split | None) -> Limit | None:
    if split is None:
        return None
    taken = sorted(((split.at(limit), limit) for limit in limits), reverse=True)
    return taken[0][1] if taken[0][0] > CLEARLY * taken[1][0] else None


def _sorted(signals: Sequence[Signal], limit: Limit) -> list[Signal]:
    return sorted(signals, key=lambda one: (one.limit != limit, not one.supports))


def _what_is_missing(signals: Sequence[Signal], split: Split | None) -> Message:
    """Say what supports a limit and why that is not enough, or that nothing takes most of the time."""
    supporting = [one for one in signals if one.supports]
    if not supporting:
        return _nothing_stands_out(split)
    # The most instruments; of equal ones the first.
    first = max(
        supporting, key=lambda one: _count(_instruments(signals, one.limit, supports=True), one.limit)
    )
    opposing = [one for one in signals if one.limit == first.limit and not one.supports]
    opposes = next((one for one in opposing if one.instrument == "clients"), next(iter(opposing), None))
    points = say(
        "{who} point to {limit} ({figures})",
        who=OBSERVED_BY[first.instrument],
        limit=IN_WORDS[first.limit],
        figures=first.says,
    )
    if opposes is not None:
        return say(
            "{points}, but {who} contradict that ({against})",
            points=points,
            who=OBSERVED_BY[opposes.instrument],
            against=opposes.says,
        )
    if first.limit in WAITED_FOR and first.instrument not in WHO_WAITS:
        return say("{points}, but nothing that was observed shows that clients wait for it", points=points)
    return say("{points}, but no second measurement confirms it", points=points)


def _nothing_stands_out(split: Split | None) -> Message:
    if split is None or not split.parts:
        return say("nothing that was recorded is busy most of the time")
    largest = sorted(split.parts, key=lambda part: -part.mean_us)[:3]
    shares = [(str(part.name), part.mean_us) for part in largest]
    if split.unexplained_us > 0:
        shares.append(("not explained", split.unexplained_us))
    return say(
        "nothing takes most of a transaction's time ({parts:/, })",
        parts=[say("{name} {part}", name=name, part=share(one / split.latency_us)) for name, one in shares],
    )
