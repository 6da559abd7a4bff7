"""The sections of docs/experiments/ that need no run: the study's prose, and the audit of the publication.

`make experiments` makes the pages from runs; `make docs` renews these sections alone.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import marks
from diskproof.analysis.audited.audit import audit_article
from diskproof.analysis.audited.shapes import AuditAnswer
from diskproof.importers.article import FORMAT
from diskproof.importers.base import Text
from diskproof.report.compose import audit as composed
from diskproof.report.compose import audited as words
from diskproof.report.write.markdown import escape
from diskproof.results.article import Article
from diskproof.study.read import read_study
from paths import DOCS, STUDIES

ARTICLES = STUDIES / "published"
PAGES = DOCS / "experiments"

ANSWER, PROSE, PUBLICATION = "answer of the study", "prose of the study", "audit of the publication"


def summary_of(study: str) -> Path:
    """Return where a study's short page lies."""
    return PAGES / f"{study}.md"


def details_of(study: str) -> Path:
    """Return where its tables and audits lie."""
    return PAGES / f"{study}-details.md"


def renewed(path: Path, study: str) -> str:
    """Return a page of a study with its sections renewed."""
    return marks.renewed(path.read_text(), partial(body, study))


def section(study: str, name: str) -> str:
    """Return a section of a page, with its marks."""
    return marks.section(name, body(study, name))


def body(study: str, name: str) -> str:
    """Return what stands in a section of a study's page."""
    return "\n\n".join({ANSWER: answer, PROSE: prose, PUBLICATION: publication}[name](study))


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


def publication(study: str) -> Iterator[str]:
    """Yield what the audit says of a study's article."""
    audit = AuditAnswer(subjects=[audit_article(article(study))])
    yield "## What the audit finds in the publication"
    yield f"```\ndiskproof audit studies/published/{study}.toml\n```"
    yield (
        "An error is a figure or a statement that the publication's own figures contradict. A threat is "
        "something else that could explain the difference. Statements are in our words."
    )
    found = [*words.failures(audit), *words.notes(audit)]
    yield "\n".join(map(finding, found)) if found else composed.NOTHING_FAILED
    if untold := [f"- {escape(what)}" for what, _ in words.untold(audit)]:
        yield "The publication does not report, so the audit cannot judge:"
        yield "\n".join(untold)
    yield f"Passed: {', '.join(f'`{name}`' for name in words.passed(audit))}."


def finding(found: words.Found) -> str:
    """Return a finding as an item of a list, with like findings below it."""
    first, *others = words.lines(found, 1)
    said = f"- **{found.word}** `{found.check.check}`: {escape(first)}"
    return "\n".join([said, *(f"  - {escape(other)}" for other in others)])


def article(study: str) -> Article:
    """Return a study's article; its name is the one a user would type, without a path of this machine."""
    path = ARTICLES / f"{study}.toml"
    (found,) = FORMAT.read(Text(str(path.relative_to(STUDIES.parent)), path.read_text(), ""))
    if not isinstance(found, Article):
        raise TypeError(f"{path} is no article")
    return found
