"""The published experiment beside the measured one: every figure and every ratio."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from diskproof.analysis.gather import Audited, Gathered
from diskproof.analysis.published import marks
from diskproof.analysis.published.measures import can_measure, measured, of_test, speed
from diskproof.analysis.published.shapes import Agreement, Beside, BesideFigure, BesideRatio
from diskproof.analysis.verdicts import too_few_pairs
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.plan import Cell, Plan
from diskproof.results.published import PublishedFigure, PublishedMeasure, PublishedRatio
from diskproof.stats.intervals import geometric_mean_interval
from diskproof.wording import NOTHING, Message, counted, say


def answer_published(gathered: Gathered) -> Beside | None:
    """Return what was measured beside the published figures; None if the study has none.

    A figure or ratio that several cells have the levels of stands here once for each of them. The ratios'
    intervals are not adjusted for their number: a mark of difference asks for more than chance gives, an
    interval that lies wholly beyond a band around what was published.
    """
    published = gathered.plan.published
    if published is None:
        return None
    return Beside(
        figures=[one for figure in published.figures for one in _figures(gathered, figure)],
        ratios=[one for ratio in published.ratios for one in _ratios(gathered, ratio)],
    )


# ---------------------------------------------------------------- figures


def _figures(gathered: Gathered, figure: PublishedFigure) -> Iterator[BesideFigure]:
    cells = cells_of(gathered.plan, figure)
    for cell in cells:
        yield _figure(gathered, figure, cell)
    if not cells:
        yield BesideFigure(published=figure)


def _figure(gathered: Gathered, figure: PublishedFigure, cell: Cell) -> BesideFigure:
    trials = gathered.valid(cell)
    parts = _parts(figure.part, [cell], gathered)
    figures = [value for one in trials if (value := measured(one.load, figure.measure, parts))]
    interval = geometric_mean_interval(figures) if figures else None
    return BesideFigure(
        published=figure,
        cell=cell.id,
        measured=interval,
        of_published=interval.scaled(1 / figure.value) if interval else None,
        extrapolated=figure.measure == "seconds"
        and any(one.load.rests_on_estimates(parts) for one in trials),
    )


# ---------------------------------------------------------------- ratios


def _ratios(gathered: Gathered, ratio: PublishedRatio) -> Iterator[BesideRatio]:
    pairs = pairs_of(gathered.plan, ratio)
    for baseline, cell in pairs:
        yield _ratio(gathered, ratio, baseline, cell)
    if not pairs:
        yield BesideRatio(published=ratio, mark="not measured", reasons=[why_no_pair(gathered.plan, ratio)])


def _ratio(gathered: Gathered, ratio: PublishedRatio, baseline: Cell, cell: Cell) -> BesideRatio:
    parts = _parts(ratio.part, [baseline, cell], gathered)
    below, above = (_speeds(gathered.valid(side), ratio, parts) for side in (baseline, cell))
    blocks = sorted(below.keys() & above.keys())
    beside = partial(BesideRatio, published=ratio, cell=cell.id, baseline_cell=baseline.id)
    if empty := [side for side, speeds in ((cell, above), (baseline, below)) if not speeds]:
        return beside(mark="not measured", reasons=[_why_nothing(gathered, one, ratio) for one in empty])
    bars = list(dict.fromkeys(gathered.bars(baseline, cell)))
    few = list(too_few_pairs(gathered, baseline, cell, len(blocks)))
    if not blocks:  # both were measured, but never in the same block
        bars += few
    test = gathered.ratio(above, below, on_one_host=ratio.factor != "host")
    if bars or test is None:
        return beside(mark="not comparable", reasons=bars)
    interval, of_published = test.interval, test.interval.scaled(1 / ratio.ratio)
    order: Agreement = "open"
    size: Agreement = "open"
    if not few:
        order = marks.order_agreement(ratio.ratio, interval, gathered.plan.same_within)
        size = marks.size_agreement(of_published)
    return beside(
        measured=interval,
        of_published=of_published,
        order=order,
        size=size,
        mark=marks.mark_of(order, size),
        extrapolated=ratio.measure == "seconds" and gathered.rests_on_estimates((baseline, cell), parts),
        reasons=few,
    )


def _speeds(
    trials: Sequence[Audited], ratio: PublishedRatio, parts: frozenset[str] | None
) -> dict[int, float]:
    found = {one.trial.block: speed(one.load, ratio.measure, parts) for one in trials}
    return {block: value for block, value in found.items() if value is not None}


# ---------------------------------------------------------------- both


def _parts(part: str | None, cells: Sequence[Cell], gathered: Gathered) -> frozenset[str] | None:
    """Return the operations, of one test or of all, that every valid trial of these cells ran.

    None if the load has no such parts. What one side skipped is in neither sum.
    """
    ran = frozenset.intersection(*(gathered.parts(cell) for cell in cells))
    if part is None:
        return ran or None
    return of_test(part, ran)


def _why_nothing(gathered: Gathered, cell: Cell, published: PublishedRatio) -> Message:
    """Say why a cell that the study has gives no figure."""
    trials = gathered.of(cell)
    if not trials:
        return say("no trial of {cell} was run yet", cell=cell.id)
    if not gathered.valid(cell):
        checks = dict.fromkeys(
            finding.check for one in trials for finding in one.findings if finding.severity == "invalid"
        )
        return say("no trial of {cell} is valid ({checks})", cell=cell.id, checks=list(checks))
    if published.part:
        return say("{cell} ran nothing of `{part}`", cell=cell.id, part=published.part)
    if published.measure == "latency_p95_ms":
        return say("{cell} has too few transactions for a 95th percentile", cell=cell.id)
    return say("{cell} has no such figure", cell=cell.id)


# ---------------------------------------------------------------- from levels to cells

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
        and all(cell.level(rest) == baseline.level(rest) for rest in FACTORS if rest != ratio.factor)
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
