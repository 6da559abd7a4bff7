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
    checked = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_links_between_documents_lead_somewhere() -> None:
    for page in (path for path in tracked() if path.suffix == ".md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_no_marks_of_unfinished_work() -> None:
    marks = re.compile(r"\b(TO" + "DO|FIX" + r"ME)\b")
    found = [
        path.name
        for path in tracked()
        if path.suffix in (".py", ".rs", ".md") and marks.search(path.read_text())
    ]
    assert not found


def test_every_verb_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    for verb in ("run", "plan", "report", "compare", "doctor", "clean"):
        assert f"diskproof {verb}" in readme
    for command in ("make run", "make test"):
        assert command in readme
