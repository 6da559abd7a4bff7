"""How it was measured: the order of the trials, and the load by hand."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import head
from diskproof.report.compose.tables import figures, table
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Code, Paragraph, Section, Table
from diskproof.results.trial import Trial

BY_HAND = "With the cell's server running, this command makes the same load."


def section(analysis: Analysis, trials: Sequence[Trial]) -> Section:
    """Return the method in sentences, the order of the trials and the commands of the load."""
    ordered = head.has_speed(analysis.plan) and not analysis.plan.imported and trials
    commands = load_commands(analysis, trials)
    return Section(
        "How it was measured",
        (
            *map(Paragraph, filter(None, [*head.method(analysis), head.scale(analysis.plan)])),
            Section("The order of the trials", (order(analysis),) if ordered else (), folded=True),
            Section(
                "The load by hand", (Paragraph(BY_HAND), Code(commands)) if commands else (), folded=True
            ),
        ),
        anchor="method",
        contents="Method",
    )


def order(analysis: Analysis) -> Table:
    """Return a row a block: its cells in the order they were run."""
    plan = analysis.plan
    names = {cell.id: cell_words(cell, analysis.varying) for cell in plan.cells}

    def ordered(block: int) -> str:
        trials = [trial for trial in plan.trials if trial.block == block]
        return "; ".join(names[trial.cell] for trial in sorted(trials, key=lambda trial: trial.position))

    return table(
        plan.blocks(),
        (figures("Block"), str),
        ("Cells in their order", ordered),
        label="Order of the cells in each block",
    )


def load_commands(analysis: Analysis, trials: Sequence[Trial]) -> tuple[tuple[str, str], ...]:
    """Return for each cell the command that makes its load by hand; a load on bare files has none left."""
    commands = {trial.cell: trial.load_command for trial in trials if trial.load_command}
    return tuple(
        (cell_words(cell, analysis.varying), commands[cell.id])
        for cell in analysis.plan.cells
        if cell.id in commands and cell.has_server
    )
