"""The comparison of two runs, for a terminal and as Markdown."""

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from diskproof.analysis.answers import CellComparison, Comparison
from diskproof.analysis.words import listed
from diskproof.report import tables, words
from diskproof.report.markdown import verdict_item
from diskproof.report.pipes import escape, table
from diskproof.report.tables.safety import levels_shown
from diskproof.report.terminal import hanging, layout, mark, print_parts, shown
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.plan import NO_LEVEL, Cell

MOST_CELLS_NAMED = 4

CUTS_NOTE = (
    "Cuts with a loss, damaged cuts, and the most transactions that one took, before and after. An outcome "
    "is about how often: a cell suffers by a loss, by damage, or by both. Fisher's exact test, with Holm's "
    "adjustment over all rows."
)

CUTS_COLUMNS = ("With loss", "after", "Damaged", "after", "Worst lost", "after")


def render(comparison: Comparison, console: Console) -> None:
    """Print the comparison: a verdict a cell, the figures, and what else changed between the runs."""
    heading = [
        Text(f"{comparison.b} against {comparison.a}", style="bold"),
        Text(_summary(comparison), style="dim"),
    ]
    verdicts = [_verdict(compared, console) for compared in comparison.cells]
    figures = [layout(figures_table(comparison), console)] if comparison.cells else []
    notes = [hanging(Text("!", style="bold yellow"), shown(note), console) for note in _notes(comparison)]
    print_parts([heading, notes, verdicts, figures, _cuts(comparison, console)], console)


def markdown(comparison: Comparison) -> str:
    """Return the comparison as Markdown."""
    parts = [f"# {escape(comparison.b)} against {escape(comparison.a)}", _summary(comparison)]
    notes = _notes(comparison)
    if notes:
        parts += ["## What else changed", "\n".join(f"- {escape(note)}" for note in notes)]
    if comparison.cells:
        parts += ["## Verdicts", "\n".join(map(_item, comparison.cells))]
        parts += ["## Figures", table(figures_table(comparison))]
    if comparison.cuts:
        parts += ["## Cuts", escape(CUTS_NOTE), table(cuts_table(comparison))]
        if barred := [f"- {escape(one.sentence)}" for one in comparison.cuts if one.reasons]:
            parts.append("\n".join(barred))
    return "\n\n".join(parts) + "\n"


def _cuts(comparison: Comparison, console: Console) -> list[Text | RichTable]:
    if not comparison.cuts:
        return []
    barred = [
        hanging(Text("!", style="bold yellow"), shown(one.sentence), console)
        for one in comparison.cuts
        if one.reasons
    ]
    note = Text(CUTS_NOTE, style="dim")
    return [Text("Cuts", style="bold"), note, layout(cuts_table(comparison), console), *barred]


def cuts_table(comparison: Comparison) -> tables.Table:
    """Return a row a cell and way that was cut in both runs: cuts with a loss, damaged, the worst loss."""
    levels = levels_shown([one.cell for one in comparison.cuts])
    columns = [
        *(tables.Column(level.capitalize()) for level in levels),
        tables.Column("Dies by"),
        *(tables.Column(title, figures=True) for title in CUTS_COLUMNS),
        tables.Column("Outcome"),
    ]
    rows = [
        (
            *(str(getattr(one.cell, level)) for level in levels),
            one.way,
            *(f"{side.with_loss} of {side.telling}" for side in (one.a, one.b)),
            *(f"{side.damaged}" if side.telling else words.NOT_OBSERVED for side in (one.a, one.b)),
            *(f"{side.lost.worst:,.0f}" if side.lost else words.NOT_OBSERVED for side in (one.a, one.b)),
            one.outcome,
        )
        for one in comparison.cuts
    ]
    return tables.Table(tuple(columns), tuple(rows))


def figures_table(comparison: Comparison) -> tables.Table:
    """Return a row a cell: throughput in both runs with its interval, and the ratio."""
    factors = varying_factors([compared.cell for compared in comparison.cells])
    columns = (
        *(tables.factor_column(factor) for factor in factors),
        tables.Column("Before", figures=True),
        tables.Column("95% interval", figures=True),
        tables.Column("After", figures=True),
        tables.Column("95% interval", figures=True),
        tables.Column("Ratio", figures=True),
    )
    rows = tuple(
        (
            *(compared.cell.level(factor) for factor in factors),
            words.estimate(compared.a) + words.extrapolated(compared.a_extrapolated),
            words.bounds(compared.a),
            words.estimate(compared.b) + words.extrapolated(compared.b_extrapolated),
            words.bounds(compared.b),
            words.estimate(compared.ratio),
        )
        for compared in comparison.cells
    )
    return tables.Table(columns, rows)


def varying_factors(cells: list[Cell]) -> list[Factor]:
    """Return the factors that tell these cells apart; storage alone for a single cell."""
    found = [factor for factor in FACTORS if len({cell.level(factor) for cell in cells} - {NO_LEVEL}) > 1]
    return found or ["storage"]


def _summary(comparison: Comparison) -> str:
    text = f"{words.count(len(comparison.cells), 'cell')} compared"
    if comparison.cuts:
        cut = words.count(len({one.cell.id for one in comparison.cuts}), "cell")
        text = f"{text}, {cut} cut in both" if comparison.cells else f"{cut} cut in both"
    for run, only in ((comparison.a, comparison.only_a), (comparison.b, comparison.only_b)):
        if only:
            text += f"; {words.count(len(only), 'cell')} only in {run}"
    return f"{text}."


def _notes(comparison: Comparison) -> list[str]:
    changed = [f"{change.fact}: {change.a} before, {change.b} now" for change in comparison.differences]
    one_sided = [
        f"only in {run}: {listed(cells, MOST_CELLS_NAMED)}"
        for run, cells in ((comparison.a, comparison.only_a), (comparison.b, comparison.only_b))
        if cells
    ]
    return [*changed, *one_sided]


def _verdict(compared: CellComparison, console: Console) -> Text:
    body = shown(compared.sentence)
    for reason in words.further_reasons(compared.sentence, compared.reasons):
        body.append(shown(f"\n{reason}", style="dim"))
    return hanging(mark(compared.outcome, console), body, console)


def _item(compared: CellComparison) -> str:
    return verdict_item(compared.outcome, compared.sentence, compared.reasons)
