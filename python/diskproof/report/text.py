"""The report of a run for a terminal, on about one screen."""

from rich.console import Console

from diskproof.analysis.answers import Analysis
from diskproof.report.compose.run import compose
from diskproof.report.write import terminal


def render(analysis: Analysis, console: Console) -> None:
    """Print the report."""
    terminal.write(compose(analysis), console)
