"""The comparison of two runs, for a terminal, as Markdown and as JSON."""

from rich.console import Console

from diskproof.analysis.answers import Comparison
from diskproof.report.compose.comparison import compose
from diskproof.report.write import markdown as writer
from diskproof.report.write import terminal


def render(comparison: Comparison, console: Console) -> None:
    """Print the comparison."""
    terminal.write(compose(comparison), console)


def markdown(comparison: Comparison) -> str:
    """Return the comparison as Markdown, which begins with a summary of five lines."""
    return writer.write(compose(comparison))


def json(comparison: Comparison) -> str:
    """Return the comparison as indented JSON; what was not observed is null."""
    return comparison.model_dump_json(indent=2) + "\n"
