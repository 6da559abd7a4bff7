"""The report of a run as Markdown, to be pasted where people talk: it begins with the answer."""

from diskproof.analysis.answers import Analysis
from diskproof.report.compose.run import compose
from diskproof.report.write import markdown


def render(analysis: Analysis) -> str:
    """Return the whole report."""
    return markdown.write(compose(analysis))
