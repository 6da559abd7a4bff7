"""The comparison of two runs: one screen, then the figures, the cuts, and what else changed."""

from collections.abc import Callable, Iterator, Sequence

from diskproof.analysis.answers import Comparison, FailedCondition
from diskproof.analysis.regression import WORSE
from diskproof.analysis.safety.shapes import CutAnswer, CutComparison
from diskproof.report.compose import cut_words, verdict_words
from diskproof.report.compose.head import moment
from diskproof.report.compose.rows import UNITS, ratio_row, ratio_scale
from diskproof.report.compose.safety import levels_shown
from diskproof.report.compose.tables import figures, levels, table
from diskproof.report.compose.verdicts import explained
from diskproof.report.document import Column, Document, Item, Items, Paragraph, Section, Table
from diskproof.report.intervals import estimate, with_bounds
from diskproof.report.one_screen import Block, OneScreen, Row
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import NOT_OBSERVED, count, listed

MOST_CELLS_NAMED = 4

CUTS_NOTE = (
    "Cuts with a loss, damaged cuts, and the most transactions that one took, before and after. An outcome "
    "is about how often: a cell suffers by a loss, by damage, or by both. Fisher's exact test, with Holm's "
    "adjustment over all rows."
)


def screen(comparison: Comparison) -> OneScreen:
    """Return what a second run shows against a first, on one screen."""
    a, b = comparison.a.label, comparison.b.label
    changed = [*_changed(comparison), *_one_sided(comparison)]
    lines = (
        ("Conditions", _conditions(comparison)),
        ("Else changed", "; ".join(changed) or "nothing that is recorded"),
        ("To do", _what_to_do(comparison)),
        ("Beware", _disturbed(comparison)),
    )
    cuts = [
        Row(
            (one.cell.id, one.way),
            one.outcome,
            "worse" if one.outcome in WORSE else "plain",
            figures=(f"{one.b.with_loss} of {one.b.telling}", f"{one.a.with_loss} of {one.a.telling}"),
        )
        for one in comparison.cuts
    ]
    return OneScreen(
        question=f"{b} against {a}",
        facts=_compared(comparison),
        answer="",
        blocks=(
            _cells(comparison),
            Block("cuts that lost something", tuple(cuts), (b, a)),
        ),
        lines=tuple((lead, text) for lead, text in lines if text),
        whole="--format markdown",
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
    unit = UNITS[cells[0].metric] if cells else ""
    return Block(f"{b} against {a}", tuple(rows), (b, a), scale, unit)


def compose(comparison: Comparison) -> Document:
    """Return the same as a document: the figures of each cell, what makes them differ, the cuts."""
    changed = [*_changed(comparison), *_one_sided(comparison)]
    below = Items(tuple(Item(text, tone="warning") for text in changed))
    shown = (
        ("Conditions", _conditions(comparison)),
        ("What to do", _what_to_do(comparison)),
        ("Beware", _disturbed(comparison)),
    )
    named = [(verdict_words.cell_words(one.cell, comparison.varying), one) for one in comparison.cells]
    return Document(
        name="",
        heading=f"{comparison.b.label} against {comparison.a.label}",
        lead=(Paragraph(_compared(comparison)),),
        sections=(
            Section("Verdicts", (_cells(comparison).table(), *explained(named))),
            Section("", (Items(tuple(Item(text, "-", lead) for lead, text in shown if text)),)),
            _cuts(comparison),
            Section("What else changed", (below,)),
        ),
    )


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
