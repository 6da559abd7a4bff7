"""The verdicts that a study asks for, and those on the two levels that differ most."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.rankings import CONDITIONS
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval


def asked(analysis: Analysis) -> list[Verdict]:
    """Return the verdicts that the study asks for: not those on conditions, unless there are no others."""
    return [one for one in analysis.verdicts if one.factor not in CONDITIONS] or analysis.verdicts


def on_dials(analysis: Analysis) -> list[Verdict]:
    """Return the verdicts on other levels at each value of a varied disk."""
    drawn = analysis.plan.dials if analysis.curves else {}
    return [one for one in asked(analysis) if one.held.get("storage") in drawn]


def decided(analysis: Analysis) -> list[Verdict]:
    """Return those that say faster, slower or the same."""
    return [one for one in asked(analysis) if one.outcome not in ("inconclusive", "not comparable")]


def foremost(analysis: Analysis) -> list[Verdict]:
    """Return the verdicts on the two levels that differ most, over all conditions in which they do."""
    # Of several factors, the one with three levels or more is asked for.
    ranked = {one.factor for one in analysis.rankings} or {one.factor for one in asked(analysis)}
    compared = on_dials(analysis) or [one for one in asked(analysis) if one.factor in ranked]
    known = [one for one in compared if one.outcome in ("faster", "slower") and one.ratio]
    # What spares a flush is said as the cost of a commit.
    groups = grouped(
        [one for one in known if not one.flush_spared] or known,
        lambda one: (one.factor, one.level, one.baseline, one.outcome, one.metric),
    )
    return max(groups.values(), key=lambda some: max(map(size_of, some)), default=[])


def size_of(one: Verdict) -> float:
    """Return how many times one level is as fast as the other, whichever that is."""
    return max(one.ratio.estimate, 1 / one.ratio.estimate) if one.ratio else 1.0


def is_alike(one: Verdict, other: Verdict) -> bool:
    """Report whether two verdicts are on the same levels."""
    return (one.factor, one.level, one.baseline) == (other.factor, other.level, other.baseline)


def otherwise_measured(analysis: Analysis, most: Sequence[Verdict]) -> list[Verdict]:
    """Return verdicts like these on the same levels by another measure, such as requests of files."""
    if not most:
        return []
    alike = [one for one in asked(analysis) if is_alike(one, most[0]) and one.outcome == most[0].outcome]
    return [one for one in alike if one.ratio and one.metric != most[0].metric and "workload" in one.held]


def flush_costs_us(analysis: Analysis) -> list[tuple[Verdict, Interval]]:
    """Return what waiting for a disk's flush adds to a commit, where sparing it is faster.

    The differences of mean times that stand in the report, so that a reader finds the same.
    """
    spared = (one for one in asked(analysis) if one.flush_spared and one.outcome == "faster")
    costs_us = [(one, _less(one.difference.whole_us)) for one in spared if one.difference]
    return [one for one in costs_us if one[1].estimate > 0]


def _less(difference: Interval) -> Interval:
    low, high = (None if end is None else -end for end in (difference.high, difference.low))
    return difference.model_copy(update={"estimate": -difference.estimate, "low": low, "high": high})
