"""From published levels to the cells that have them."""

from collections.abc import Mapping

from diskproof.analysis.published.measures import can_measure
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.plan import Cell, Plan
from diskproof.results.published import PublishedFigure, PublishedMeasure, PublishedRatio
from diskproof.wording import NOTHING, Message, counted, say

Levels = Mapping[Factor, str]


def cells_of(plan: Plan, figure: PublishedFigure) -> list[Cell]:
    """Return every cell that has the levels of a published figure and can measure it."""
    return [cell for cell in _with_levels(plan, figure.at) if can_measure(plan, cell, figure.measure)]


def pairs_of(plan: Plan, ratio: PublishedRatio) -> list[tuple[Cell, Cell]]:
    """Return the pairs of cells, baseline first, that have a published ratio's levels and are else equal."""
    above = _with_levels(plan, ratio.at | {ratio.factor: ratio.level})
    below = _with_levels(plan, ratio.at | {ratio.factor: ratio.baseline})
    return [
        (baseline, cell)
        for cell in above
        for baseline in below
        if can_measure(plan, cell, ratio.measure)
        and can_measure(plan, baseline, ratio.measure)
        and _equal_but_for(ratio.factor, cell, baseline)
    ]


def why_no_pair(plan: Plan, ratio: PublishedRatio) -> Message:
    """Say which side of a published ratio has no cell, or that no two cells can be paired."""
    for level in (ratio.level, ratio.baseline):
        why = _why_none(plan, ratio.at | {ratio.factor: level}, ratio.measure)
        if why:
            return why
    return say("no two cells with these levels are equal in everything else")


def _why_none(plan: Plan, at: Levels, measure: PublishedMeasure) -> Message:
    """Say which levels no cell has, or has together, or that the cells with them have another measure."""
    with_levels = _with_levels(plan, at)
    if any(can_measure(plan, cell, measure) for cell in with_levels):
        return NOTHING
    unknown = [
        level_named(factor, level)
        for factor, level in at.items()
        if not any(cell.level(factor) == level for cell in plan.cells)
    ]
    if with_levels:
        figure = measure.replace("_per_s", " a second").replace("_", " ")
        why = say("no cell with these levels has {figure}", figure=figure)
    elif unknown:
        why = say("no cell has {levels:/ and }", levels=unknown)
    else:
        why = say("no cell has these levels together")
    return say("{why} at scale `{scale}`", why=why, scale=plan.scale.name) if plan.scale else why


def level_named(factor: Factor, level: str) -> Message:
    """Return a level with its factor: ``storage `disk` ``, ``8 clients``."""
    if factor == "clients" and level.isdigit():
        return say("{clients}", clients=counted(int(level), "client"))
    return say("{factor} `{level}`", factor=factor, level=level)


def _with_levels(plan: Plan, at: Levels) -> list[Cell]:
    return [cell for cell in plan.cells if all(cell.level(factor) == level for factor, level in at.items())]


def _equal_but_for(factor: Factor, one: Cell, other: Cell) -> bool:
    return all(one.level(rest) == other.level(rest) for rest in FACTORS if rest != factor)
