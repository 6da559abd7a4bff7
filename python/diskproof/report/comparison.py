"""The comparison of two runs, for a terminal and as Markdown."""

from rich.console import Console
from rich.text import Text

from diskproof.analysis.answers import CellComparison, Comparison
from diskproof.analysis.words import listed
from diskproof.report import tables, words
from diskproof.report.markdown import escape, table, verdict_item
from diskproof.report.text import hanging, layout, mark, print_parts, shown
from diskproof.results.records import FACTORS, Cell, Factor

MOST_CELLS_NAMED = 4


def render(comparison: Comparison, console: Console) -> None:
    """Print the comparison: a verdict a cell, the figures, and what else changed between the runs."""
    heading = [
        Text(f"{comparison.b} against {comparison.a}", style="bold"),
        Text(_summary(comparison), style="dim"),
    ]
    verdicts = [_verdict(compared, console) for compared in comparison.cells]
    figures = [layout(figures_table(comparison), console)] if comparison.cells else []
    notes = [hanging(Text("!", style="bold yellow"), shown(note), console) for note in _notes(comparison)]
    print_parts([heading, notes, verdicts, figures], console)


def markdown(comparison: Comparison) -> str:
    """Return the comparison as Markdown."""
    parts = [f"# {escape(comparison.b)} against {escape(comparison.a)}", _summary(comparison)]
    notes = _notes(comparison)
    if notes:
        parts += ["## What else changed", "\n".join(f"- {escape(note)}" for note in notes)]
    if comparison.cells:
        parts += ["## Verdicts", "\n".join(map(_item, comparison.cells))]
        parts += ["## Figures", table(figures_table(comparison))]
    return "\n\n".join(parts) + "\n"


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
    found = [factor for factor in FACTORS if len({cell.level(factor) for cell in cells}) > 1]
    return found or ["storage"]


def _summary(comparison: Comparison) -> str:
    text = f"{words.count(len(comparison.cells), 'cell')} compared"
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
