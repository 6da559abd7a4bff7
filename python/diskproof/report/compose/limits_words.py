"""How a limit is said: under a verdict, in a cell, in a split of time."""

import re
from collections.abc import Sequence
from typing import NamedTuple, get_args

from diskproof.analysis.answers import Analysis
from diskproof.analysis.limits.records import CellLimit, PartName, Split
from diskproof.analysis.limits.thresholds import LITTLE
from diskproof.report.compose.head import work
from diskproof.results.limit import IN_WORDS, Limit
from diskproof.stats.grouping import grouped
from diskproof.wording import together
from diskproof.wording.numbers import NOT_OBSERVED, whole_percent

TITLE = "What holds it back"

NOT_ESTABLISHED = "not established"

UNEXPLAINED = "unexplained"

PARTS: tuple[PartName, ...] = get_args(PartName)

ROUNDING = 1e-6
"""Of a latency: parts that differ from it by less add up to it."""

MOST_PARTS = 3
"""Parts of a transaction's time that are named on one line."""

SMALL_SHARE = 0.01

LEAST_SHARE = 0.4
"""Of the time: what takes less of it is not named where nothing is proven. A judgement."""

BRACKETS, FIGURES = re.compile(r" \((?:[^()]|\([^()]*\))*\)"), re.compile(r"[\d.,]+")


# ---------------------------------------------------------------- cells


def bound_by(one: CellLimit) -> str:
    """Return a limit in words. `CPU` has two forms: all CPUs are busy, or one thread runs no faster."""
    if one.limit is None:
        return NOT_ESTABLISHED
    return one.bound_by.text if one.limit == "CPU" else IN_WORDS[one.limit]


class Held(NamedTuple):
    """What holds a cell back."""

    limit: Limit
    words: str
    share: float | None
    """Of a transaction's time; None if that is not known."""


def held_by(one: CellLimit) -> Held | None:
    """Return a cell's limit, or else what takes most of its time; None if neither is known."""
    if one.limit:
        # Which logs: not all levels wait for the same.
        words = one.bound_by.text if one.limit == "log flush" else IN_WORDS[one.limit]
        return Held(one.limit, words, one.share_of_time)
    largest = _largest_part(one.split)
    if largest is None:
        return None
    shares, others = dict(_shares(one.split)), one.others_cpu_share or 0.0
    waits = shares.get("waiting for a CPU", 0.0) > shares.get("CPU", 0.0) and others >= LITTLE
    words = "CPUs busy with other work" if largest[0] == "CPU" and waits else IN_WORDS[largest[0]]
    return Held(largest[0], words, min(largest[1], 1.0))


def why_open(cells: Sequence[CellLimit]) -> str:
    """Return the most frequent reason why cells have no limit; empty if no cell has any."""
    every = grouped((one.missing for one in cells), lambda one: FIGURES.sub("", BRACKETS.sub("", one.text)))
    alike = max(every.values(), key=len)
    text = BRACKETS.sub("", together(alike).text).partition("; ")[0]
    return f"{text}, in {len(alike)} of {len(cells)}" if text and len(alike) < len(cells) else text


# ---------------------------------------------------------------- time in parts


def split_title(analysis: Analysis) -> str:
    """Return the heading of all that splits time: a load on bare files has requests, no transactions."""
    return f"Where the time of a {work(analysis.plan)} goes"


def parts(split: Split) -> list[tuple[str, float]]:
    """Return the parts of a transaction's time in µs, what is unexplained last."""
    return [*((part.name, part.mean_us) for part in split.parts), (UNEXPLAINED, unexplained_us(split))]


def unexplained_us(split: Split) -> float:
    """Return what no part explains, without rounding errors; below 0 the parts overlap."""
    left = split.unexplained_us
    return 0.0 if abs(left) <= ROUNDING * split.latency_us else left


def main_parts(split: Split | None) -> str:
    """Return the largest parts of a transaction's time: ``log flush 93%, CPU 4%``."""
    largest = [f"{name} {whole_percent(part)}" for name, part in _shares(split)[:MOST_PARTS]]
    return ", ".join(largest) or NOT_OBSERVED


def _largest_part(split: Split | None) -> tuple[Limit, float] | None:
    """Return the limit whose parts take most time, and their share; None if that is little or not known."""
    shares = dict(_shares(split))
    shares["CPU"] = shares.get("CPU", 0.0) + shares.pop("waiting for a CPU", 0.0)
    largest = max(shares, key=shares.__getitem__)
    share = shares[largest]
    return next(((one, share) for one in IN_WORDS if one == largest and share >= LEAST_SHARE), None)


def _shares(split: Split | None) -> list[tuple[str, float]]:
    """Return the shares of parts that are not small, the largest first."""
    if split is None or split.latency_us <= 0:
        return []
    shares = [(name, time_us / split.latency_us) for name, time_us in parts(split)]
    return sorted((one for one in shares if one[1] >= SMALL_SHARE), key=lambda one: -one[1])


def percents(low: float | None, high: float | None) -> str:
    """Return the ends of a share in percent: ``52 to 81%``, ``57%``; empty without any."""
    ends = dict.fromkeys(f"{100 * one:.0f}" for one in (low, high) if one is not None)
    return f"{' to '.join(ends)}%" if ends else ""
