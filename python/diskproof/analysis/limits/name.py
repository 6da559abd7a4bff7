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
    """Return how many more instruments speak for a limit than against; None where it is not established."""
    speak, oppose = _instruments(signals, limit, True), _instruments(signals, limit, False)
    return len(speak) - len(oppose) if len(speak) >= NEEDED and len(speak) > len(oppose) else None


def _instruments(signals: Sequence[Signal], limit: Limit, supports: bool) -> list[Instrument]:
    found = [one.instrument for one in signals if one.limit == limit and one.supports == supports]
    return list(dict.fromkeys(found))


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
        {one.limit for one in speaking}, key=lambda limit: -len(_instruments(signals, limit, True))
    )
    first = limits[0]
    speaks = next(one for one in speaking if one.limit == first)
    opposes = next((one for one in signals if one.limit == first and not one.supports), None)
    said = f"by the {speaks.instrument} it were {plain(first)} ({speaks.says})"
    if opposes is not None:
        return f"{said}, but not by the {opposes.instrument} ({opposes.says})"
    return f"{said}, and no second instrument says so"


def _nothing_stands_out(split: Split | None) -> str:
    if split is None or not split.parts:
        return "nothing that was recorded is busy most of the time"
    largest = sorted(split.parts, key=lambda part: -part.mean_us)[:3]
    told = [f"{part.name} {share(part.mean_us / split.latency_us)}" for part in largest]
    open_us = split.unexplained_us
    if open_us > 0:
        told.append(f"not explained {share(open_us / split.latency_us)}")
    return f"nothing takes most of a transaction's time ({', '.join(told)})"
