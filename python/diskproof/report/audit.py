"""An audit for a terminal, as Markdown and as JSON."""

from rich.console import Console

from diskproof.analysis.audited.shapes import AuditAnswer
from diskproof.report.compose.audit import compose
from diskproof.report.write import markdown as writer
from diskproof.report.write import terminal


def render(audit: AuditAnswer, console: Console) -> None:
    """Print the audit."""
    terminal.write(compose(audit), console)


def markdown(audit: AuditAnswer) -> str:
    """Return the whole audit as Markdown."""
    return writer.write(compose(audit))


def json(audit: AuditAnswer) -> str:
    """Return the audit as indented JSON; ``AuditAnswer.model_json_schema()`` is its schema."""
    return audit.model_dump_json(indent=2) + "\n"
