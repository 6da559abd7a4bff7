"""The sentences of verdicts and of comparisons of two runs, made of their figures."""

from collections.abc import Iterator, Mapping, Sequence

from diskproof.analysis.answers import CellComparison, Outcome, Verdict
from diskproof.results.factor import Factor
from diskproof.results.plan import NO_LEVEL, Cell
from diskproof.stats.boxes import Box, boxes
from diskproof.stats.intervals import Interval
from diskproof.study.servers import THEIRS
from diskproof.wording import numbers
from diskproof.wording.numbers import percent, significant

TIMES_FROM = 2.0
"""From here on a ratio is said as "2.1 times", below as a percentage."""

MOST_PLACES = 2
"""Conditions under which an outcome is said to be found; with more of them, its cells are counted."""

Levels = Mapping[Factor, str]

BARE_FILES = "bare files"
"""The name of a level of a cell that has no server."""

_PREPOSITIONS: dict[Factor, str] = {
    "server": "in",
    "workload": "for",
    "storage": "on",
    "tuning": "at",
    "memory": "with",
    "clients": "with",
    "host": "of host",
}
"""What a sentence says before each condition, in this order."""


def verdict(one: Verdict) -> str:
    """Return a verdict: ``disk against dram at safest: 4.7 times slower (4.1 to 5.5, 95% interval)``."""
    return f"{against(one)}{conditions(one.held)}: {result(one)}"


def result(one: Verdict | CellComparison) -> str:
    """Return what a comparison came to, and what must be known of it.

    "a% slower" is 1 - x/y and "a% faster" x/y - 1, never one for the other.
    """
    ratio = one.ratio
    said = amount(ratio.estimate) if ratio and one.outcome in ("faster", "slower") else one.outcome
    if ratio:
        ends = interval(one.outcome, ratio)
        said += f" ({ends}, {percent(ratio.confidence)} interval)" if ends else " (no interval)"
    by = " by mean latency" if one.metric == "latency_mean_us" else ""
    return "; ".join([f"{said}{by}", *reasons(one)])


def against(one: Verdict) -> str:
    """Return the two levels of a verdict: ``fast against safest``."""
    return f"{subject(one.factor, one.level)} against {subject(one.factor, one.baseline)}"


def reasons(one: Verdict | CellComparison) -> Iterator[str]:
    """Yield what must be known of a comparison besides its figures."""
    yield from (reason.text for reason in one.reasons)
    if isinstance(one, Verdict):
        extrapolated = one.extrapolated
        if one.common_operations is not None:
            yield f"over the {numbers.count(one.common_operations, 'operation')} that both ran"
    else:
        extrapolated = one.a_extrapolated or one.b_extrapolated
        yield from (change.text for change in one.settings)
    if extrapolated:
        yield "by partly extrapolated seconds"


def conditions(held: Mapping[Factor, str]) -> str:
    """Return what was held equal: `` on disk at `safest` with 8 clients``; empty if nothing else varies."""
    return at_levels({factor: (level,) for factor, level in held.items()})


def at_levels(held: Mapping[Factor, Sequence[str]]) -> str:
    """Return what was held to which levels: `` on disk and ssd at `safest` with 1 and 8 clients``."""
    # A load on bare files is at no tuning.
    levels = {factor: [one for one in held.get(factor, ()) if one != NO_LEVEL] for factor in _PREPOSITIONS}
    said = {factor: _PREPOSITIONS[factor] for factor in levels if levels[factor]}
    if "memory" in said and "clients" in said:
        said["clients"] = "and"  # with 1 GiB of memory and 8 clients
    return "".join(f" {word} {subjects(factor, levels[factor])}" for factor, word in said.items())


def where(found: Sequence[Box[Factor]]) -> str:
    """Return which cells some boxes hold: `` on disk at safest and on dram``; empty if all."""
    return " and".join(at_levels(box) for box in found)


def places(some: Sequence[Levels], every: Sequence[Levels], noun: str) -> str:
    """Return where some of all were found, by their levels; of more than `MOST_PLACES` only the number.

    `` on disk at safest``, `` in 3 of 8 comparisons``.
    """
    found = boxes(some, every)
    return where(found) if len(found) <= MOST_PLACES else f" in {len(some)} of {len(every)} {noun}"


def subjects(factor: Factor, levels: Sequence[str]) -> str:
    """Return levels in a sentence, ``1 and 8 clients``; one that may be called "fast" is marked as a name."""
    *others, last = [f"`{one}`" for one in levels] if factor in ("workload", "tuning") else levels
    return numbers.listed([*others, subject(factor, last)], len(levels))


def subject(factor: Factor, level: str) -> str:
    """Return a level as the subject of a sentence: ``disk``, ``8 clients``."""
    if level == NO_LEVEL:
        return BARE_FILES
    if factor == "clients":
        return clients(level)
    return f"{level} of memory" if factor == "memory" else level


def cell_words(cell: Cell, varying: Sequence[Factor]) -> str:
    """Return a cell by what varies in its study: ``disk, safest, 8 clients``; its storage if nothing."""
    said = ", ".join(subject(one, cell.level(one)) for one in varying if cell.level(one) != NO_LEVEL)
    return said or (cell.server if cell.storage == THEIRS else cell.storage)


def clients(level: str) -> str:
    """Return a number of clients with its noun."""
    return f"{level} {'client' if level == '1' else 'clients'}"


def by_how_much(*ratios: float, each: bool = False) -> str:
    """Return ratios to one side of 1 in words: ``4.7 times slower than``, ``12% to 45% faster than``.

    `each`: of one thing and another, ``12% and 45%``, and not a range.
    """
    faster = min(ratios) >= 1
    ordered = sorted(ratios, reverse=not faster)
    times = [_two_digits(one if faster else 1 / one) for one in ordered]
    points = [_points(abs(one - 1)) for one in ordered]
    word, of_times = ("faster", "as fast as") if faster else ("slower", "slower than")
    if max(*ratios, *(1 / one for one in ratios)) < TIMES_FROM:
        return f"{_range(points, each=each)} {word} than"
    if times[0] == "1.0":
        return f"{points[0]} {word} to {times[-1]} times {of_times}"
    return f"{_range(times, each=each)} times {of_times}"


def amount(*ratios: float, each: bool = False) -> str:
    """Return how much faster or slower something is, beside what was said before: ``27% to 82% faster``."""
    return by_how_much(*ratios, each=each).removesuffix(" than").removesuffix(" as")


def interval(outcome: Outcome, ratio: Interval | None, *, times: bool = False) -> str:
    """Return the ends of a ratio's interval in the words of its outcome: ``4.1 to 5.5`` times slower.

    Of no difference as an axis has it: ``-10% to +11%``. Empty without an interval. `times`: not in percent.
    """
    if ratio is None or ratio.low is None or ratio.high is None:
        return ""
    if outcome not in ("faster", "slower") or (ratio.low < 1) != (ratio.high < 1):
        return _range((_end(ratio.low), _end(ratio.high)))
    if times or _of_times(ratio.estimate) >= TIMES_FROM:
        both = sorted(map(_of_times, (ratio.low, ratio.high)))
        low, high = (_two_digits(one) if one < 99.5 else significant(one, 2) for one in both)
    else:
        low, high = (_points(share) for share in sorted(abs(one - 1) for one in (ratio.low, ratio.high)))
    return _range((low, high))


def with_interval(outcome: Outcome, ratio: Interval | None, *, times: bool = False) -> str:
    """Return a ratio before its `interval`: ``4.7 (4.1 to 5.5)``; empty without one."""
    ends = interval(outcome, ratio, times=times)
    if ratio is None or outcome not in ("faster", "slower") or not ends:
        return ends
    many = _of_times(ratio.estimate)
    said = _two_digits(many) if times or many >= TIMES_FROM else _points(abs(ratio.estimate - 1))
    return said if said == ends else f"{said} ({ends})"


def _of_times(ratio: float) -> float:
    return max(ratio, 1 / ratio)


def _end(ratio: float) -> str:
    """Return an end of an interval that holds both directions: ``-10%``, ``0.0%``, ``x2.5``, ``1/2.5``."""
    if 1 / TIMES_FROM < ratio < TIMES_FROM:
        said = _points(abs(ratio - 1))
        return said if said == _points(0.0) else f"{'+' if ratio > 1 else '-'}{said}"
    return f"x{_two_digits(ratio)}" if ratio > 1 else f"1/{_two_digits(1 / ratio)}"


def _range(ends: Sequence[str], *, each: bool = False) -> str:
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} {'and' if each else 'to'} {ends[-1]}"


def _points(share: float) -> str:
    return f"{share * 100:.0f}%" if share >= 0.0995 else f"{share * 100:.1f}%"


def _two_digits(value: float) -> str:
    """Return a ratio above 1 with one decimal, or as a whole number: ``4.7``, ``213``."""
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"
