"""The comparison of two runs, for a terminal and as Markdown."""

from rich.console import Console

from diskproof.analysis.answers import Comparison
from diskproof.report.compose.comparison import compose
from diskproof.report.write import markdown as writer
from diskproof.report.write import terminal


def render(comparison: Comparison, console: Console) -> None:
    """Print the comparison."""
    terminal.write(compose(comparison), console)


def markdown(comparison: Comparison) -> str:
    """Return the comparison as Markdown."""
    return writer.write(compose(comparison))
