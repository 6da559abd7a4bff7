"""What the servers really ran with, as they answered."""

from collections import defaultdict
from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.words import subject
from diskproof.report import words
from diskproof.report.tables.table import Column, Table
from diskproof.results.factor import FACTORS
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Trial


def level_differences(analysis: Analysis) -> Table:
    """Return a row a server variable in which tuning levels differ, with the value that each level has."""
    levels = list(dict.fromkeys(level for row in analysis.level_differences for level in row.values))
    columns = (Column("Server"), Column("Variable"), *map(Column, levels), Column("Asked for"))
    rows = tuple(
        (
            row.server,
            row.variable,
            *(row.values.get(level, words.NOT_OBSERVED) for level in levels),
            "yes" if row.declared else "no: a side effect",
        )
        for row in analysis.level_differences
    )
    return Table(columns, rows)


def settings(plan: Plan, trials: Sequence[Trial]) -> Table:
    """Return a row a server, variable and value read back, with the cells in which it was read."""
    seen: dict[tuple[str, str, str, str, bool], dict[str, Cell]] = defaultdict(dict)
    recorded: dict[tuple[str, str], dict[str, Cell]] = defaultdict(dict)
    order_of_cells = [cell.id for cell in plan.cells]
    for trial in sorted(trials, key=lambda trial: order_of_cells.index(trial.cell)):
        cell = plan.cell(trial.cell)
        for setting in trial.settings:
            observed = "no such variable" if setting.observed is None else setting.observed
            seen[cell.server, setting.name, setting.requested, observed, setting.holds][cell.id] = cell
            recorded[cell.server, setting.name][cell.id] = cell
    columns = (
        Column("Server"),
        Column("Variable"),
        Column("Asked for"),
        Column("Read back"),
        Column("In cells"),
    )
    rows = tuple(
        (
            server,
            name,
            requested,
            observed if holds else f"{observed} (does not hold)",
            _where(list(found.values()), list(recorded[server, name].values())),
        )
        for (server, name, requested, observed, holds), found in sorted(
            seen.items(), key=lambda item: item[0][:2]
        )
    )
    return Table(columns, rows)


def _where(found: Sequence[Cell], recorded: Sequence[Cell]) -> str:
    """Say which of the recorded cells were found, by one factor's levels where those explain it."""
    if len(found) == len(recorded):
        return "all"
    ids = {cell.id for cell in found}
    for factor in FACTORS:
        levels = list(dict.fromkeys(cell.level(factor) for cell in found))
        if {cell.id for cell in recorded if cell.level(factor) in levels} == ids:
            return ", ".join(subject(factor, level) for level in levels)
    return ", ".join(cell.id for cell in found)
