"""`diskproof predict` as a user has it: a run folder, devices, words and JSON."""

import json
from pathlib import Path

import pytest

from diskproof import disk
from support.command import diskproof_here
from support.limited import MAKERS, one_cell
from support.recorded import write_recorded
from support.runs import write_run
from support.slow_disk import write_slow_disk
from support.trials import make_machine

pytestmark = pytest.mark.skipif(not disk.is_installed(), reason="diskproof-disk is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run on a desktop disk, one on a disk without a model, and a device file."""
    folder, plan = tmp_path_factory.mktemp("runs"), one_cell(8)
    trials = [MAKERS["log flush"](plan, number) for number in range(len(plan.trials))]
    write_recorded(folder / "desktop")
    write_run(folder / "real", plan, trials, make_machine(plan))
    write_slow_disk(folder)
    return folder


def test_a_quicker_disk_gives_more(folder: Path) -> None:
    result = diskproof_here(
        folder, "predict", "desktop", "--on", "desktop-7200", "ocz-agility-3-60", "--format", "json"
    )
    assert result.returncode == 0, result.stderr
    same, quick = json.loads(result.stdout)["cells"]
    (recorded,) = same["recorded"].values()
    assert same["per_s"]["estimate"] == pytest.approx(recorded, rel=0.1)
    assert quick["per_s"]["estimate"] > 1.5 * recorded
    assert quick["per_s"]["low"] < quick["per_s"]["estimate"] < quick["per_s"]["high"]


def test_words_name_load_disk_and_limit(folder: Path) -> None:
    result = diskproof_here(folder, "predict", "desktop", "--on", "ram", "--on", "slow.toml")
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "90% intervals" in said
    assert "on ram" in said
    assert "on slow.toml" in said
    for part in ("mariadb", "safest", "complex", "8 clients"):  # the table may break the name into lines
        assert part in said
    assert "predicted on" in said and "recorded" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["desktop", "--on", "no-such-disk"], "no-such-disk"),
        (["real", "--on", "desktop-7200"], "--was disk=FILE.toml"),
        (["real", "--on", "ram", "--was", "disk"], "--was takes STORAGE=DEVICE"),
        (["real", "--on", "ram", "--was", "disk=slow.toml"], "nothing could be predicted for these disks: "),
        (["nowhere", "--on", "ram"], "nowhere"),
        (["desktop"], "--on"),
    ],
)
def test_what_cannot_be_is_refused(folder: Path, arguments: list[str], said: str) -> None:
    result = diskproof_here(folder, "predict", *arguments)
    assert result.returncode == 2
    assert said in " ".join(result.stderr.split())


def test_a_device_file_stands_for_a_disk_without_a_model(folder: Path) -> None:
    result = diskproof_here(folder, "predict", "real", "--on", "slow.toml", "--was", "disk=slow.toml")
    assert result.returncode == 0, result.stderr
