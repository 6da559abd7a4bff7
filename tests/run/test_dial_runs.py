"""A property of a disk as a factor, as a user has it: a run, its curve, and where a disk lies on it."""

from pathlib import Path

import pytest

from diskproof.analysis.folder import analyse_folder
from diskproof.results.folder import RunFolder
from support.command import diskproof_here
from support.virtual import needs_virtual_disks

pytestmark = [needs_virtual_disks, pytest.mark.timeout(240)]

STUDY = """
question = "What does a flush cost?"
[design]
repeat_disturbed = false
blocks = 2
warm_up_s = 0
measure_s = 2
clients = [1]
[servers.sqlite]
family = "sqlite"
[storages.dial]
virtual = "dial"
size = "1 GiB"
vary = { flush_us = [10, "5 ms", "15 ms", "30 ms"] }
[tunings.safest]
[workloads.load]
mix = "update-non-index"
tables = 1
rows = 200
"""


def test_a_run_draws_the_curve_and_a_disk_finds_its_place_on_it(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    assert "left out, as this machine cannot serve them in time: dial-10us" in result.stderr
    (run,) = (tmp_path / "runs" / "study").iterdir()
    folder = RunFolder.open(run)
    assert {mark.name for mark in folder.dials().marks} > {"desktop-7200", "ebs-gp3"}
    (curve,) = analyse_folder(folder).curves
    fast, *_, slow = curve.points
    assert slow.value == 30_000
    # With one client a commit waits for a fixed number of flushes. Other work may void the trials of the
    # quickest disk.
    assert 0.5 < fast.figure.estimate / slow.figure.estimate / (slow.value / fast.value) < 1.2
    if len(curve.points) == 3 and curve.points[1].predicted:
        assert curve.points[1].predicted == pytest.approx(curve.points[1].figure.estimate, rel=0.3)
    assert "flush of dial" in result.stdout
    page = (run / "report.html").read_text()
    assert "Throughput by flush" in page

    profile = ("disk", "profile", ".", "--quick", "--only", "synced-append")
    marked = diskproof_here(tmp_path, *profile, "--mark", "study")
    assert "You are here" in marked.stdout, marked.stderr

    other = diskproof_here(tmp_path, "disk", "profile", ".", "--mark", str(tmp_path))
    assert other.returncode == 2
    assert "is not a run folder" in other.stderr


def test_a_property_that_the_disk_does_not_have_is_named_with_its_storage(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        STUDY.replace('flush_us = [10, "5 ms", "15 ms", "30 ms"]', "flush_time = [10, 20]")
    )
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2
    assert "storage `dial-10`: " in result.stderr
    assert "unknown field `flush_time`, expected one of" in result.stderr


def test_a_machine_too_slow_for_all_values_is_told_before(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace('[10, "5 ms", "15 ms", "30 ms"]', "[1, 2]"))
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2
    assert "serves none of the varied disks in time" in result.stderr
