"""The pages of the experiments hold what the audit finds in each publication, and need no run for that."""

import re

import pytest

import audits
import marks
from diskproof.analysis.audited.audit import audit_article
from diskproof.importers.article import FORMAT
from diskproof.importers.base import Text
from diskproof.results.article import Article
from paths import DOCS

STUDIES = sorted(path.stem for path in audits.ARTICLES.glob("*.toml"))


@pytest.mark.parametrize("study", STUDIES)
def test_each_experiment_has_its_prose_and_its_audit_and_they_are_current(study: str) -> None:
    for path, name in (
        (audits.summary_of(study), audits.ANSWER),
        (audits.summary_of(study), audits.PROSE),
        (audits.details_of(study), audits.PUBLICATION),
    ):
        assert path.read_text().count(audits.section(study, name)) == 1, "run `make docs`"


def test_renewing_replaces_what_stands_between_the_marks_and_leaves_the_rest() -> None:
    page = f"# Page\n\n{marks.section('one', 'old')}\n\nkept\n\n{marks.section('two', 'old')}\n"
    new = marks.renewed(page, str.upper)
    assert new == page.replace("-->\n\nold", "-->\n\nONE", 1).replace("-->\n\nold", "-->\n\nTWO")
    assert marks.renewed(new, str.upper) == new


def test_findings_name_their_gravity_and_their_arithmetic() -> None:
    said = audits.body("juju-ec2", audits.PUBLICATION)
    assert "- **error** `percent-or-ratio`:" in said
    assert "131 / 22.8 - 1 = 474.6% more" in said.replace("\\", "")
    assert said.index("**error**") < said.index("**threat**")


def test_the_pages_example_is_read_and_audited_as_the_page_says() -> None:
    (example,) = re.findall(r"```toml\n(\[article\]\n.*?)```", (DOCS / "audit.md").read_text(), re.DOTALL)
    (article,) = FORMAT.read(Text("article.toml", example, ""))
    assert isinstance(article, Article)
    failed = {one.check for one in audit_article(article).within("failed")}
    assert {"percent-or-ratio", "printed-tail", "unequal-limits", "best-of", "mixed-durability"} <= failed


def test_a_note_is_not_among_what_passed() -> None:
    said = audits.body("percona-raspberry-pi", audits.PUBLICATION)
    assert "- **note** `tools`" in said
    assert "`tools`" not in said[said.index("Passed:") :]
