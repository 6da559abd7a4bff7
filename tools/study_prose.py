"""The sections of docs/experiments/ that need no run: the study's prose.

`make experiments` makes the pages from runs; `make docs` renews these sections alone.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import marks
from diskproof.report.write.markdown import escape
from diskproof.study.read import read_study
from paths import DOCS, STUDIES

PAGES = DOCS / "experiments"

ANSWER, PROSE = "answer of the study", "prose of the study"


def summary_of(study: str) -> Path:
    """Return where a study's short page lies."""
    return PAGES / f"{study}.md"


def renewed(path: Path, study: str) -> str:
    """Return a page of a study with its sections renewed."""
    return marks.renewed(path.read_text(), partial(body, study))


def section(study: str, name: str) -> str:
    """Return a section of a page, with its marks."""
    return marks.section(name, body(study, name))


def body(study: str, name: str) -> str:
    """Return what stands in a section of a study's page."""
    return "\n\n".join({ANSWER: answer, PROSE: prose}[name](study))


def answer(study: str) -> Iterator[str]:
    """Yield what the study says first of its outcome."""
    yield from _paragraphs(read_study(STUDIES / f"{study}.toml").study.analysis)[:1]


def prose(study: str) -> Iterator[str]:
    """Yield how to read the figures, and what was expected, as the study says it today."""
    read = read_study(STUDIES / f"{study}.toml").study
    yield from ("## How to read it", *_paragraphs(read.analysis)[1:])
    yield from ("## What was expected", *_paragraphs(read.expectation))


def _paragraphs(text: str) -> list[str]:
    return [escape(one) for one in text.split("\n\n") if one.strip()]
