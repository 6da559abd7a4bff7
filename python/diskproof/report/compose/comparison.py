"""The comparison of two runs: a verdict a cell, the figures, and what else changed between them."""

from collections.abc import Callable, Iterator

from diskproof.analysis.answers import Comparison
from diskproof.analysis.safety.shapes import CutAnswer, CutComparison
from diskproof.analysis.verdicts import varying_factors
from diskproof.report.compose import cut_words, verdict_words
from diskproof.report.compose.safety import levels_shown
from diskproof.report.compose.tables import figures, levels, table
from diskproof.report.compose.verdicts import item
from diskproof.report.document import Column, Document, Item, Items, Paragraph, Section, Table
from diskproof.report.intervals import bounds, estimate, extrapolated
from diskproof.wording.numbers import NOT_OBSERVED, count, listed

MOST_CELLS_NAMED = 4

CUTS_NOTE = (
    "Cuts with a loss, damaged cuts, and the most transactions that one took, before and after. An outcome "
    "is about how often: a cell suffers by a loss, by damage, or by both. Fisher's exact test, with Holm's "
    "adjustment over all rows."
)


def compose(comparison: Comparison) -> Document:
    """Return what a second run shows against a first."""
    notes = tuple(map(_warning, _notes(comparison)))
    verdicts = tuple(item(one, verdict_words.comparison(one, comparison)) for one in comparison.cells)
    has_cells = bool(comparison.cells)
    return Document(
        name="",
        heading=f"{comparison.b} against {comparison.a}",
        lead=(Paragraph(_summary(comparison)),),
        sections=(
            Section("What else changed", (Items(notes),), quiet=True),
            Section("Verdicts", (Items(verdicts, style="verdicts"),), quiet=True),
            Section("Figures", (figures_table(comparison),) if has_cells else (), quiet=True),
            _cuts(comparison),
        ),
    )


def _warning(text: str) -> Item:
    return Item(text, tone="warning")


def _summary(comparison: Comparison) -> str:
    text = f"{count(len(comparison.cells), 'cell')} compared"
    if comparison.cuts:
        cut = count(len({one.cell.id for one in comparison.cuts}), "cell")
        text = f"{text}, {cut} cut in both" if comparison.cells else f"{cut} cut in both"
    for run, only in ((comparison.a, comparison.only_a), (comparison.b, comparison.only_b)):
        if only:
            text += f"; {count(len(only), 'cell')} only in {run}"
    return f"{text}."


def _notes(comparison: Comparison) -> list[str]:
    changed = [
        f"{change.fact}: {change.a.text} before, {change.b.text} now" for change in comparison.differences
    ]
    one_sided = [
        f"only in {run}: {listed(cells, MOST_CELLS_NAMED)}"
        for run, cells in ((comparison.a, comparison.only_a), (comparison.b, comparison.only_b))
        if cells
    ]
    return [*changed, *one_sided]


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
    barred = tuple(_warning(cut_words.comparison(one)) for one in comparison.cuts if one.reasons)
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
