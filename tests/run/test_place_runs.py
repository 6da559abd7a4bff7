"""Whole runs on a pool: its disks take part in what the record says."""

import os
from pathlib import Path

import pytest

from diskproof.results.folder import RunFolder
from diskproof.storage import zfs
from diskproof.system.loops import loops_on
from diskproof.system.mounts import mounts
from support.command import diskproof_here

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes pools"),
]

STUDY = """
question = "Does it run?"
[design]
repeat_disturbed = false
blocks = {blocks}
warm_up_s = 0.5
measure_s = {measure_s}
clients = [1]
memory = ["16 MiB"]
[servers.db]
family = "{family}"
[storages]
{storages}
[tunings.safest]
[workloads.load]
mix = "write-only"
tables = 1
rows = 2000
"""


def run(folder: Path, **words: object) -> RunFolder:
    """Make a run; where other tests keep the machine busy a trial may not count, but each is finished."""
    (folder / "study.toml").write_text(STUDY.format(**words))
    ended = diskproof_here(folder, "run", "study.toml")
    assert ended.returncode in {0, 12}, ended.stderr
    [path] = (folder / "runs" / "study").iterdir()
    return RunFolder.open(path)


@pytest.mark.skipif(zfs.flavour() is None, reason="there is no ZFS here: install zfs-fuse")
@pytest.mark.usefixtures("one_zfs")
def test_a_database_on_a_pool_with_log_and_cache(tmp_path: Path) -> None:
    disks = {"data": 600, "log": 128, "cache": 272}
    pool = ", ".join(
        f'{part} = [{{ file = "{tmp_path}/{part}", size = "{mib} MiB" }}]' for part, mib in disks.items()
    )
    folder = run(
        tmp_path,
        blocks=2,
        measure_s=2,
        family="mysql",
        storages=f'cached.zpool = {{ {pool}, arc_size = "16 MiB" }}',
    )
    trials = folder.trials()
    assert [trial.data.restored_by for trial in trials if trial.data] == ["copy", "snapshot"]
    machine = folder.machine()
    assert machine is not None
    pool_facts = machine.places[0].pool
    assert pool_facts is not None
    (log,) = pool_facts.of("log")
    for trial in trials:
        assert trial.finished, trial.findings
        assert trial.usage is not None
        # Every commit waits for the log device: the kernel saw it.
        assert trial.usage.devices[log.device.name].writes > 0
        assert all(file.as_declared for file in trial.open_files)
        notes = [finding.message.text for finding in trial.findings if finding.check == "settings"]
        assert any("innodb_use_native_aio = OFF" in note for note in notes)
        assert any("records have 16 KiB" in note for note in notes)
    assert not loops_on(tmp_path / "log")
    assert not (tmp_path / "log").exists()
    assert not any(pool_facts.name in mount.source for mount in mounts())
