"""Three or more levels of a factor in their order: each against the best, not against the first written."""

from collections.abc import Collection, Mapping, Sequence
from math import log
from statistics import fmean

from diskproof.analysis.answers import Placed, Placing, Ranking
from diskproof.analysis.gather import Gathered
from diskproof.analysis.verdicts import compare, decide
from diskproof.audit.run import varying_factors
from diskproof.results.factor import Factor
from diskproof.results.plan import NO_LEVEL, Cell
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import RatioTest
from diskproof.stats.multiple import adjusted

CONDITIONS: tuple[Factor, ...] = ("workload", "clients")
"""Factors that a study varies to see the others under them."""

FEWEST_LEVELS = 3


def make_rankings(gathered: Gathered) -> list[Ranking]:
    """Return an order for each factor of three levels or more that can be compared under equal conditions."""
    varying = varying_factors(gathered.plan.cells)
    asked = [factor for factor in varying if factor not in CONDITIONS] or varying
    return [one for factor in asked if (one := _ranking(gathered, factor, varying)) is not None]


def _ranking(gathered: Gathered, factor: Factor, varying: Sequence[Factor]) -> Ranking | None:
    held = [one for one in varying if one != factor]
    conditions = grouped(gathered.plan.cells, lambda cell: tuple(cell.level(one) for one in held))
    speeds = {
        condition: {cell.level(factor): found for cell in cells if (found := gathered.speeds(cell))}
        for condition, cells in conditions.items()
    }
    levels = {level for found in speeds.values() for level in found if level != NO_LEVEL}
    whole = {key: found for key, found in speeds.items() if levels <= found.keys()}
    if len(levels) < FEWEST_LEVELS or not whole:
        return None
    means = {
        level: fmean(log(value) for found in whole.values() for value in found[level].values())
        for level in levels
    }
    order = sorted(levels, key=lambda level: -means[level])
    for best in order:
        others = [level for level in order if level != best]
        against = {level: _against(gathered, whole, conditions, factor, (best, level)) for level in others}
        if any(against.values()):
            break
    else:
        return None
    placed = [Placed(level=best, ratios=[], outcome="best")]
    ps = iter(adjusted([test for tests in against.values() for test in tests]))
    for level, tests in sorted(against.items(), key=lambda one: not one[1]):
        outcomes = [decide(test.interval, next(ps), gathered.plan.same_within) for test in tests]
        same: Placing = "the same" if tests else "not comparable"
        outcome = "slower" if "slower" in outcomes else "inconclusive" if {*outcomes} - {"the same"} else same
        placed.append(Placed(level=level, ratios=[test.interval for test in tests], outcome=outcome))
    return Ranking(factor=factor, conditions=len(whole), placed=placed)


def _against(
    gathered: Gathered,
    under: Collection[tuple[str, ...]],
    conditions: Mapping[tuple[str, ...], Sequence[Cell]],
    factor: Factor,
    levels: tuple[str, str],
) -> list[RatioTest]:
    """Return the speed of the second level over that of the first, under each condition that allows it."""
    tests = []
    for condition in under:
        best, cell = (
            next(one for one in conditions[condition] if one.level(factor) == level) for level in levels
        )
        if gathered.parts(best) == gathered.parts(cell):
            test = compare(gathered, factor, best, cell).test
            tests += [test] if test else []
    return tests
