"""What the servers really ran with, as they answered."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import verdict_words
from diskproof.report.compose.tables import table
from diskproof.report.document import Paragraph, Section, Table
from diskproof.results.factor import FACTORS
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Setting, Trial
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import NOT_OBSERVED

NOTE = "Every variable that the study asked for, and what the running server answered."
NONE = "No setting was read back for trials. Those of cuts are, before each one."
NONE_IMPORTED = "Settings as the running server answered are not known: another tool measured these results."


def differences(analysis: Analysis) -> Section:
    """Return what differs between the tuning levels; an empty section if nothing does."""
    note = Paragraph("As the running servers answered, not as they were asked.")
    blocks = (note, level_differences(analysis)) if analysis.level_differences else ()
    heading = "What differs between the tuning levels"
    return Section(heading, blocks, anchor="levels")


def section(analysis: Analysis, trials: Sequence[Trial]) -> Section:
    """Return every setting that was read back, or why there is none."""
    found = settings(analysis.plan, trials)
    nothing = NONE_IMPORTED if analysis.plan.imported else NONE
    blocks = (Paragraph(NOTE if found.rows else nothing), found)
    return Section("Settings", blocks, anchor="settings", contents="Settings")


def level_differences(analysis: Analysis) -> Table:
    """Return a row a server variable in which tuning levels differ, with the value that each level has."""
    found = list(dict.fromkeys(level for row in analysis.level_differences for level in row.values))
    return table(
        analysis.level_differences,
        ("Server", lambda row: row.server),
        ("Variable", lambda row: row.variable),
        *((level, lambda row, level=level: row.values.get(level, NOT_OBSERVED)) for level in found),
        ("Asked for", lambda row: "yes" if row.declared else "no: a side effect"),
        label="Variables in which the tuning levels differ",
        heads=2,
    )


def settings(plan: Plan, trials: Sequence[Trial]) -> Table:
    """Return a row a server, variable and value read back, with the cells in which it was read."""
    rows = [(plan.cell(trial.cell), setting) for trial in trials for setting in trial.settings if plan.cells]
    found = grouped(rows, lambda row: (row[0].server, row[1].name, row[1].requested, row[1].observed))
    everywhere = grouped(rows, lambda row: (row[0].server, row[1].name))
    return table(
        sorted(found.values(), key=lambda some: (some[0][0].server, some[0][1].name)),
        ("Server", lambda some: some[0][0].server),
        ("Variable", lambda some: some[0][1].name),
        ("Asked for", lambda some: some[0][1].requested or "-"),
        ("Read back", lambda some: _observed(some[0][1])),
        ("In cells", lambda some: _where(some, everywhere[some[0][0].server, some[0][1].name])),
        label="Settings as read back",
        heads=2,
    )


def _observed(one: Setting) -> str:
    observed = "no such variable" if one.observed is None else one.observed
    return observed if one.holds else f"{observed} (does not hold)"


def _where(found: Sequence[tuple[Cell, Setting]], everywhere: Sequence[tuple[Cell, Setting]]) -> str:
    some, every = ({cell.id: cell for cell, _ in rows} for rows in (found, everywhere))
    if len(some) == len(every):
        return "all"
    held, of_all = (
        [{factor: one.level(factor) for factor in FACTORS} for one in cells.values()]
        for cells in (some, every)
    )
    return verdict_words.places(held, of_all, "cells").strip()
