"""docs/experiments.md says of each experiment what the audit finds, and needs no run for that."""

import re

import audits
from diskproof.analysis.audited.audit import audit_article
from diskproof.importers.article import FORMAT
from diskproof.importers.base import Text
from diskproof.results.article import Article


def test_each_experiment_has_its_audit_and_it_is_current() -> None:
    text = audits.PAGE.read_text()
    assert audits.renewed(text) == text, "run `make docs`"
    for path in audits.ARTICLES.glob("*.toml"):
        assert text.count(audits.BEGIN.format(study=path.stem)) == 1
        assert audits.section(path.stem) in text


def test_renewing_puts_an_audit_at_the_end_of_its_chapter_and_leaves_the_rest() -> None:
    study = "star-ssd-sas-dram"
    bare = f"# Page\n\nbefore\n\n## {study}\n\nmeasured\n\n## another\n\nafter\n"
    once = audits.renewed(bare)
    assert once == bare.replace("measured\n", f"measured\n\n{audits.section(study)}\n")
    assert audits.renewed(once) == once


def test_an_audit_at_the_end_of_the_page_ends_it() -> None:
    bare = "## star-ssd-sas-dram\n\nmeasured\n"
    assert audits.renewed(bare).endswith(f"{audits.END}\n")
    assert audits.renewed(audits.renewed(bare)) == audits.renewed(bare)


def test_findings_name_their_gravity_and_their_arithmetic() -> None:
    said = audits.section("juju-ec2")
    assert "- **error** `percent-or-ratio`:" in said
    assert "131 / 22.8 - 1 = 474.6 % more" in said.replace("\\", "")
    assert said.index("**error**") < said.index("**threat**")


def test_the_pages_example_is_read_and_audited_as_the_page_says() -> None:
    (example,) = re.findall(
        r"```toml\n(\[article\]\n.*?)```", (audits.DOCS / "audit.md").read_text(), re.DOTALL
    )
    (article,) = FORMAT.read(Text("article.toml", example, ""))
    assert isinstance(article, Article)
    failed = {one.check for one in audit_article(article).within("failed")}
    assert {"percent-or-ratio", "printed-tail", "unequal-limits", "best-of", "mixed-durability"} <= failed


def test_prose_is_renewed_from_the_study_and_what_was_measured_is_left() -> None:
    study = "juju-ec2"
    old = (
        f"## {study}\n\nmeasured\n\n### What was expected\n\nstale words\n\n### How to read it\n\nstale words"
    )
    new = audits.renewed(old)
    assert new.startswith(f"## {study}\n\nmeasured\n\n### What was expected\n\nThe data fit in memory")
    assert "How often each cell was run is not told" in new
    assert "stale words" not in new
    assert audits.renewed(new) == new


def test_what_is_noted_is_not_among_what_passed() -> None:
    said = audits.section("percona-raspberry-pi")
    assert "- **note** `tools`" in said
    assert "`tools`" not in said[said.index("Passed:") :]
