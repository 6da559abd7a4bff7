"""The shipped studies of the power cut: what their scales carry; the quick one is run at its smallest."""

import json
from pathlib import Path

import pytest

from diskproof.study.plan import make_plan
from diskproof.study.read import read_study
from support.command import diskproof_here, open_for_others
from support.virtual import needs_virtual_disks

STUDIES = Path(__file__).parents[2] / "studies"
SHIPPED = sorted(path for path in STUDIES.glob("*.toml") if read_study(path).study.crash)


def test_the_quick_one_and_the_thorough_one_are_there() -> None:
    assert {"power-cut", "durability-truth"} <= {path.stem for path in SHIPPED}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_campaign_has_controls_and_says_what_it_shrinks(path: Path) -> None:
    file = read_study(path, "full")
    assert {"smoke", "short", "full"} <= file.study.scales.keys()
    assert file.study.scale == "short"
    assert file.study.question and file.study.expectation and file.study.analysis
    crash = make_plan(file).crash
    assert crash is not None
    musts = {
        control.must for control in crash.controls for cell, way in crash.deaths if control.covers(cell, way)
    }
    assert musts & {"lose", "break"}, "a campaign that could not see a loss proves nothing by not seeing one"
    planned = [make_plan(read_study(path, scale)).crash for scale in ("smoke", "short", "full")]
    smoke, short, full = (len(plan.trials) if plan else 0 for plan in planned)
    assert 0 < smoke < short < full


@needs_virtual_disks
@pytest.mark.usefixtures("never_repeated")
@pytest.mark.timeout(300)
def test_speed_and_safety_come_in_one_report(tmp_path: Path) -> None:
    open_for_others(tmp_path)
    done = diskproof_here(tmp_path, "run", str(STUDIES / "power-cut.toml"), "--scale", "smoke")
    assert done.returncode in (0, 12), done.stdout + done.stderr  # 12: other work made a virtual disk late
    (run,) = (tmp_path / "runs" / "power-cut").glob("*-*")
    cuts = [json.loads(line) for line in (run / "cuts.jsonl").read_text().splitlines()]
    assert len(cuts) == 4
    assert all(cut["finished"] and cut["silent_because"] is None for cut in cuts), cuts
    lost = dict.fromkeys(("mariadb/flushing-disk/safest", "mariadb/flushing-disk/fast"), 0)
    for cut in cuts:
        lost[cut["cell"]] += cut["ledger"]["lost"]
    assert lost["mariadb/flushing-disk/safest"] == 0
    assert lost["mariadb/flushing-disk/fast"] > 0
    assert "lost something" in done.stdout and "commits/s" in done.stdout
    page = (run / "report.html").read_text()
    assert "figure-speed-loss" in page
