"""The verdict of `scripts/test`: passed when everything passed, failed otherwise, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

RESULT = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"


PANIC = """
---- engine::waits stdout ----

thread panicked at waits.rs:7:5:
it never came
"""

FAILING = """
import pytest

def test_that_fails():
    text = "a long word " * 30
    assert not text, "the reason, which is " + text

@pytest.fixture
def broken():
    raise OSError("no such luck")

def test_that_never_begins(broken):
    pass

def test_that_passes():
    pass
"""


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
    project = tmp_path / "project"
    named = f'{{"manifest_path":"{project}/Cargo.toml","executable":"{project}/deps/tests"}}'
    a_program(
        tmp_path / "programs/cargo",
        f"case \"$*\" in *--message-format*) echo '{named}'; exit $RUST_ENDS ;; esac",
    )
    a_program(project / "deps/tests", f'echo "{RESULT}"')
    (tmp_path / "project/scripts").mkdir()
    shutil.copy(ROOT / "scripts/test", tmp_path / "project/scripts/test")
    (tmp_path / "scratch").mkdir()
    return tmp_path


def run_in(
    tree: Path, python: int = 0, lint: int = 0, rust: int = 0, **more: str
) -> subprocess.CompletedProcess[str]:
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
        }
        | more,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not list((tree / "scratch").iterdir())
    return ended


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
    ended = run_in(tree, python, lint, rust)
    assert ended.stdout.splitlines()[-1] == verdict
    assert (ended.returncode == 0) is (python == lint == rust == 0)


def test_what_a_linter_finds_keeps_no_test_from_being_run(tree: Path) -> None:
    *_, rust, _ = run_in(tree, lint=1).stdout.splitlines()
    assert rust == "Rust: 3 passed, 0 failed"


def test_what_failed_and_why_stands_last_whatever_else_is_long(tree: Path) -> None:
    """The kept end of a long log names each failure."""
    a_program(
        tree / "project/venv/bin/python",
        'seq 1000; echo "tests/a.py::test_b: assert 1 == 2" >"$DISKPROOF_TEST_FAILURES"; exit 1',
    )
    (tree / "panic").write_text(PANIC)
    a_program(tree / "project/deps/tests", f'cat "{tree / "panic"}"; seq 1000; exit 101')
    last = run_in(tree).stdout.splitlines()[-15:]
    assert "tests/a.py::test_b: assert 1 == 2" in last
    assert "---- engine::waits stdout ----" in last
    assert last[last.index("thread panicked at waits.rs:7:5:") + 1] == "it never came"


def test_many_failures_are_cut_short_and_the_verdict_is_said_all_the_same(tree: Path) -> None:
    """More than a pipe holds, of which the first lines alone are shown."""
    a_program(
        tree / "project/venv/bin/python",
        'long="$(printf %0500d 0)"; for n in $(seq 3000); do echo "tests/a.py::test_$n: $long"; done '
        '>"$DISKPROOF_TEST_FAILURES"; exit 1',
    )
    ended = run_in(tree)
    assert ended.returncode == 1
    lines = ended.stdout.splitlines()
    told = [line for line in lines if line.startswith("tests/a.py::")]
    assert [line.split(":")[2] for line in told] == [f"test_{n}" for n in range(1, 26)]
    assert {len(line) for line in told} == {400}
    assert lines[-1] == "Python's tests failed; linters and Rust's tests passed"


ENDING = """
import os

def test_that_ends_its_process():
    os._exit(0)
"""

FAILED = [
    "test_failing.py::test_that_fails: AssertionError: the reason, which is a long word",
    "test_failing.py::test_that_never_begins: OSError: no such luck",
]


def failures_of(folder: Path, *options: str) -> list[str]:
    """Run the tests in a folder beside our own `conftest.py`; return what it wrote of those that failed."""
    shutil.copy(ROOT / "tests/conftest.py", folder)
    shutil.copytree(ROOT / "tests/support", folder / "support", ignore=shutil.ignore_patterns("cases"))
    written = folder / "failures"
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
        *options,
        str(folder),
    ]
    env = os.environ | {"DISKPROOF_TEST_FAILURES": str(written)}
    ended = subprocess.run(argv, env=env, capture_output=True, timeout=60, check=False)
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    return written.read_text().splitlines()


def test_the_names_and_reasons_of_failing_tests_are_written_down(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(FAILING)
    written = failures_of(tmp_path)
    assert all(line.startswith(begin) for line, begin in zip(written, FAILED, strict=True)), written


def test_workers_tell_the_same_and_one_that_ends_has_failed(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(FAILING)
    (tmp_path / "test_ending.py").write_text(ENDING)
    written = sorted(failures_of(tmp_path, "--workers", "2"))
    ended = "test_ending.py::test_that_ends_its_process: its worker ended before it"
    assert all(line.startswith(begin) for line, begin in zip(written, [ended, *FAILED], strict=True)), written


ONCE = """if [ -e "$TMPDIR/../again" ]; then exit $AGAIN_ENDS; fi
touch "$TMPDIR/../again"; echo "tests/a.py::test_b: too late" >"$DISKPROOF_TEST_FAILURES"; exit 1"""


@pytest.mark.parametrize("again", [0, 1, 5])
def test_what_failed_beside_others_is_asked_once_more_alone_and_told(tree: Path, again: int) -> None:
    a_program(tree / "project/venv/bin/python", ONCE)
    ended = run_in(tree, AGAIN_ENDS=str(again))
    lines = ended.stdout.splitlines()
    assert "tests/a.py::test_b: too late" in lines
    assert ("Passed only alone, after they had failed beside others:" in lines) is (again == 0)
    assert (ended.returncode == 0) is (again == 0)
    assert lines[-1].startswith("Python's tests passed" if again == 0 else "Python's tests failed")


def test_what_failed_in_many_tests_or_without_a_name_is_not_asked_again(tree: Path) -> None:
    for told in ("seq 6", "true"):
        a_program(tree / "project/venv/bin/python", f'{told} >"$DISKPROOF_TEST_FAILURES"; echo begun; exit 1')
        ended = run_in(tree)
        assert (ended.returncode, ended.stdout.splitlines().count("begun")) == (1, 1)


RUST_ONCE = """case "$*" in *"--exact engine::waits"*) echo "{result}"; exit $AGAIN_ENDS ;; esac
cat "{panic}"; echo "test result: FAILED. 2 passed; {failed} failed; 0 ignored"; exit {ends}"""


@pytest.mark.parametrize(
    ("failed", "ends", "again", "passes"),
    [
        (1, 101, 0, True),
        (1, 101, 101, False),
        (2, 101, 0, False),
        (1, 139, 0, False),  # a signal ended the whole program
    ],
)
def test_a_rust_test_that_failed_runs_once_more_alone_if_all_that_failed_are_named(
    tree: Path, failed: int, ends: int, again: int, passes: bool
) -> None:
    (tree / "panic").write_text(PANIC)
    script = RUST_ONCE.format(result=RESULT, panic=tree / "panic", failed=failed, ends=ends)
    a_program(tree / "project/deps/tests", script)
    ended = run_in(tree, AGAIN_ENDS=str(again))
    lines = ended.stdout.splitlines()
    assert (ended.returncode == 0) is passes
    assert ("Passed only alone, after they had failed beside others:" in lines) is passes
    assert ("engine::waits" in lines) is passes
