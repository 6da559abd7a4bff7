"""The comparison of two runs: five lines, a verdict a cell, the figures, and what else changed."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from diskproof.analysis.answers import CellComparison, ComparedRun, Comparison, FailedCondition
from diskproof.analysis.regression import WORSE
from diskproof.analysis.safety.shapes import CutAnswer, CutComparison
from diskproof.audit.run import varying_factors
from diskproof.report.compose import cut_words, difference_words, outcome_words, summary, verdict_words
from diskproof.report.compose.head import moment
from diskproof.report.compose.safety import levels_shown
from diskproof.report.compose.tables import figures, levels, table
from diskproof.report.compose.verdicts import by_importance, item
from diskproof.report.document import Column, Document, Item, Items, Paragraph, Section, Table
from diskproof.report.intervals import bounds, estimate, extrapolated, with_bounds
from diskproof.stats.groups import grouped
from diskproof.wording.numbers import NOT_OBSERVED, count, listed

MOST_CELLS_NAMED = 4
MOST_CHANGES_NAMED = 3

MOST_SHOWN = 8
"""Cells that a terminal shows a verdict on; the table has all."""

CUTS_NOTE = (
    "Cuts with a loss, damaged cuts, and the most transactions that one took, before and after. An outcome "
    "is about how often: a cell suffers by a loss, by damage, or by both. Fisher's exact test, with Holm's "
    "adjustment over all rows."
)


def compose(comparison: Comparison) -> Document:
    """Return what a second run shows against a first."""
    changed = _changed(comparison)
    named = changed[:MOST_CHANGES_NAMED]
    listed_below = Items(tuple(Item(text, tone="warning") for text in [*changed, *_one_sided(comparison)]))
    verdicts = Items(
        tuple(_verdict(one, comparison) for one in by_importance(comparison.cells)),
        style="verdicts",
        most=MOST_SHOWN,
        noun="cell",
    )
    has_cells = bool(comparison.cells)
    return Document(
        name="",
        heading=f"{comparison.b.label} against {comparison.a.label}",
        lead=(),
        sections=(
            Section("", (_summary(comparison, named, len(changed) - len(named)),)),
            Section("Verdicts", (verdicts,), quiet=True),
            Section("Figures", (figures_table(comparison),) if has_cells else (), quiet=True),
            _cuts(comparison),
            Section("What else changed", (listed_below,), only=None if changed[len(named) :] else "full"),
        ),
        elsewhere="see --format markdown",
    )


def _verdict(one: CellComparison, comparison: Comparison) -> Item:
    lines = difference_words.lines(one.difference) if one.difference else ()
    return item(one, verdict_words.comparison(one, comparison), held_back=lines)


# ---------------------------------------------------------------- in five lines


def _summary(comparison: Comparison, changed: Sequence[str], more: int) -> Items:
    rest = [f"{more} more"] if more else []
    return summary.items(
        {
            "Answer": " ".join(_answers(comparison)),
            "How sure": " ".join(_how_sure(comparison)),
            "What else changed": f"{'; '.join([*changed, *rest]) or 'nothing that is recorded'}.",
            "What to do": _what_to_do(comparison),
            "Compared": _compared(comparison),
        }
    )


def _answers(comparison: Comparison) -> Iterator[str]:
    cells, a, b = comparison.cells, comparison.a.label, comparison.b.label
    if cells:
        of = len(cells)
        said, rest = outcome_words.outcomes(
            by_importance(cells), a, comparison.same_within, lambda some: _where(some, of, comparison)
        )
        if said:
            yield "; ".join(filter(None, [f"{b} is {said}", rest])) + "."
        else:
            yield f"{b} against {a}: {rest}."
    if comparison.cuts:
        outcomes = Counter(one.outcome for one in comparison.cuts)
        said = ", ".join(f"{outcome} in {number}" for outcome, number in outcomes.items())
        yield f"{count(len(comparison.cuts), 'setting')} cut in both: {said}."
    yield _conditions(comparison)


def _conditions(comparison: Comparison) -> str:
    """Return which of the user's conditions are kept; empty if there are none."""
    by_condition = grouped(comparison.failed, lambda one: one.condition)
    said = [f"`{one}` {_outcome(by_condition.get(one, []))}" for one in comparison.conditions]
    return f"Conditions: {', '.join(said)}." if said else ""


def _outcome(failures: Sequence[FailedCondition]) -> str:
    if not failures:
        return "kept"
    if failures[0].cell is None:
        return f"failed: {failures[0].why}"
    return f"failed in {count(len(failures), 'cell')}"


def failed(one: FailedCondition) -> str:
    """Return a condition that is not kept: ``--fail-if slower=5%: mariadb/…/8c: 0.80 (0.79 to 0.81)``."""
    found = one.found
    exact = found and found.low == found.high  # the worst loss: it was observed, not estimated
    figure = f"{found.estimate:,.0f} in the worst cut" if found and exact else with_bounds(found)
    what = figure if one.why == "beyond" else one.why
    return ": ".join(filter(None, [one.condition, one.cell, what]))


def _where(cells: Sequence[CellComparison], of: int, comparison: Comparison) -> str:
    """Return in how many cells an outcome was found, and which levels all of these share."""
    if len(cells) == of:
        return f" in all {of} cells" if of > 1 else ""
    shared = {
        factor: cells[0].cell.level(factor)
        for factor in varying_factors([one.cell for one in comparison.cells])
        if len({one.cell.level(factor) for one in cells}) == 1
    }
    on = verdict_words.conditions(shared)
    every = "all" if len(cells) > 2 else "both" if len(cells) > 1 else ""
    which = f" ({(every + on).strip()})" if on else ""
    return f" in {len(cells)} of {of} cells{which}"


def _how_sure(comparison: Comparison) -> Iterator[str]:
    yield summary.precision([one.ratio for one in comparison.cells if one.ratio])
    for run in (comparison.a, comparison.b):
        yield _disturbed(run)
    if comparison.cuts:
        yield "Cuts are compared by Fisher's exact test."


def _disturbed(run: ComparedRun) -> str:
    """Return a warning of what took CPU time from a run's trials; empty if nothing did."""
    said = [f"{one.finding.message.text} ({count(len(one.trials), 'trial')})" for one in run.disturbances]
    return f"Caution: in {run.label} {listed(said)}." if said else ""


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
        f"{count(len(ids), 'cell')} only in {run.label}"
        for run, ids in ((a, comparison.only_a), (b, comparison.only_b))
        if ids
    ]
    runs = [
        f"{run.label}: {', '.join(facts)}"
        for run in (a, b)
        if (facts := [run.host or "", moment(run.started_at) if run.started_at else ""]) != ["", ""]
    ]
    return f"{'; '.join([*cells, *runs, *only])}."


def _changed(comparison: Comparison) -> list[str]:
    """Return everything besides the factors in which the runs differ, the likeliest cause first."""
    facts = [
        f"{change.fact}: {change.a.text} before, {change.b.text} now" for change in comparison.differences
    ]
    settings = dict.fromkeys(change.text for one in comparison.cells for change in one.settings)
    return [*settings, *facts]


def _one_sided(comparison: Comparison) -> list[str]:
    return [
        f"only in {run.label}: {listed(cells, MOST_CELLS_NAMED)}"
        for run, cells in ((comparison.a, comparison.only_a), (comparison.b, comparison.only_b))
        if cells
    ]


# ---------------------------------------------------------------- figures


def figures_table(comparison: Comparison) -> Table:
    """Return a row a cell: throughput in both runs with its interval, and the ratio."""
    factors = varying_factors([one.cell for one in comparison.cells]) or ["storage"]
    return table(
        comparison.cells,
        *levels(factors),
        (figures("Before"), lambda one: estimate(one.a) + extrapolated(one.a_extrapolated)),
        (figures("95% interval"), lambda one: bounds(one.a)),
        (figures("After"), lambda one: estimate(one.b) + extrapolated(one.b_extrapolated)),
        (figures("95% interval"), lambda one: bounds(one.b)),
        (figures("Ratio"), lambda one: estimate(one.ratio)),
    )


# ---------------------------------------------------------------- cuts

Filled = tuple[Column, Callable[[CutComparison], str]]


def _cuts(comparison: Comparison) -> Section:
    barred = tuple(Item(cut_words.comparison(one), tone="warning") for one in comparison.cuts if one.reasons)
    blocks = (Paragraph(CUTS_NOTE, style="note"), cuts_table(comparison), Items(barred))
    return Section("Cuts", blocks if comparison.cuts else ())


def cuts_table(comparison: Comparison) -> Table:
    """Return a row a cell and way that was cut in both runs: cuts with a loss, damaged, the worst loss."""

    def sides(title: str, entry: Callable[[CutAnswer], str]) -> Iterator[Filled]:
        yield figures(title), lambda one: entry(one.a)
        yield figures("after"), lambda one: entry(one.b)

    return table(
        comparison.cuts,
        *levels(levels_shown([one.cell for one in comparison.cuts])),
        ("Dies by", lambda one: one.way),
        *sides("With loss", lambda side: f"{side.with_loss} of {side.telling}"),
        *sides("Damaged", lambda side: f"{side.damaged}" if side.telling else NOT_OBSERVED),
        *sides("Worst lost", lambda side: f"{side.lost.worst:,.0f}" if side.lost else NOT_OBSERVED),
        ("Outcome", lambda one: one.outcome),
    )
