"""The five published experiments, each run whole at its smallest scale, as a user runs it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from diskproof.study.plan import make_plan
from diskproof.study.read import read_study
from support.command import diskproof_here, open_for_others
from support.servers import needs_mariadb
from support.virtual import needs_virtual_disks

STUDIES = Path(__file__).parents[2] / "studies"
EXPERIMENTS = sorted(path for path in STUDIES.glob("*.toml") if "\n[published]\n" in path.read_text())

OF_A_BUSY_MACHINE = {"lateness", "host-busy", "client", "littles-law", "stopped", "short"}
"""What makes a trial invalid where others work beside it: no fault of a study, and no reason to fail."""

needs_fio = pytest.mark.skipif(not shutil.which("fio"), reason="no fio: apt-get install fio")

pytestmark = [needs_virtual_disks, needs_mariadb, needs_fio]


def test_there_are_five() -> None:
    assert len(EXPERIMENTS) == 5


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_says_what_it_shrinks_and_is_whole_at_full(path: Path) -> None:
    file = read_study(path, "full")
    assert {"smoke", "short", "full"} <= file.study.scales.keys()
    assert file.study.scale == "short"
    assert file.study.question and file.study.expectation and file.study.analysis
    assert file.study.prices and any(storage.bought for storage in file.study.storages.values())
    cells = {scale: len(make_plan(read_study(path, scale)).cells) for scale in ("smoke", "short", "full")}
    assert cells["smoke"] <= cells["short"] <= cells["full"]


@pytest.mark.usefixtures("never_repeated")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_runs_whole_at_its_smallest(
    path: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if "zpool" in path.read_text():
        request.getfixturevalue("one_zfs")
    open_for_others(tmp_path)
    done = diskproof_here(tmp_path, "run", str(path), "--scale", "smoke")
    assert done.returncode in (0, 12), done.stdout + done.stderr
    (folder,) = (tmp_path / "runs" / path.stem).glob("*-*")

    report = told(tmp_path, folder)
    assert report["complete"]
    broken = {
        found["finding"]["check"] for found in report["findings"] if found["finding"]["severity"] == "invalid"
    }
    assert broken <= OF_A_BUSY_MACHINE, report["findings"]
    if done.returncode == 0:
        beside = report["beside"]
        assert any(figure["measured"] for figure in beside["figures"] + beside["ratios"])
    page = (folder / "report.html").read_text()
    assert "Beside the published figures" in page
    assert "smoke" in page


def told(folder: Path, run: Path) -> dict[str, Any]:
    """Return what the report of a run says to a program."""
    said = diskproof_here(folder, "report", str(run), "--format", "json")
    assert said.returncode == 0, said.stderr
    answer: dict[str, Any] = json.loads(said.stdout)
    return answer
