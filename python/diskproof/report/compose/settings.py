"""What the servers really ran with, as they answered."""

from diskproof.analysis.answers import Analysis
from diskproof.report.compose.tables import noted, table
from diskproof.report.document import Section, Table
from diskproof.wording.numbers import NOT_OBSERVED


def differences(analysis: Analysis) -> Section:
    """Return what differs between the tuning levels; an empty section if nothing does."""
    note = "As the running servers answered, not as they were asked."
    found = level_differences(analysis)
    return noted("What differs between the tuning levels", note, found, anchor="levels")


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
