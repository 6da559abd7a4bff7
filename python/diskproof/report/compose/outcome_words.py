"""The words of comparisons that share two levels: their outcomes, figures and times."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from diskproof.analysis.answers import CellAnswer, CellComparison, Outcome, Verdict
from diskproof.report.compose import difference_words, verdict_words
from diskproof.report.compose.verdicts import Compared, by_importance
from diskproof.results.plan import Metric
from diskproof.stats.groups import grouped
from diskproof.wording import Range, numbers, say

NOT_COMPARABLE = "no comparison is possible"

UNDECIDED: dict[Outcome, str] = {
    "inconclusive": "undecided",
    "not comparable": NOT_COMPARABLE,
}

UNITS: dict[Metric, str] = {
    "transactions_per_s": "TPS",
    "requests_per_s": "requests/s",
    "latency_mean_us": "ms a transaction",
    "seconds": "s",
}
"""What the figures of a metric are counted in, as the table of cells has it."""

Said = Callable[[Sequence[Any]], str]
"""What is added to an outcome that verdicts, or cells of two runs, share: where, figures, times."""


def outcomes(
    found: Sequence[Compared],
    baseline: str,
    same_within: float,
    where: Said,
    detail: Said | None = None,
) -> tuple[str, str]:
    """Return the outcomes of comparisons with one baseline, and where there is none; each may be empty.

    ``12% to 45% slower than dram at safest``, ``undecided at fast (between 3.0% slower and 11% faster)``.
    """
    detail = detail or _time
    by_outcome = grouped(found, lambda one: one.outcome)
    decided = [some for outcome, some in by_outcome.items() if outcome not in UNDECIDED and some[0].ratio]
    said = [
        f"{outcome_of(some, baseline, same_within)}{where(some)}{detail(some)}"
        for some in sorted(decided, key=len, reverse=True)
    ]
    rest = [
        with_bound(f"{UNDECIDED[one]}{where(by_outcome[one])}", by_outcome[one])
        for one in UNDECIDED
        if one in by_outcome
    ]
    return numbers.listed(said) if said else "", " and ".join(rest)


def with_bound(said: str, found: Sequence[Compared]) -> str:
    """Add how large a difference may be that is not shown: ``… (between 10% slower and 11% faster)``."""
    ends = [(one.ratio.low, one.ratio.high) for one in found if one.ratio]
    low, high = (min(one or 0 for one, _ in ends), max(one or 0 for _, one in ends)) if ends else (0, 0)
    if not low or not high:
        return said
    bound = verdict_words.between(low, high)
    return f"{said}, {bound}" if said.endswith(")") else f"{said} ({bound})"


def outcome_of(found: Sequence[Compared], baseline: str, same_within: float) -> str:
    """Return an outcome that comparisons share: ``12% to 45% slower than dram``."""
    if found[0].outcome == "the same":
        return f"the same as {baseline} within {numbers.percent(same_within)}"
    ratios = [one.ratio.estimate for one in found if one.ratio]
    return f"{verdict_words.by_how_much(*ratios, where=told_apart(found))} {baseline}"


def told_apart(found: Sequence[Verdict] | Sequence[CellComparison]) -> list[str]:
    """Return what tells two verdicts apart, if it is one factor: ``["1 client", "8 clients"]``."""
    helds = [one.held for one in found if isinstance(one, Verdict)]
    if len(found) != 2 or len(helds) != 2:
        return []
    differing = [factor for factor, level in helds[0].items() if helds[1].get(factor) != level]
    if len(differing) != 1:
        return []
    return [verdict_words.subject(differing[0], held[differing[0]]) for held in helds]


def figures_of(found: Sequence[Verdict], cells: Mapping[str, CellAnswer], *, cost: bool) -> str:
    """Return the figures of the largest of some differences, and what a durable commit costs in time.

    ``: 1,706 instead of 3,021 TPS with 8 clients, 2.0 ms more a transaction``.
    """
    most = by_importance(found)[0]
    sides = [cells[one].figure for one in (most.cell, most.baseline_cell) if one in cells]
    known = [one for one in sides if one is not None]
    if len(known) < len((most.cell, most.baseline_cell)):
        return _time(found)
    values = [one.scaled(1e-3) if most.metric == "latency_mean_us" else one for one in known]
    own, other = (numbers.number(one.estimate) for one in values)
    differing = {
        factor: level
        for factor, level in most.held.items()
        if any(one.held.get(factor) != level for one in found)
    }
    where = verdict_words.conditions(differing)
    commits = _commits_cost(found)
    after = (f"; {commits}" if cost else "") if commits else _change(found)
    return f": {own} instead of {other} {UNITS[most.metric]}{where}{after}"


def both_figures(verdicts: Sequence[Verdict], cells: Mapping[str, CellAnswer]) -> str:
    """Return the figures of both sides of some verdicts: ``: 578 and 2,478 against 623 and 2,511 TPS``."""
    found = [one for one in verdicts if one.outcome != "not comparable"]
    if len({one.metric for one in found}) != 1:
        return ""
    sides = [_ends([cells[one.cell] for one in found]), _ends([cells[one.baseline_cell] for one in found])]
    return f": {' against '.join(sides)} {UNITS[found[0].metric]}" if all(sides) else ""


def _ends(cells: Sequence[CellAnswer]) -> str:
    """Return the figures of one or two cells, ``34 and 323``, or the ends of more: ``from 34 to 323``.

    Two are in the cells' order, so that they stand as on the other side. Empty if none is known.
    """
    figures = [one.figure.estimate for one in cells if one.figure]
    factor = 1e-3 if cells[0].metric == "latency_mean_us" else 1.0
    if len(figures) > 2:
        least, most = (numbers.number(one * factor) for one in (min(figures), max(figures)))
        return least if least == most else f"from {least} to {most}"
    return " and ".join(dict.fromkeys(numbers.number(one * factor) for one in figures))


def _time(found: Sequence[Compared]) -> str:
    """Return what a durable commit costs, or else by how much a transaction is longer or shorter."""
    commits = _commits_cost(found)
    return f": {commits}" if commits else _change(found)


def _commits_cost(found: Sequence[Compared]) -> str:
    """Return what a durable commit costs on each storage; empty if no level here spares its flush."""
    sure = _changed(found)
    spared: list[Any] = [one for one in sure if isinstance(one, Verdict) and one.flush_spared]
    if not spared or _is_longer(sure[0]):
        return ""
    on = grouped(spared, lambda one: one.held.get("storage"))
    named = len(on) > 1 or len(spared) < len(sure)
    each = [
        f"{time_range(some)}{f' on {storage}' if storage and named else ''}" for storage, some in on.items()
    ]
    return f"a durable commit costs about {numbers.listed(each)}{_mostly(spared)}"


def _change(found: Sequence[Compared]) -> str:
    """Return the time and which part is most of it: `` (about 2.0 ms more a transaction, mostly …)``."""
    sure = _changed(found)
    if not sure:
        return ""
    longer = "more" if _is_longer(sure[0]) else "less"
    return f" (about {time_range(sure)} {longer} a transaction{_mostly(sure)})"


def _changed(found: Sequence[Compared]) -> list[Compared]:
    """Return the comparisons in which a transaction's time surely differs; none if not all in one way."""
    sure = [one for one in found if one.difference and one.difference.whole_us.excludes(0)]
    return sure if len({_is_longer(one) for one in sure}) == 1 else []


def _is_longer(one: Verdict | CellComparison) -> bool:
    return one.difference is not None and one.difference.whole_us.estimate > 0


def _mostly(found: Sequence[Compared]) -> str:
    """Return the part of the time that is most of each difference: ``, mostly the log flush``; or nothing."""
    mostly = {difference_words.largest(one.difference) for one in found if one.difference}
    return f", mostly {name}" if len(mostly) == 1 and (name := mostly.pop()) else ""


def time_range(found: Sequence[Compared]) -> str:
    """Return by how much transactions differ: ``280 us to 1.8 ms``."""
    sizes = [abs(one.difference.whole_us.estimate) for one in found if one.difference]
    return say("{time}", time=Range(low=min(sizes), high=max(sizes), unit="us")).text
