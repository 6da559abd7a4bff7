"""The comparison of runs: the cells and the cuts, and what else changed; of more than two, a trend."""

from collections.abc import Sequence
from itertools import chain

from diskproof.analysis.answers import Comparison, FailedCondition
from diskproof.analysis.compare import Trend
from diskproof.analysis.regression import WORSE
from diskproof.analysis.safety.shapes import CutAnswer
from diskproof.report.compose import cut_words, verdict_words
from diskproof.report.compose.head import moment
from diskproof.report.compose.rows import UNITS, ratio_row, ratio_scale
from diskproof.report.compose.verdicts import explained
from diskproof.report.document import Item, Items, Paragraph, Section
from diskproof.report.intervals import estimate, with_bounds
from diskproof.report.one_screen import Block, OneScreen, Row
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import NOT_OBSERVED, count, listed

CUTS_NOTE = (
    "Cuts with a loss, damaged cuts, and the most transactions that one took, before and after. An outcome "
    "is about how often: a cell suffers by a loss, by damage, or by both. Fisher's exact test, with Holm's "
    "adjustment over all rows."
)


def compose(comparison: Comparison) -> OneScreen:
    """Return what a second run shows against a first: a row a cell, then what else changed."""
    a, b = comparison.a.label, comparison.b.label
    lines = (
        ("Conditions", _conditions(comparison)),
        ("Else changed", "; ".join(_changed(comparison)) or "nothing that is recorded"),
        ("To do", _what_to_do(comparison)),
        ("Beware", _disturbed(comparison)),
    )
    named = [(verdict_words.cell_words(one.cell, comparison.varying), one) for one in comparison.cells]
    barred = tuple(Item(cut_words.comparison(one), tone="warning") for one in comparison.cuts if one.reasons)
    return OneScreen(
        question=f"{b} against {a}",
        facts=_compared(comparison),
        blocks=(_cells(comparison), _cuts(comparison)),
        lines=tuple((lead, text) for lead, text in lines if text),
        rest=(
            Section("", explained(named)),
            Section("Cuts", (Paragraph(CUTS_NOTE), Items(barred)) if comparison.cuts else ()),
        ),
    )


def _cells(comparison: Comparison) -> Block:
    """Return a row a cell: its result, and its figure in both runs."""
    cells, factors = comparison.cells, comparison.varying or ["storage"]
    rows = (
        ratio_row(
            tuple(verdict_words.subject(factor, one.cell.level(factor)) for factor in factors),
            one,
            (estimate(one.b), estimate(one.a)),
        )
        for one in cells
    )
    a, b = comparison.a.label, comparison.b.label
    scale = ratio_scale([one.ratio for one in cells if one.ratio])
    unit = f"; {UNITS[cells[0].metric]}" if cells else ""
    return Block(f"{b} against {a}{unit}", tuple(rows), (b, a), scale)


def _cuts(comparison: Comparison) -> Block:
    """Return a row a cell and way that was cut in both runs: cuts with a loss, damaged, the worst loss."""

    def figures(side: CutAnswer) -> tuple[str, str, str]:
        return (
            f"{side.with_loss} of {side.telling}",
            f"{side.damaged}" if side.telling else NOT_OBSERVED,
            f"{side.lost.worst:,.0f}" if side.lost else NOT_OBSERVED,
        )

    rows = tuple(
        Row(
            (one.cell.id, one.way),
            one.outcome,
            "worse" if one.outcome in WORSE else "plain",
            figures=tuple(chain.from_iterable(zip(figures(one.b), figures(one.a), strict=True))),
        )
        for one in comparison.cuts
    )
    a, b = comparison.a.label, comparison.b.label
    columns = (b, a, f"damaged: {b}", a, f"worst lost: {b}", a)
    return Block("cuts that lost something", rows, columns, most_figures=2)


def _conditions(comparison: Comparison) -> str:
    """Return which of the user's conditions are kept; empty if there are none."""
    by_condition = grouped(comparison.failed, lambda one: one.condition)
    return ", ".join(f"`{one}` {_outcome(by_condition.get(one, []))}" for one in comparison.conditions)


def _outcome(failures: Sequence[FailedCondition]) -> str:
    if not failures:
        return "kept"
    if failures[0].cell is None:
        return f"failed: {failures[0].why}"
    return f"failed in {count(len(failures), 'cell')}"


def failed(one: FailedCondition) -> str:
    """Return a condition that is not kept: ``--fail-if slower: mariadb/…/8c: 0.80 (0.79 to 0.81)``."""
    found = one.found
    exact = found and found.low == found.high  # the worst loss: it was observed, not estimated
    figure = f"{found.estimate:,.0f} in the worst cut" if found and exact else with_bounds(found)
    what = figure if one.why == "beyond" else one.why
    return ": ".join(filter(None, [one.condition, one.cell, what]))


def _disturbed(comparison: Comparison) -> str:
    """Return what took CPU time from the trials of either run; empty if nothing did."""
    return "; ".join(
        f"in {run.label} {one.finding.message.text} ({count(len(one.trials), 'trial')})"
        for run in (comparison.a, comparison.b)
        for one in run.disturbances
    )


def _what_to_do(comparison: Comparison) -> str:
    outcomes = {one.outcome for one in comparison.cells}
    worse = "slower" in outcomes or any(one.outcome in WORSE for one in comparison.cuts)
    busy = [run.label for run in (comparison.a, comparison.b) if run.disturbances]
    if busy:
        return f"Measure {listed(busy)} again when the machine is idle."
    if worse and _changed(comparison):
        return "Measure again with one of the changes undone, to see which of them is the cause."
    if worse:
        return "Measure again: if it stays so, the cause is one that the run does not record."
    if "not comparable" in outcomes:
        return "Read below why cells are not comparable, and measure these again."
    if "inconclusive" in outcomes:
        return "For the inconclusive cells: more `blocks` in both runs."
    return "Nothing."


def _compared(comparison: Comparison) -> str:
    a, b = comparison.a, comparison.b
    cells = [f"{count(len(comparison.cells), 'cell')} of `{a.study}`"] if comparison.cells else []
    only = [
        f"{count(len(ids), 'cell')} only in {run.label}, such as {ids[0]}"
        for run, ids in ((a, comparison.only_a), (b, comparison.only_b))
        if ids
    ]
    runs = [
        f"{run.label}: {facts}"
        for run in (a, b)
        if (facts := ", ".join(filter(None, (run.host, run.started_at and moment(run.started_at)))))
    ]
    return f"{'; '.join([*cells, *runs, *only])}."


def _changed(comparison: Comparison) -> list[str]:
    """Return everything besides the factors in which the runs differ, the likeliest cause first."""
    facts = [
        f"{change.fact}: {change.a.text} before, {change.b.text} now" for change in comparison.differences
    ]
    settings = dict.fromkeys(change.text for one in comparison.cells for change in one.settings)
    return [*settings, *facts]


def trend(found: Trend) -> OneScreen:
    """Return the figures of each cell over more than two runs: a row a run, held against the first."""
    first = found.steps[0]
    every = {one.cell.id: one for step in reversed(found.steps) for one in step.cells}
    scale = ratio_scale([one.ratio for step in found.steps for one in step.cells if one.ratio])
    blocks = []
    for cell, known in every.items():
        rows = [Row((first.a.label,), figures=(estimate(known.a),))]
        for step in found.steps:
            rows += [
                ratio_row((step.b.label,), one, (estimate(one.b),))
                for one in step.cells
                if one.cell.id == cell
            ]
        title = verdict_words.cell_words(known.cell, first.varying)
        blocks.append(Block(title, tuple(rows), (UNITS[known.metric],), scale))
    changed = dict.fromkeys(
        f"{change.fact} since {step.b.label}" for step in found.steps for change in step.differences
    )
    return OneScreen(
        question=f"{count(len(found.steps) + 1, 'run')} of {first.a.study}, each against {first.a.label}",
        facts=f"{count(len(every), 'cell')}.",
        blocks=tuple(blocks),
        lines=(("Else changed", listed(list(changed))),) if changed else (),
    )
