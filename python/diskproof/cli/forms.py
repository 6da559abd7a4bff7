"""The forms in which verbs print an audit or a comparison."""

from typing import Literal

from pydantic import BaseModel

from diskproof.cli.screen import put, put_json, results
from diskproof.report.document import Document
from diskproof.report.one_screen import OneScreen
from diskproof.report.write import markdown, one_screen, terminal

Form = Literal["text", "markdown", "json"]


def put_in_form(form: Form, document: Document, values: BaseModel, screen: OneScreen | None = None) -> None:
    """Print a document for people, as one screen, text or Markdown, or its values as JSON."""
    match form:
        case "text" if screen is not None:
            one_screen.write(screen, results)
        case "text":
            terminal.write(document, results)
        case "markdown" if screen is not None:
            put(markdown.write_answered(screen, document))
        case "markdown":
            put(markdown.write(document))
        case "json":
            put_json(values.model_dump_json(indent=2) + "\n")
