"""`diskproof history decide`: a changed setting is found among runs, and decided by measuring again."""

from pathlib import Path

import pytest

from diskproof.analysis.folder import gather_folder
from diskproof.cli.history import decide
from diskproof.results.folder import RunFolder
from support.command import diskproof_here
from support.runs import write_run
from support.small import FAST, SLOW, STUDY_NAME, give_a_run, write_small
from support.trials import make_machine, make_plan, make_trials, typical_rate


def test_a_setting_that_makes_it_slower_is_found_and_decided(tmp_path: Path) -> None:
    give_a_run(tmp_path)
    for setting in (FAST, SLOW):
        made = diskproof_here(tmp_path, "run", write_small(tmp_path, setting, blocks=3))
        assert made.returncode in (0, 12), made.stderr
    newest = sorted((tmp_path / "runs" / STUDY_NAME).iterdir())
    result = diskproof_here(tmp_path, "history", "decide", STUDY_NAME, "--at-most", "60s")
    assert result.returncode == 10, result.stderr
    assert f"the likeliest change: {newest[1].name} and {newest[2].name}" in result.stderr
    assert "mine-after" in result.stdout
    assert "slower" in result.stdout


def series(folder: Path, speeds: dict[str, float]) -> None:
    """Write a run a day at these speeds."""
    plan = make_plan(blocks=3, storages=("disk",), tunings=("safest",), clients=(8,))
    (folder / "runs" / "shop").mkdir(parents=True)
    for day, speed in speeds.items():
        rates = {cell: typical_rate(cell) * speed for cell in plan.cells}
        trials = make_trials(plan, rates.__getitem__, spread=0.004)
        write_run(folder / "runs" / "shop" / f"202603{day}-090000", plan, trials, make_machine(plan))


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read runs in this process."""
    monkeypatch.setattr(decide, "gathered", lambda run: gather_folder(RunFolder.open(run)))


@pytest.fixture
def three(tmp_path: Path, read_here: None) -> Path:  # noqa: ARG001 - a fixture
    """Return a folder with three runs."""
    series(tmp_path, {"11": 1.0, "12": 1.0, "13": 0.8})
    return tmp_path


DAYS = [f"{day:02}" for day in range(1, 11)]


@pytest.mark.usefixtures("read_here")
def test_what_does_not_stand_out_is_not_measured_again(tmp_path: Path) -> None:
    series(tmp_path, {day: 1 + 0.01 * (int(day) % 2) for day in DAYS})
    result = diskproof_here(tmp_path, "history", "decide", "shop")
    assert not result.returncode, result.stderr
    assert "none stands out" in result.stderr
    assert not (tmp_path / "runs" / "shop-decided.toml").exists()


@pytest.mark.usefixtures("read_here")
def test_a_run_without_a_valid_trial_is_left_out(tmp_path: Path) -> None:
    series(tmp_path, {day: 1.0 if day < "06" else 0.8 for day in DAYS})
    (tmp_path / "runs" / "shop" / "20260304-090000" / "trials.jsonl").write_text("")
    result = diskproof_here(tmp_path, "history", "decide", "shop")
    assert "left out, without a valid trial: 20260304-090000" in result.stderr
    assert "20260305-090000 and 20260306-090000" in result.stderr


@pytest.mark.usefixtures("read_here")
def test_a_change_in_the_last_run_stands_out_as_far_as_it_can(tmp_path: Path) -> None:
    series(tmp_path, {day: 1.0 if day < "08" else 0.7 for day in DAYS[:8]})
    result = diskproof_here(tmp_path, "history", "decide", "shop")
    assert "20260307-090000 and 20260308-090000" in result.stderr
    assert "there is nothing to run side by side" in result.stderr, "it goes on"


@pytest.mark.usefixtures("read_here")
def test_the_change_is_looked_for_where_the_study_changed(tmp_path: Path) -> None:
    series(tmp_path, {day: 1.0 if day < "06" else 0.8 for day in DAYS})
    study = next((tmp_path / "runs" / "shop").iterdir()) / "study.toml"
    other = study.read_text() + "[tunings.safest]\nvariables = { max_connections = 99 }\n"
    for day in DAYS[6:]:
        (tmp_path / "runs" / "shop" / f"202603{day}-090000" / "study.toml").write_text(other)
    result = diskproof_here(tmp_path, "history", "decide", "shop", "--at-most", "nothing")
    assert "20260306-090000 and 20260307-090000" in result.stderr


def test_what_cannot_be_measured_again_is_said(three: Path) -> None:
    result = diskproof_here(three, "history", "decide", "shop")
    assert result.returncode == 2
    assert "20260312-090000 and 20260313-090000" in result.stderr
    assert "-20." in result.stderr
    assert "are the same: there is nothing to run side by side" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "0 runs: a change is looked for in 3 or more"),
        (["shop/20260311-090000", "newest"], "2 runs: a change"),
        (["shop", "nothing", "newest"], "has no run `nothing`"),
    ],
)
def test_too_few_runs_are_refused(three: Path, words: list[str], said: str) -> None:
    result = diskproof_here(three, "history", "decide", *words)
    assert result.returncode == 2
    assert said in result.stderr
