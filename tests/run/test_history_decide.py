"""`diskproof history decide`: a changed setting is found among runs, and decided by measuring again."""

from pathlib import Path

import pytest

from support.command import diskproof, diskproof_here
from support.runs import write_run
from support.trials import make_machine, make_plan, make_trials, typical_rate

STUDY = """
question = "Is it still as fast?"
[design]
blocks = 3
warm_up_s = 0
measure_s = 0.5
clients = [1]
repeat_disturbed = false
[servers.sqlite]
family = "sqlite"
[storages.here]
directory = "data"
[tunings.mine]
base = "unsafe"
variables = { synchronous = "SETTING" }
[workloads.load]
mix = "update-non-index"
tables = 1
rows = 200
"""


def test_a_setting_that_makes_it_slower_is_found_and_decided(tmp_path: Path) -> None:
    for setting in ("OFF", "OFF", "FULL"):
        (tmp_path / "shop.toml").write_text(STUDY.replace("SETTING", setting))
        made = diskproof(tmp_path, "run", "shop.toml")
        assert made.returncode in (0, 12), made.stderr
    newest = sorted((tmp_path / "runs" / "shop").iterdir())
    result = diskproof(tmp_path, "history", "decide", "shop", "--at-most", "60s")
    assert result.returncode == 10, result.stderr
    assert f"the likeliest change: {newest[1].name} and {newest[2].name}" in result.stderr
    assert "mine-after" in result.stdout
    assert "slower" in result.stdout


@pytest.fixture
def three(tmp_path: Path) -> Path:
    plan = make_plan(blocks=3, storages=("disk",), tunings=("safest",), clients=(8,))
    (tmp_path / "runs" / "shop").mkdir(parents=True)
    for day, speed in enumerate((1.0, 1.0, 0.8), start=1):
        rates = {cell: typical_rate(cell) * speed for cell in plan.cells}
        trials = make_trials(plan, rates.__getitem__, spread=0.004)
        write_run(tmp_path / "runs" / "shop" / f"2026031{day}-090000", plan, trials, make_machine(plan))
    return tmp_path


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
