"""Whole runs on virtual disks, through the command line, as a user makes them."""

import re
import signal
import time
from pathlib import Path

import pytest

from diskproof.results.folder import RunFolder
from diskproof.results.trial import Trial
from support.command import begin, diskproof_here, marks_in, wait_for
from support.servers import needs_mariadb
from support.virtual import VOLUME, VOLUME_US, left_of, needs_virtual_disks

pytestmark = [needs_virtual_disks, pytest.mark.timeout(240)]

STUDY = """
question = "Does the volume cost what it says?"
[design]
repeat_disturbed = false
blocks = {blocks}
warm_up_s = 0
measure_s = {measure_s}
clients = [1]
memory = ["32 MiB"]
[servers.db]
family = "{family}"
[storages.volume]
virtual = "./volume.toml"
mount_options = "noatime"
below_floor = true  # a machine with other work may take long for anything
[storages.instant]
data = {{ virtual = "null", size = "1 GiB", label = "fastest" }}
[tunings.safest]
[workloads.load]
mix = "read-write"
tables = 1
rows = 200
"""


def write_study(folder: Path, family: str, *, blocks: int = 2, measure_s: float = 1.0) -> None:
    (folder / "volume.toml").write_text(VOLUME)
    (folder / "study.toml").write_text(STUDY.format(family=family, blocks=blocks, measure_s=measure_s))


def trials_in(folder: Path) -> list[Trial]:
    return [trial for path in (folder / "runs" / "study").glob("*") for trial in RunFolder(path).trials()]


def test_a_run_takes_the_disks_time_only_while_measuring(tmp_path: Path) -> None:
    write_study(tmp_path, "sqlite")
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    assert "Traceback" not in result.stderr
    trials = trials_in(tmp_path)
    assert len(trials) == 4
    assert all(trial.finished for trial in trials), [trial.findings for trial in trials]
    for trial in trials:
        [disk] = trial.virtual_disks
        assert trial.usage is not None
        assert disk.block is not None
        assert trial.usage.devices[disk.block].written_bytes > 0
        assert disk.seconds == pytest.approx(trial.usage.seconds, abs=0.5)
        assert all(file.as_declared for file in trial.open_files if file.role)
        assert trial.data is not None
        assert trial.data.restored_by == ("copy" if trial.block == 1 else "snapshot")
        if "volume" in trial.cell:
            assert disk.name == str(tmp_path / "volume.toml")
            assert disk.write.latency_us is not None
            assert disk.write.latency_us.p50 == pytest.approx(VOLUME_US, rel=0.05)
            assert disk.waiting is not None
            assert disk.waiting.modelled_us == pytest.approx(VOLUME_US, rel=0.05)
            assert disk.waiting.await_us > 0.9 * VOLUME_US
            # Each transaction is on the disk before the next begins, and nobody else writes.
            assert trial.load is not None
            assert 0 < trial.load.transactions_per_s < 1e6 / VOLUME_US
            assert trial.usage.activity is not None
            flushing = trial.usage.activity.doing("flushing", "data")
            assert flushing is not None, "SQLite's log lies with its data"
            assert 0.6 < flushing.share <= 1, "its one client waits for nothing else"
            assert flushing.threads == flushing.share == flushing.serving
            assert trial.usage.activity.serving == 1, "its one worker is its one client"
            assert trial.usage.cpu.keys() == {"load", "disks"}
        else:
            assert disk.name == "fastest"
    seeds = [(trial.cell, trial.virtual_disks[0].seed) for trial in trials]
    assert len(set(seeds)) == 4, "every block draws anew"
    assert all(seed for _, seed in seeds)
    [folder] = (tmp_path / "runs" / "study").iterdir()
    machine = RunFolder.open(folder).machine()
    assert machine is not None
    assert machine.idle_wake_up_us == 0
    assert {place.kind for place in machine.places} == {"virtual"}
    volume = next(place for place in machine.places if place.storage == "volume")
    assert volume.virtual is not None
    assert volume.virtual.title == "A volume for tests"
    assert volume.virtual.path_us is not None
    assert "noatime" in volume.mount_options
    assert "virtual: A volume for tests" in (folder / "report.md").read_text()
    assert "virtual: A volume for tests" in (folder / "report.html").read_text()
    assert marks_in(tmp_path) == {}
    assert list((tmp_path / "state").glob("*.jsonl")) == []


@needs_mariadb
@pytest.mark.parametrize("victim", ["diskproof", "diskproof-disk"])
def test_a_kill_under_a_running_server_leaves_nothing(tmp_path: Path, victim: str) -> None:
    """Of the lab, all that is left is cleared away; of a disk, the run ends by itself and names it."""
    write_study(tmp_path, "mysql", blocks=1, measure_s=2)
    process = begin(tmp_path, "run", "study.toml")
    wait_for(lambda: list((tmp_path / "runs" / "study").glob("*/servers/*/load.log")))
    time.sleep(0.5)
    [mark] = marks_in(tmp_path)
    assert len(left_of(mark)) >= 5
    if victim == "diskproof":
        process.kill()
        process.communicate()
        cleaned = diskproof_here(tmp_path, "clean")
        assert cleaned.returncode == 0, cleaned.stdout
    else:
        for found in marks_in(tmp_path)[mark]:
            if found.name() == victim:
                found.send_signal(signal.SIGKILL)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 2, err
        assert "Traceback" not in err
        told = " ".join(err.split())
        assert re.search(
            r"storage `(volume|instant)`: the virtual disk `(\S+/volume\.toml|fastest)` is gone", told
        )
        assert "its program was killed by SIGKILL" in told
        assert "`--resume` continues the run" in told
        assert len(trials_in(tmp_path)) == 1, "later trials would all fail as well"
        message = trials_in(tmp_path)[0].findings[0].message.text
        assert "broke off" in message or "died during the trial" in message or "is gone" in message
    assert left_of(mark) == []
    assert marks_in(tmp_path) == {}
    assert list((tmp_path / "state").glob("*.jsonl")) == []
    assert not list(Path("/tmp").glob(f"diskproof-{mark}*"))
    if victim == "diskproof-disk":
        result = diskproof_here(tmp_path, "run", "--resume", "study.toml")
        assert result.returncode in (0, 12), result.stderr
        assert [trial.finished for trial in trials_in(tmp_path)] == [True, True]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("./volume.toml", "volum", "storage `volume`: there is no device `volum`"),
        ('"1 GiB"', '"33 MiB"', "storage `instant`: data set and load need about"),
        ('mount_options = "noatime"', 'mount_options = "noatime,warp"', "storage `volume`: `mount"),
    ],
)
def test_impossible_workloads_are_refused_before_loading(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    write_study(tmp_path, "sqlite")
    text = (tmp_path / "study.toml").read_text()
    assert old in text
    (tmp_path / "study.toml").write_text(text.replace(old, new))
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode == 2, result.stderr
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "runs").exists()
    assert list((tmp_path / "state").glob("*.jsonl")) == []


@pytest.mark.parametrize(
    "storage",
    [
        'composed = { how = "block-cache", front = "null", back = "volum" }',
        'zpool = { data = [{ virtual = "null" }], log = [{ virtual = "volum" }] }',
    ],
)
def test_a_plan_knows_every_disk_that_takes_part(tmp_path: Path, storage: str) -> None:
    write_study(tmp_path, "sqlite")
    study = tmp_path / "study.toml"
    study.write_text(study.read_text().replace("[storages.", f"[storages.made]\n{storage}\n\n[storages.", 1))
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2, result.stdout
    assert "storage `made`: there is no device `volum`" in result.stderr
