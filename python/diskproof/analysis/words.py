"""The sentences of verdicts and comparisons, as a person would say them."""

import math
from collections.abc import Collection

from diskproof.results.factor import Factor
from diskproof.results.plan import NO_LEVEL, Cell, Metric
from diskproof.stats.intervals import Interval

TIMES_FROM = 2.0
"""From here on a ratio is said as "2.1 times", below as a percentage."""

WIDE_FROM = 1.25
"""Ratio of an interval's ends from which each number gets digits of its own."""

BARE_FILES = "bare files"
"""What stands where a cell has no server, and so neither tuning nor memory."""

ORDER_OF_CONDITIONS: tuple[Factor, ...] = ("server", "workload", "storage", "tuning", "memory", "clients")


def difference(subject: str, baseline: str, ratio: Interval) -> str:
    """Say a difference that was found: ``disk is 4.7 times slower than dram (0.212, 95% interval …)``.

    "a% slower" is 1 - x/y and "a% faster" x/y - 1, never one for the other.
    """
    return f"{subject} {verb(subject)} {_by_how_much(ratio.estimate)} {baseline} ({figures(ratio)})"


def sameness(subject: str, baseline: str, ratio: Interval, same_within: float) -> str:
    """Say that two levels are the same within the study's band."""
    return f"{subject} and {baseline} are the same within {percent(same_within)} ({figures(ratio)})"


def inconclusive(subject: str, baseline: str, ratio: Interval) -> str:
    """Say that the interval allows more than one answer."""
    return f"{subject} against {baseline} is inconclusive ({figures(ratio)})"


def by(metric: Metric) -> str:
    """Say by what two levels are compared, where "faster" alone would not."""
    return " by mean latency" if metric == "latency_mean_us" else ""


def common(parts: int, left_out: Collection[str]) -> str:
    """Say that two jobs were compared over the operations that both ran; nothing where those are all."""
    return f" over the {parts} operations that both ran" if left_out else ""


def estimated(rests_on_estimates: bool) -> str:
    """Say that the seconds compared are in part worked out, not measured."""
    return ", by partly extrapolated seconds" if rests_on_estimates else ""


def not_comparable(subject: str, baseline: str) -> str:
    """Say that there is no answer."""
    return f"{subject} and {baseline} are not comparable"


def figures(ratio: Interval) -> str:
    """Return a ratio with its interval: ``0.212, 95% interval 0.18 to 0.25``."""
    if ratio.low is None or ratio.high is None:
        return f"{digits(ratio.estimate, 3)}, without an interval"
    if ratio.high > ratio.low * WIDE_FROM:
        # Bounds so far apart have no decimal in common that tells something about both.
        estimate, low, high = digits(ratio.estimate, 3), digits(ratio.low, 2), digits(ratio.high, 2)
    else:
        decimals = _decimals(ratio.estimate, (ratio.high - ratio.low) / 2)
        estimate, low, high = (f"{value:.{decimals}f}" for value in (ratio.estimate, ratio.low, ratio.high))
    return f"{estimate}, {percent(ratio.confidence)} interval {low} to {high}"


def conditions(held: dict[Factor, str]) -> str:
    """Say what was held equal: `` on disk at safest with 8 clients``; nothing where nothing else varies."""
    said = [
        _condition(factor, held[factor])
        for factor in ORDER_OF_CONDITIONS
        if held.get(factor, NO_LEVEL) != NO_LEVEL  # a load on bare files is at no tuning
    ]
    return "".join(f" {one}" for one in said).replace("of memory with", "of memory and")


def subject(factor: Factor, level: str) -> str:
    """Return a level as the subject of a sentence: ``disk``, ``8 clients``."""
    if level == NO_LEVEL:
        return BARE_FILES
    if factor == "clients":
        return clients(level)
    return f"{level} of memory" if factor == "memory" else level


def cell_words(cell: Cell, varying: list[Factor]) -> str:
    """Return a cell by what varies in its study: ``disk, safest, 8 clients``; its storage if nothing."""
    levels = {factor: cell.level(factor) for factor in varying}
    said = [subject(factor, level) for factor, level in levels.items() if level != NO_LEVEL]
    return ", ".join(said) or cell.storage


def clients(level: str) -> str:
    """Return a number of clients in words."""
    return f"{level} {'client' if level == '1' else 'clients'}"


def percent(share: float) -> str:
    """Return a share as a percentage without needless digits: ``95%``, ``2.5%``."""
    return f"{share * 100:.3g}%"


def verb(subject_words: str) -> str:
    """Return "is" or "are", as the subject demands."""
    return "are" if subject_words.endswith(" clients") else "is"


def listed(words: list[str], most: int = 5) -> str:
    """Return a list as people write it, the rest counted: ``a, b and 7 more``."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _by_how_much(ratio: float) -> str:
    if ratio >= TIMES_FROM:
        return f"{_significant(ratio)} times as fast as"
    if ratio >= 1:
        return f"{_points(ratio - 1)} faster than"
    if 1 / ratio >= TIMES_FROM:
        return f"{_significant(1 / ratio)} times slower than"
    return f"{_points(1 - ratio)} slower than"


def digits(value: float, significant: int) -> str:
    """Return a positive number with so many significant digits, in plain notation where that is short."""
    if not 1e-4 <= value < 1e6:
        return f"{value:.{significant - 1}e}"
    decimals = significant - 1 - math.floor(math.log10(value))
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"


def _points(share: float) -> str:
    return f"{share * 100:.0f}%" if share >= 0.0995 else f"{share * 100:.1f}%"


def _significant(value: float) -> str:
    """Return two significant digits, and every digit before the point: ``4.7``, ``213``."""
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def _decimals(estimate: float, half_width: float) -> int:
    """Return so many decimals that an interval shows two significant digits, but never noise."""
    of_width = 1 - math.floor(math.log10(half_width)) if half_width > 0 else 3
    of_estimate = 1 - math.floor(math.log10(estimate))
    return max(0, min(of_width, max(3, of_estimate)))


def _condition(factor: Factor, level: str) -> str:
    match factor:
        case "clients":
            return f"with {clients(level)}"
        case "memory":
            return f"with {level} of memory"
        case "tuning":
            return f"at {level}"
        case "workload":
            return f"for {level}"
        case "server":
            return f"in {level}"
        case "storage":
            return f"on {level}"
