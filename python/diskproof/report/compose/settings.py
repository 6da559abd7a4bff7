"""What the servers really ran with, as they answered."""

from collections import defaultdict
from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.report.compose.tables import table
from diskproof.report.compose.verdict_words import subject
from diskproof.report.document import Paragraph, Section, Table
from diskproof.results.factor import FACTORS
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Trial
from diskproof.wording.numbers import NOT_OBSERVED

NOTE = "Every variable that the study asked for, and what the running server answered."
NOTE_OF_CUTS = (
    "The settings were read back before every cut. A cut whose server ran with another value than its level "
    "asks for proves nothing, and is counted as such."
)
NONE = "No setting was read back: no server was started, or none was asked for any."
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
    if found.rows:
        blocks: tuple[Paragraph | Table, ...] = (Paragraph(NOTE), found)
    elif analysis.safety and analysis.safety.made:
        blocks = (Paragraph(NOTE_OF_CUTS),)
    else:
        blocks = (Paragraph(NONE_IMPORTED if analysis.plan.imported else NONE),)
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
    seen: dict[tuple[str, str, str, str], dict[str, Cell]] = defaultdict(dict)
    recorded: dict[tuple[str, str], dict[str, Cell]] = defaultdict(dict)
    order_of_cells = [cell.id for cell in plan.cells]
    for trial in sorted(trials, key=lambda trial: order_of_cells.index(trial.cell)):
        cell = plan.cell(trial.cell)
        for setting in trial.settings:
            observed = "no such variable" if setting.observed is None else setting.observed
            observed += "" if setting.holds else " (does not hold)"
            seen[cell.server, setting.name, setting.requested or "-", observed][cell.id] = cell
            recorded[cell.server, setting.name][cell.id] = cell
    return table(
        sorted(seen.items(), key=lambda item: item[0][:2]),
        ("Server", lambda item: item[0][0]),
        ("Variable", lambda item: item[0][1]),
        ("Asked for", lambda item: item[0][2]),
        ("Read back", lambda item: item[0][3]),
        ("In cells", lambda item: _where(list(item[1].values()), list(recorded[item[0][:2]].values()))),
        label="Settings as read back",
        heads=2,
    )


def _where(found: Sequence[Cell], recorded: Sequence[Cell]) -> str:
    """Return which of the recorded cells were found, by one factor's levels if those explain it."""
    if len(found) == len(recorded):
        return "all"
    ids = {cell.id for cell in found}
    for factor in FACTORS:
        levels = list(dict.fromkeys(cell.level(factor) for cell in found))
        if {cell.id for cell in recorded if cell.level(factor) in levels} == ids:
            return ", ".join(subject(factor, level) for level in levels)
    return ", ".join(cell.id for cell in found)
