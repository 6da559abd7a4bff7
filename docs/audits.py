"""What docs/experiments.md says without a run: what the audit finds in the publications, and the prose.

The chapters are made from runs (`make experiments`). At their end stand what the study's author wrote of it
and a section on the audit: both are renewed by `make docs` alone.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from diskproof.analysis.audited.audit import audit_article
from diskproof.analysis.audited.shapes import AuditAnswer
from diskproof.importers.article import FORMAT
from diskproof.importers.base import Text
from diskproof.report import markdown as markdown_of_runs
from diskproof.report.audit import markdown, words
from diskproof.results.article import Article
from diskproof.study.read import read_study

DOCS = Path(__file__).parent
PAGE = DOCS / "experiments.md"
STUDIES = DOCS.parent / "studies"
ARTICLES = STUDIES / "published"

BEGIN = "<!-- the audit of {study}: made by `make docs`; do not edit -->"
END = "<!-- the audit ends -->"


def page() -> str:
    """Return docs/experiments.md as it is, with its audits renewed."""
    return renewed(PAGE.read_text())


def renewed(text: str) -> str:
    """Return a page with each experiment's prose and audit in the place of those that are there."""
    without = re.sub(r"\n*<!-- the audit of [^\n]*-->.*?" + re.escape(END), "", text, flags=re.DOTALL)
    chapters = re.split(r"(?m)^(?=## )", without)
    return "".join(_with_audit(chapter) for chapter in chapters)


def _with_audit(chapter: str) -> str:
    study = chapter.partition("\n")[0].removeprefix("## ").strip()
    if not chapter.startswith("## ") or not (ARTICLES / f"{study}.toml").is_file():
        return chapter
    ends_page = "\n\n" if chapter.endswith("\n\n") else "\n"
    return f"{_with_prose(chapter, study).rstrip()}\n\n{section(study)}{ends_page}"


def _with_prose(chapter: str, study: str) -> str:
    """Return a chapter that ends in its study's prose as it is today; one without any is left as it is."""
    measured, heading, _ = chapter.partition(f"#{markdown_of_runs.EXPECTED}\n")
    if not heading:
        return chapter
    told = read_study(STUDIES / f"{study}.toml").study
    parts = markdown_of_runs.prose_of(told.expectation, told.analysis)
    return measured + "\n\n".join(f"#{part}" if part.startswith("##") else part for part in parts)


def section(study: str) -> str:
    """Return what the audit says of a study's article, between its marks."""
    return "\n\n".join([BEGIN.format(study=study), *_parts(study), END])


def _parts(study: str) -> Iterator[str]:
    audit = AuditAnswer(subjects=[audit_article(read(study))])
    yield "### What the audit finds in the publication"
    yield f"```\ndiskproof audit studies/published/{study}.toml\n```"
    yield (
        "An error is a figure or a statement that its own figures contradict, a threat something else that "
        "could have made the difference. Statements are in our words; each has its place."
    )
    found = [*words.failures(audit), *words.notes(audit)]
    yield "\n".join(map(finding, found)) if found else words.NOTHING_FAILED
    if untold := [f"- {markdown.shown(what)}" for what, _ in words.untold(audit)]:
        yield "What it does not tell, so that it cannot be judged:"
        yield "\n".join(untold)
    yield f"Passed: {', '.join(f'`{name}`' for name in words.passed(audit))}."


def finding(found: words.Found) -> str:
    """Return a finding as an item of a list: what is alike stands below it."""
    first, *others = words.lines(found, 1)
    said = f"- **{found.word}** `{found.check.check}`: {markdown.shown(first)}"
    return "\n".join([said, *(f"  - {markdown.shown(other)}" for other in others)])


def read(study: str) -> Article:
    """Return a study's article; it is named as a user would, so that no page holds a path of this machine."""
    path = ARTICLES / f"{study}.toml"
    (article,) = FORMAT.read(Text(str(path), path.read_text(), ""))
    if not isinstance(article, Article):
        raise TypeError(f"{path} is no article")
    return article
