"""The verdict of `scripts/test`: passed when everything passed, failed otherwise, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def a_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project whose tests, linters and compiler do nothing but end as they are told to."""
    a_program(tmp_path / "project/tests/servers/fetch.sh", "true")
    a_program(tmp_path / "project/venv/bin/python", "exit $PYTHON_ENDS")
    a_program(tmp_path / "programs/make", "exit $LINT_ENDS")
    result = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
    a_program(tmp_path / "programs/cargo", f'echo "{result}"; exit $RUST_ENDS')
    (tmp_path / "project/scripts").mkdir()
    shutil.copy(ROOT / "scripts/test", tmp_path / "project/scripts/test")
    (tmp_path / "scratch").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("python", "lint", "rust", "verdict"),
    [
        (0, 0, 0, "Python's tests passed; linters and Rust's tests passed"),
        (1, 0, 0, "Python's tests failed; linters and Rust's tests passed"),
        (0, 1, 0, "Python's tests passed; linters and Rust's tests failed"),
        (0, 0, 1, "Python's tests passed; linters and Rust's tests failed"),
        (1, 1, 0, "Python's tests failed; linters and Rust's tests failed"),
    ],
)
def test_the_verdict_is_that_of_all_parts(
    tree: Path, python: int, lint: int, rust: int, verdict: str
) -> None:
    ended = subprocess.run(
        [tree / "project/scripts/test"],
        env=os.environ
        | {
            "PATH": f"{tree / 'programs'}:{os.environ['PATH']}",
            "VENV": "venv",
            "TMPDIR": str(tree / "scratch"),
            "PYTHON_ENDS": str(python),
            "LINT_ENDS": str(lint),
            "RUST_ENDS": str(rust),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.stdout.splitlines()[-1] == verdict
    assert (ended.returncode == 0) is (python == lint == rust == 0)
    assert not list((tree / "scratch").iterdir())
