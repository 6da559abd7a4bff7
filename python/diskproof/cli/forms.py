"""The forms in which verbs print an answer."""

from dataclasses import replace
from typing import Literal

from pydantic import BaseModel

from diskproof.cli.screen import put, put_json, results
from diskproof.report.one_screen import OneScreen
from diskproof.report.write import markdown, one_screen, terminal

Form = Literal["text", "markdown", "json"]


def put_in_form(form: Form, screen: OneScreen, values: BaseModel, *, whole: bool = False) -> None:
    """Print an answer as one screen or its whole for people, as Markdown, or its values as JSON."""
    match form:
        case "text" if whole:
            terminal.write(replace(screen, lines=()).document(), results)
        case "text":
            one_screen.write(screen, results)
        case "markdown":
            put(markdown.write(screen))
        case "json":
            put_json(values.model_dump_json(indent=2) + "\n")
