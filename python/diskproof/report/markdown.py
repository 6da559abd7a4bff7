"""The report of a run as Markdown, to be pasted where people talk: the answer, and the rest folded."""

from dataclasses import replace

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import one_screen
from diskproof.report.compose.run import compose
from diskproof.report.document import Section
from diskproof.report.one_screen import foremost
from diskproof.report.write import markdown

PICTURE = "report.svg"
"""The name of the picture of the answer, beside the file."""

MOST_ROWS = 16
"""Rows of the answer; the report below it has all."""


def render(analysis: Analysis, picture: str = "") -> str:
    """Return the whole report; `picture` names a file with the picture of its answer."""
    whole = compose(analysis)
    rest = (Section("", whole.lead), *whole.sections)
    screen = one_screen.run(analysis)
    first = tuple(foremost(screen.blocks, MOST_ROWS))
    return markdown.write(replace(screen, blocks=first, rest=rest), picture)
