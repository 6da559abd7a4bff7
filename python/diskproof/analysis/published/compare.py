"""The published experiment beside the measured one: every figure, every ratio, and why they differ."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from diskproof.analysis.evidence import Side
from diskproof.analysis.gather import Audited, Gathered
from diskproof.analysis.limits.records import Limits
from diskproof.analysis.published import marks
from diskproof.analysis.published.case import Case
from diskproof.analysis.published.join import cells_of, pairs_of, why_no_cell, why_no_pair
from diskproof.analysis.published.measures import measured, of_test, speed
from diskproof.analysis.published.shapes import Beside, BesideFigure, BesideRatio, Mark
from diskproof.analysis.published.why import obstacles, reasons, telling_findings
from diskproof.analysis.verdicts import too_few_pairs
from diskproof.results.plan import Cell
from diskproof.results.published import PublishedFigure, PublishedRatio
from diskproof.stats.intervals import geometric_mean_interval, paired_ratio
from diskproof.wording import NOTHING, Message, say


def answer_published(gathered: Gathered, limits: Limits | None = None) -> Beside | None:
    """Return what was measured beside the published figures; None if the study has none.

    `limits` are what holds the cells back, which may say why a ratio was not met.

    A figure or ratio that several cells have the levels of stands here once for each of them. The ratios'
    intervals are not adjusted for their number: a mark of difference asks for more than chance gives, an
    interval that lies wholly beyond a band around what was published.
    """
    published = gathered.plan.published
    if published is None:
        return None
    return Beside(
        figures=[one for figure in published.figures for one in _figures(gathered, figure)],
        ratios=[one for ratio in published.ratios for one in _ratios(gathered, limits, ratio)],
    )


# ---------------------------------------------------------------- figures


def _figures(gathered: Gathered, figure: PublishedFigure) -> Iterator[BesideFigure]:
    cells = cells_of(gathered.plan, figure)
    for cell in cells:
        yield _figure(gathered, figure, cell)
    if not cells:
        why = why_no_cell(gathered.plan, figure)
        yield BesideFigure(published=figure, cell=None, measured=None, of_published=None, missing=why)


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
        missing=NOTHING if interval else _why_nothing(gathered, cell, figure),
    )


# ---------------------------------------------------------------- ratios


def _ratios(gathered: Gathered, limits: Limits | None, ratio: PublishedRatio) -> Iterator[BesideRatio]:
    pairs = pairs_of(gathered.plan, ratio)
    for baseline, cell in pairs:
        yield _ratio(gathered, limits, ratio, baseline, cell)
    if not pairs:
        yield _without(ratio, "not measured", [why_no_pair(gathered.plan, ratio)])


def _ratio(
    gathered: Gathered, limits: Limits | None, ratio: PublishedRatio, baseline: Cell, cell: Cell
) -> BesideRatio:
    parts = _parts(ratio.part, [baseline, cell], gathered)
    below, above = (_speeds(gathered.valid(side), ratio, parts) for side in (baseline, cell))
    blocks = sorted(below.keys() & above.keys())
    case = Case(
        gathered,
        ratio,
        Side.of(gathered, cell, parts),
        Side.of(gathered, baseline, parts),
        limits={one.cell.id: one for one in limits.cells} if limits else {},
    )
    if empty := [side for side, speeds in ((cell, above), (baseline, below)) if not speeds]:
        nothing = [_why_nothing(gathered, one, ratio) for one in empty]
        return _without(ratio, "not measured", [*nothing, *obstacles(case)], baseline, cell)
    bars = gathered.bars(baseline, cell)
    if not blocks:  # both were measured, but never in the same block
        bars += too_few_pairs(gathered, baseline, cell, pairs=0)
    if bars:
        return _without(ratio, "not comparable", [*bars, *telling_findings(case)], baseline, cell)
    interval = paired_ratio([above[block] for block in blocks], [below[block] for block in blocks]).interval
    few = list(too_few_pairs(gathered, baseline, cell, len(blocks)))
    return _compared(replace(case, measured=interval), few)


def _compared(case: Case, few: Sequence[Message]) -> BesideRatio:
    """Return a ratio that could be measured; `few` says why it rests on too few blocks to decide anything."""
    ratio, measured_ratio, of_published = case.published, case.measured, case.of_published
    assert measured_ratio is not None
    assert of_published is not None
    if not few:
        order = marks.order_agreement(ratio.ratio, measured_ratio, case.gathered.plan.same_within)
        case = replace(case, order=order, size=marks.size_agreement(of_published))
    mark = marks.mark_of(case.order or "open", case.size or "open")
    return BesideRatio(
        published=ratio,
        cell=case.level.cell.id,
        baseline_cell=case.baseline.cell.id,
        measured=measured_ratio,
        of_published=of_published,
        order=case.order or "open",
        size=case.size or "open",
        mark=mark,
        extrapolated=ratio.measure == "seconds" and any(side.extrapolated for side in case.sides),
        reasons=[] if mark == "agrees" else [*few, *reasons(case)],
    )


def _without(
    ratio: PublishedRatio,
    mark: Mark,
    why: Sequence[Message],
    baseline: Cell | None = None,
    cell: Cell | None = None,
) -> BesideRatio:
    """Return a published ratio without a measured one."""
    return BesideRatio(
        published=ratio,
        cell=cell.id if cell else None,
        baseline_cell=baseline.id if baseline else None,
        measured=None,
        of_published=None,
        mark=mark,
        reasons=list(dict.fromkeys(why)),
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


def _why_nothing(gathered: Gathered, cell: Cell, published: PublishedFigure | PublishedRatio) -> Message:
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
