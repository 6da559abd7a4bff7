"""The steps of the GitHub Action and of the GitLab job, run by a shell as they stand in their files."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from diskproof.results.summary import LABEL, write_mark
from support.command import environment
from support.small import SLOW, give_a_run, write_small

ROOT = Path(__file__).parents[2]

UNDRAWN = """
import sys, types
sys.modules["vl_convert"] = drawing = types.ModuleType("vl_convert")
drawing.vegalite_to_svg = lambda _: "<svg></svg>"
from diskproof.__main__ import run
run()
"""
"""The program, with no pictures on its pages: drawing takes longest of a run's end."""

FAKE = '#!/bin/sh\nprintf "%s\\n" "$@" >>said\n'
"""Stands for what would reach a forge: it writes down how it was called."""


def steps(file: str) -> list[str]:
    """Return the commands of a file's steps."""
    text = (ROOT / file).read_text()
    if file == "action.yml":
        return [one.strip("'") for one in re.findall(r"(?m)^ +run: (.*)$", text)][1:]
    folded = re.sub(r">-\n +(.*)\n +(.*)\n +(.*)\n", r"\1 \2 \3\n", text)
    return re.findall(r"(?m)^    - ((?:scripts|test).*)$", folded)


@pytest.fixture
def forge(tmp_path: Path) -> Path:
    """Return a folder with a baseline, and programs that stand for a forge's."""
    (tmp_path / "bin").mkdir()
    for name in ("gh", "curl"):
        program = tmp_path / "bin" / name
        program.write_text(FAKE)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "undrawn.py").write_text(UNDRAWN)
    program = tmp_path / "bin" / "diskproof"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" undrawn.py "$@"\n')
    program.chmod(0o755)
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    write_mark(give_a_run(tmp_path), LABEL, "main")
    return tmp_path


def run_steps(folder: Path, steps: list[str], baseline: str = "main") -> list[int]:
    variables = {
        **environment(folder),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "GITHUB_ACTION_PATH": str(ROOT),
        "STUDY": "shop.toml",
        "BASELINE": baseline,
        "NUMBER": "7",
        "CI_API_V4_URL": "https://forge",
        "CI_PROJECT_ID": "1",
        "CI_MERGE_REQUEST_IID": "7",
        "TOKEN": "t",
    }
    return [
        subprocess.run(["bash", "-e", "-c", step], cwd=folder, env=variables, check=False).returncode
        for step in steps
    ]


@pytest.mark.parametrize(("file", "baseline"), [("action.yml", "newest"), ("scripts/ci/gitlab.yml", "main")])
def test_a_slower_cell_fails_the_job_and_is_commented(forge: Path, file: str, baseline: str) -> None:
    write_small(forge, SLOW, blocks=3)
    assert run_steps(forge, steps(file), baseline) == [10, 0]
    said = (forge / "said").read_text()
    assert "diskproof-comment.md" in said
    assert ("--edit-last\n--create-if-none" in said) == (file == "action.yml")
    assert "slower" in (forge / "diskproof-comment.md").read_text()


def test_what_is_open_or_the_same_is_not_commented(forge: Path) -> None:
    write_small(forge, blocks=2)
    compare, comment = run_steps(forge, steps("action.yml"))
    assert comment == 0
    if compare in (0, 12) and not (forge / "diskproof-comment.md").read_text():
        assert not (forge / "said").exists()


def test_a_token_that_may_not_comment_fails_no_job(forge: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (forge / "diskproof-comment.md").write_text("slower")
    (forge / "bin" / "gh").write_text("#!/bin/sh\nexit 1\n")
    _, comment = steps("action.yml")
    assert run_steps(forge, [comment]) == [0]
    assert "::warning::" in capfd.readouterr().out


def test_a_run_that_is_refused_fails_the_job_without_a_comment(forge: Path) -> None:
    (forge / "shop.toml").write_text("question = 1")
    (forge / "diskproof-comment.md").write_text("slower, as an earlier job found")
    assert run_steps(forge, steps("action.yml")) == [2, 0]
    assert not (forge / "said").exists()
