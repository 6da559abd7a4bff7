"""From published levels to the cells that have them."""

from collections.abc import Mapping

from diskproof.analysis.published.measures import can_measure
from diskproof.analysis.words import clients
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.plan import Cell, Plan
from diskproof.results.published import PublishedFigure, PublishedMeasure, PublishedRatio

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


def why_no_cell(plan: Plan, figure: PublishedFigure) -> str:
    """Say why no cell stands beside a published figure."""
    return _why_none(plan, figure.at, figure.measure) or "no cell measures it"


def why_no_pair(plan: Plan, ratio: PublishedRatio) -> str:
    """Say which side of a published ratio no cell stands beside, or that the two have no common ground."""
    for level in (ratio.level, ratio.baseline):
        why = _why_none(plan, ratio.at | {ratio.factor: level}, ratio.measure)
        if why:
            return why
    return "no two cells with these levels are else equal"


def _why_none(plan: Plan, at: Levels, measure: PublishedMeasure) -> str:
    """Say which levels no cell has, or has together, or that those which have them measure another thing."""
    with_levels = _with_levels(plan, at)
    if any(can_measure(plan, cell, measure) for cell in with_levels):
        return ""
    scale = f" at scale `{plan.scale.name}`" if plan.scale else ""
    if with_levels:
        return (
            f"no cell with these levels has {measure.replace('_per_s', ' a second').replace('_', ' ')}{scale}"
        )
    unknown = [
        _said(factor, level)
        for factor, level in at.items()
        if not any(cell.level(factor) == level for cell in plan.cells)
    ]
    if unknown:
        return f"no cell has {' and '.join(unknown)}{scale}"
    return f"no cell has these levels together{scale}"


def untold(plan: Plan, ratio: PublishedRatio) -> list[Factor]:
    """Return the factors that the publication does not tell and in which the pairs beside it differ."""
    sides = [cell for _, cell in pairs_of(plan, ratio)]
    return [
        factor
        for factor in FACTORS
        if factor != ratio.factor and len({cell.level(factor) for cell in sides}) > 1
    ]


def _with_levels(plan: Plan, at: Levels) -> list[Cell]:
    return [cell for cell in plan.cells if all(cell.level(factor) == level for factor, level in at.items())]


def _equal_but_for(factor: Factor, one: Cell, other: Cell) -> bool:
    return all(one.level(rest) == other.level(rest) for rest in FACTORS if rest != factor)


def _said(factor: Factor, level: str) -> str:
    return clients(level) if factor == "clients" else f"{factor} `{level}`"
