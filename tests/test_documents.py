"""Documents that are made from the code are current, and the project speaks of itself alone."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: nothing to list")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_reference_pages_are_current() -> None:
    command = [sys.executable, "tools/generate.py", "--check"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_links_between_documents_lead_somewhere() -> None:
    for page in (path for path in tracked() if path.suffix == ".md"):
        for name, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
            target = page.parent / name if name else page
            assert target.exists(), f"{page.name} points to {name}"
            assert not anchor or anchor in anchors(target), f"{page.name} points to {name}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives a page's headings."""
    headings = re.findall(r"(?m)^#+ (.*)$", page.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert not {page for page in pages if f"({page})" not in index}


def test_no_marks_of_unfinished_work() -> None:
    marks = re.compile(r"\b(TO" + "DO|FIX" + r"ME)\b")
    found = [
        path.name
        for path in tracked()
        if path.suffix in (".py", ".rs", ".md") and marks.search(path.read_text())
    ]
    assert not found


def test_the_readme_is_short_and_has_every_verb() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= 120
    for verb in ("run", "plan", "report", "compare", "doctor", "clean"):
        assert f"diskproof {verb}" in readme
    for command in ("make run", "make test"):
        assert command in readme
