"""The report of a run as Markdown, to be pasted where people talk: the answer, and the rest folded."""

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import one_screen
from diskproof.report.compose.run import compose
from diskproof.report.write import markdown

PICTURE = "report.svg"
"""The name of the picture of the answer, beside the file."""


def render(analysis: Analysis, picture: str = "") -> str:
    """Return the whole report; `picture` names a file with the picture of its answer."""
    return markdown.write_answered(one_screen.run(analysis), compose(analysis), picture)
