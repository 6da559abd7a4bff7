"""An audit as JSON, for other programs."""

from diskproof.analysis.audited.shapes import AuditAnswer


def render(audit: AuditAnswer) -> str:
    """Return the audit as indented JSON; ``AuditAnswer.model_json_schema()`` is its schema."""
    return audit.model_dump_json(indent=2) + "\n"
