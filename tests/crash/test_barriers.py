"""A file system with barriers and without, on a disk that makes each flush that it is asked for."""

from pathlib import Path

import pytest

from diskproof.results.folder import RunFolder
from support.command import diskproof_here
from support.virtual import needs_virtual_disks

pytestmark = [needs_virtual_disks, pytest.mark.timeout(120)]

STUDY = """
question = "Do barriers decide what a power cut takes?"
[design]
memory = ["16 MiB"]
[servers.sqlite]
family = "sqlite"
[storages.barriers]
virtual = "desktop-7200"
size = "500 MiB"
[storages.none]
virtual = "desktop-7200"
size = "500 MiB"
mount_options = "barrier=0"
[tunings.safest]
[crash]
cuts = 1
clients = 4
accounts = 100
keep = "nothing"
cut_after_s = 0.5
cut_before_s = 0.8
[[crash.controls]]
storages = ["barriers"]
must = "keep"
[[crash.controls]]
storages = ["none"]
must = "lose"
"""


def test_an_honest_disk_keeps_what_its_file_system_asks_it_to_keep(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    done = diskproof_here(tmp_path, "crash", "study.toml")
    assert done.returncode == 0, done.stderr  # both controls hold
    [path] = (tmp_path / "runs" / "study").glob("*")
    cuts = {cut.cell: cut for cut in RunFolder.open(path).cuts()}
    asked, not_asked = (cuts[f"sqlite/{storage}/safest"] for storage in ("barriers", "none"))
    assert asked.tells
    assert not_asked.tells
    assert asked.lost == 0
    assert not asked.is_damaged
    assert asked.disks[0].last_flush_before_s is not None
    assert not_asked.lost, "what was acknowledged lay in the disk's cache"
    assert not_asked.disks[0].last_flush_before_s is None, "the mount sends no flushes"
    assert not_asked.disks[0].answered_at_risk_writes > 0
