"""Which limit a cell has, by what speaks for and against each; none where that is not established."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from diskproof.analysis.limits.shapes import Instrument, PartName, Signal, Split
from diskproof.analysis.limits.words import plain, share
from diskproof.analysis.words import listed
from diskproof.results.limit import Limit

NEEDED = 2
"""Instruments that must agree: one alone may be wrong, and no other would show it."""

OF_A_DISK: tuple[Limit, ...] = ("log flush", "data reads", "page writes", "disk")
"""Limits of which kernel and virtual disk tell as one: they time the same requests on the same wire."""

WAITED_FOR: tuple[Limit, ...] = ("log flush", "data reads", "page writes", "locks")
"""Limits that hold clients back by a wait: a disk may be as busy for somebody for whom nobody waits."""

WHO_WAITS: tuple[Instrument, ...] = ("clients", "server", "threads")

CLEARLY = 1.5
"""By how many times one limit's part must be larger than another's, where as much speaks for both."""

PARTS: dict[Limit, tuple[PartName, ...]] = {
    "log flush": ("log flush",),
    "data reads": ("data reads",),
    "page writes": ("page writes",),
    "CPU": ("CPU", "waiting for a CPU"),
    "locks": ("locks",),
    "load generator": ("load generator",),
}


@dataclass(frozen=True)
class Named:
    """A limit with what speaks for it, or why there is none."""

    limit: Limit | None
    signals: list[Signal]
    """All of the cell: those that speak for the limit first, then those against it, then the others."""
    missing: str = ""
    """Why none is named."""


def name_limit(signals: Sequence[Signal], split: Split | None) -> Named:
    """Return the limit that two instruments agree on and that less speaks against.

    Of a set rate and of a load generator that uses most of the CPUs that is the answer, whatever else is busy
    because of it. Where two limits have as much for them, a transaction's time decides, if it is clear.
    """
    standing = {limit: found for limit in get_args(Limit) if (found := _standing(signals, limit)) is not None}
    for first in ("arrivals", "load generator"):
        if first in standing:
            return Named(first, _sorted(signals, first))
    if not standing:
        return Named(None, list(signals), _what_is_missing(signals, split))
    most = max(standing.values())
    best = [limit for limit, support in standing.items() if support == most]
    chosen = best[0] if len(best) == 1 else _by_time(best, split)
    if chosen is None:
        return Named(None, list(signals), f"as much speaks for {listed([plain(one) for one in best])}")
    return Named(chosen, _sorted(signals, chosen))


def _standing(signals: Sequence[Signal], limit: Limit) -> int | None:
    """Return how many more instruments speak for a limit than against; None where it is not established.

    What is waited for has to be told by somebody who waits, and never against the clients' own clock: of a
    COMMIT that takes a fifth of a transaction no flush can take more.
    """
    speak, oppose = _instruments(signals, limit, True), _instruments(signals, limit, False)
    if limit in WAITED_FOR and ("clients" in oppose or not set(speak) & set(WHO_WAITS)):
        return None
    pro, contra = len(_voices(speak, limit)), len(_voices(oppose, limit))
    return pro - contra if pro >= NEEDED and pro > contra else None


def _instruments(signals: Sequence[Signal], limit: Limit, supports: bool) -> list[Instrument]:
    found = [one.instrument for one in signals if one.limit == limit and one.supports == supports]
    return list(dict.fromkeys(found))


def _voices(instruments: Sequence[Instrument], limit: Limit) -> set[Instrument]:
    """Return instruments with those as one that look at the same thing by the same way."""
    one = limit in OF_A_DISK
    return {"kernel" if one and name == "virtual disk" else name for name in instruments}


def _by_time(limits: Sequence[Limit], split: Split | None) -> Limit | None:
    if split is None:
        return None
    taken = sorted(((_time_of(split, limit), limit) for limit in limits), reverse=True)
    return taken[0][1] if taken[0][0] > CLEARLY * taken[1][0] else None


def _time_of(split: Split, limit: Limit) -> float:
    return sum(part.mean_us for part in split.parts if part.name in PARTS.get(limit, ()))


def _sorted(signals: Sequence[Signal], limit: Limit) -> list[Signal]:
    return sorted(signals, key=lambda one: (one.limit != limit, not one.supports))


def _what_is_missing(signals: Sequence[Signal], split: Split | None) -> str:
    """Say what speaks for a limit and why that is not enough, or that nothing takes most of the time."""
    speaking = [one for one in signals if one.supports]
    if not speaking:
        return _nothing_stands_out(split)
    limits = sorted(
        dict.fromkeys(one.limit for one in speaking),  # in their order, lest a report differ from the last
        key=lambda limit: -len(_voices(_instruments(signals, limit, True), limit)),
    )
    first = limits[0]
    speaks = next(one for one in speaking if one.limit == first)
    against = [one for one in signals if one.limit == first and not one.supports]
    opposes = next((one for one in against if one.instrument == "clients"), next(iter(against), None))
    said = f"{_who(speaks.instrument)} {_verb(speaks.instrument, 'point')} to {plain(first)} ({speaks.says})"
    if opposes is not None:
        speaks_not = f"{_who(opposes.instrument)} {_verb(opposes.instrument, 'contradict')} that"
        return f"{said}, but {speaks_not} ({opposes.says})"
    if first in WAITED_FOR and speaks.instrument not in WHO_WAITS:
        return f"{said}, but nothing that was observed shows that clients wait for it"
    return f"{said}, but no second instrument confirms it"


def _who(instrument: Instrument) -> str:
    return f"the {instrument}"


def _verb(instrument: Instrument, verb: str) -> str:
    return verb if instrument in ("clients", "threads") else f"{verb}s"


def _nothing_stands_out(split: Split | None) -> str:
    if split is None or not split.parts:
        return "nothing that was recorded is busy most of the time"
    largest = sorted(split.parts, key=lambda part: -part.mean_us)[:3]
    told = [f"{part.name} {share(part.mean_us / split.latency_us)}" for part in largest]
    open_us = split.unexplained_us
    if open_us > 0:
        told.append(f"not explained {share(open_us / split.latency_us)}")
    return f"nothing takes most of a transaction's time ({', '.join(told)})"
