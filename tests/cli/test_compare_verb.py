"""`diskproof compare` as a script uses it: exit codes, JSON, names, refusals."""

import json
from pathlib import Path

import pytest

from support.command import diskproof_here
from support.runs import write_run
from support.trials import make_machine, make_plan, make_trials, typical_rate


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two runs: the second one's disk is 20% slower."""
    folder, plan = tmp_path_factory.mktemp("runs"), make_plan(tunings=("safest",), clients=(8,))
    for name, disk in (("old", 1.0), ("new", 0.8)):
        rates = {cell: typical_rate(cell) * (disk if cell.storage == "disk" else 1) for cell in plan.cells}
        trials = make_trials(plan, rates.__getitem__, spread=0.004)
        write_run(folder / name, plan, trials, make_machine(plan))
    return folder


@pytest.mark.parametrize(
    ("conditions", "code", "said"),
    [
        ([], 0, ""),
        (["--fail-if", "ratio < 0.7", "--threshold", "ratio >= 0.7", "--threshold", "p99 <= 1 s"], 0, ""),
        (
            ["--fail-if", "ratio < 0.95"],
            10,
            "diskproof: --fail-if ratio < 0.95: mariadb/disk/safest/complex/128MiB/8c: 0.8",
        ),
        (["--threshold", "throughput >= 400/s"], 10, "--threshold throughput >= 400/s: mariadb/disk/"),
        (["--fail-if", "faster"], 2, "--fail-if: write a condition such as `p99 <= 20 ms`, not `faster`"),
        (["--fail-if", "slower=5%"], 2, "or `slower`, `losing-more`"),
        (["--threshold", "ratio of storage a to b > 1"], 2, "leave out `to`"),
        (["--threshold", "p99 < 0 ms"], 2, "the bound must be more than 0"),
        (["--fail-if", "losing-more"], 10, "--fail-if losing-more: no such cell"),
        (["--label", "x", "--label", " "], 2, "--label is given twice, with two different names"),
        (["--label", "x"], 2, "--label is given twice, with two different names"),
    ],
)
def test_the_exit_code_says_whether_conditions_are_kept(
    runs: Path, conditions: list[str], code: int, said: str
) -> None:
    result = diskproof_here(runs, "compare", "old", "new", *conditions)
    assert result.returncode == code, result.stderr
    assert said in " ".join(result.stderr.split())


def test_no_path_stands_for_a_run(runs: Path) -> None:
    result = diskproof_here(runs, "compare", str(runs / "old"), str(runs / "new"))
    assert result.stdout.startswith("the second run against the first run\n")
    assert "20% slower" in result.stdout
    assert str(runs) not in result.stdout


def test_a_run_is_not_compared_with_itself(runs: Path) -> None:
    result = diskproof_here(runs, "compare", "old", str(runs / "new" / ".." / "old"))
    assert (result.returncode, result.stdout) == (2, "")
    assert "old is named twice" in result.stderr


def test_json_of_a_failed_condition_is_whole(runs: Path) -> None:
    result = diskproof_here(
        runs,
        "compare",
        "old",
        "new",
        "--label",
        "main",
        "--label",
        "branch",
        "--fail-if",
        "slower",
        "--format",
        "json",
    )
    made = json.loads(result.stdout)
    assert result.returncode == 10
    assert (made["a"]["label"], made["b"]["label"]) == ("main", "branch")
    assert made["failed"][0]["why"] == "beyond"
    assert made["failed"][0]["found"]["high"] < 0.9


def test_more_than_two_runs_are_a_trend_against_the_first(runs: Path, tmp_path: Path) -> None:
    plan = make_plan(tunings=("safest",), clients=(8,))
    third = write_run(tmp_path / "third", plan, make_trials(plan), make_machine(plan)).path
    names = ["--label", "May", "--label", "June", "--label", "July"]
    result = diskproof_here(runs, "compare", "old", "new", str(third), *names)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("3 runs of quickstart, each against May\n")
    disk = result.stdout[result.stdout.index("disk") :]
    assert disk.index("May") < disk.index("June") < disk.index("July")
    assert "20% slower" in disk
    values = json.loads(diskproof_here(runs, "compare", "old", "new", str(third), "--format", "json").stdout)
    assert [len(step["cells"]) for step in values["steps"]] == [2, 2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-if", "slower"], "a condition is about two runs"),
        (["--label", "a", "--label", "b"], "--label is given 3 times, with different names"),
    ],
)
def test_what_a_trend_has_not_is_refused(runs: Path, tmp_path: Path, words: list[str], said: str) -> None:
    plan = make_plan(tunings=("safest",), clients=(8,))
    third = write_run(tmp_path / "third", plan, make_trials(plan), make_machine(plan)).path
    result = diskproof_here(runs, "compare", "old", "new", str(third), *words)
    assert result.returncode == 2
    assert said in result.stderr
