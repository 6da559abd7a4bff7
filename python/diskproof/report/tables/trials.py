"""How it was measured: the order of the trials, and the load by hand."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.words import cell_words
from diskproof.report.tables.table import Column, Table
from diskproof.results.trial import Trial


def order(analysis: Analysis) -> Table:
    """Return a row a block: its cells in the order they were run."""
    plan = analysis.plan
    names = {cell.id: cell_words(cell, analysis.varying) for cell in plan.cells}
    rows = []
    for block in plan.blocks():
        trials = sorted(
            (trial for trial in plan.trials if trial.block == block), key=lambda trial: trial.position
        )
        rows.append((str(block), "; ".join(names[trial.cell] for trial in trials)))
    return Table((Column("Block", figures=True), Column("Cells in their order")), tuple(rows))


def load_commands(analysis: Analysis, trials: Sequence[Trial]) -> Table:
    """Return a row a cell: the command that makes its load by hand; of bare files none is left to work on."""
    commands = {trial.cell: trial.load_command for trial in trials if trial.load_command}
    rows = tuple(
        (cell_words(cell, analysis.varying), commands[cell.id])
        for cell in analysis.plan.cells
        if cell.id in commands and cell.has_server
    )
    return Table((Column("Cell"), Column("Command")), rows)
