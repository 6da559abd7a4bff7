"""`diskproof runs`: what lies here, and which run a word means."""

import os
from pathlib import Path

import pytest

from diskproof.history.shelf import find, runs_in
from diskproof.results.summary import LABEL, write_mark
from support.command import diskproof_here
from support.runs import write_run
from support.small import give_a_run, write_small
from support.trials import make_machine, make_plan, make_trials

EARLY, LATE = "20260314-090000", "20260315-090000"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Return a folder with two runs of one study and one of another."""
    plan = make_plan(blocks=2)
    for study, name in (("mine", EARLY), ("mine", LATE), ("other", EARLY)):
        (tmp_path / "runs" / study).mkdir(parents=True, exist_ok=True)
        write_run(tmp_path / "runs" / study / name, plan, make_trials(plan), make_machine(plan))
    return tmp_path


def listed(folder: Path, *words: str) -> list[str]:
    result = diskproof_here(folder, "runs", *words)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_the_newest_stands_first_with_what_it_came_to(shelf: Path) -> None:
    lines = listed(shelf)
    assert lines[0].split()[:3] == ["2026-03-15", "09:00", "mine"]
    assert "no answer here" in lines[0]
    (shelf / "runs" / "mine" / LATE / "answer.json").write_text(
        '{"question": "Which disk?", "answer": "The \\u001b[31mSSD."}'
    )
    assert "The \N{REPLACEMENT CHARACTER}[31mSSD." in listed(shelf, "mine")[0]


def test_runs_are_found_by_what_is_known_of_them(shelf: Path) -> None:
    said = '{"question": "Which disk?", "answer": "The SSD.", "facts": ["MariaDB 10.11.19", "slower"]}'
    (shelf / "runs" / "mine" / LATE / "answer.json").write_text(said)
    diskproof_here(shelf, "runs", f"other/{EARLY}", "--note", "new kernel")
    by_words = {("mariadb", "SLOWER"): ["mine"], ("kernel",): ["other"], ("2026-03-14", "mine"): ["mine"]}
    for words, studies in by_words.items():
        begun = [line.split() for line in listed(shelf, *words) if line.startswith("2026")]
        assert [line[2] for line in begun] == studies
    assert "[new kernel]" in " ".join(" ".join(listed(shelf, "kernel")).split())
    assert diskproof_here(shelf, "runs", "mariadb", "kernel").returncode == 2


def test_words_mean_runs_where_a_command_takes_one(shelf: Path) -> None:
    diskproof_here(shelf, "runs", f"mine/{EARLY}", "--label", "before")
    compared = diskproof_here(shelf, "compare", "before", "newest")
    assert compared.returncode == 0, compared.stderr
    assert f"before: runs/mine/{EARLY}" in compared.stderr
    assert f"newest: runs/mine/{LATE}" in compared.stderr
    assert diskproof_here(shelf, "report", "other").returncode == 0
    assert diskproof_here(shelf, "report", "--full", "other").returncode == 0
    assert f"before: runs/mine/{EARLY}" in diskproof_here(shelf, "audit", "before").stderr
    unknown = diskproof_here(shelf, "report", "nothing")
    assert unknown.returncode == 2


def test_a_copy_under_another_name_is_no_run_of_the_list(shelf: Path) -> None:
    (shelf / "runs" / "mine" / LATE).rename(shelf / "runs" / "mine" / "old-run")
    assert not any(one.path.name == "old-run" for one in runs_in(shelf / "runs"))


def test_a_label_is_one_runs_alone(shelf: Path) -> None:
    for which in (EARLY, LATE):
        diskproof_here(shelf, "runs", f"mine/{which}", "--label", "best")
    assert [one.path.name for one in runs_in(shelf / "runs") if one.label == "best"] == [LATE]
    diskproof_here(shelf, "runs", "best", "--label", "")
    assert find("best", shelf / "runs") is None
    assert not (shelf / "runs" / "other" / EARLY / "label").exists()


def test_a_label_comes_before_a_study_of_its_name(shelf: Path) -> None:
    diskproof_here(shelf, "runs", f"mine/{EARLY}", "--label", "other")
    assert find("other", shelf / "runs") == shelf / "runs" / "mine" / EARLY


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "no run with `nothing`"),
        (["nothing", "--label", "x"], "has no run `nothing`"),
        (["mine", "--label", "a b"], "at most 40 letters"),
        (["mine", "other", "--label", "x"], "are for one run"),
        (["mine", "--note", "x" * 501], "at most 500"),
        (["--out", "nowhere"], "nowhere has no runs"),
    ],
)
def test_what_is_not_there_is_refused(shelf: Path, words: list[str], said: str) -> None:
    result = diskproof_here(shelf, "runs", *words)
    assert result.returncode == 2
    assert said in result.stderr


def test_damaged_and_hostile_folders_do_no_harm(shelf: Path) -> None:
    late = shelf / "runs" / "mine" / LATE
    (late / "answer.json").write_text("{")
    os.mkfifo(late / "label")
    (shelf / "runs" / "mine" / "20260316-090000").symlink_to("/proc/self")
    (shelf / "runs" / "loop").mkdir()
    (shelf / "runs" / "loop" / "1-1").symlink_to(shelf / "runs" / "loop")
    assert [line.split()[:3] for line in listed(shelf)] == [
        ["2026-03-14", "09:00", "mine"],
        ["2026-03-14", "09:00", "other"],
    ]


def test_a_run_is_held_against_an_earlier_one(tmp_path: Path) -> None:
    study = write_small(tmp_path)
    missing = diskproof_here(tmp_path, "run", study, "--against", "before")
    assert missing.returncode == 2
    assert "runs has no run `before`" in missing.stderr
    assert not (tmp_path / "runs").exists()

    write_mark(give_a_run(tmp_path), LABEL, "before")
    again = diskproof_here(tmp_path, "run", study, "--against", "before")
    assert again.returncode in (0, 10, 12), again.stderr  # other work may slow all of the second run
    assert "Conditions" in again.stdout
