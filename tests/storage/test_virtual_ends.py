"""Virtual disks are gone after any end: of their program, of their user and of the run."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from diskproof.refusal import RefusalError
from diskproof.storage import filesystem
from diskproof.storage.layout import Layout
from diskproof.storage.places import Places
from diskproof.system.journal import Journal, clean
from diskproof.system.run_processes import processes_of
from support.virtual import left_of, needs_virtual_disks, storage

MIB = 2**20

pytestmark = [needs_virtual_disks, pytest.mark.timeout(120)]


def test_a_disk_whose_program_dies_is_gone_and_leaves_nothing(journal: Journal) -> None:
    places = Places(journal)
    layout = Layout("v", storage(), places)
    folder = layout.fresh()["data"]
    [disk] = layout.disks()
    with (folder / "file").open("wb") as file:
        file.write(os.urandom(4 * MIB))
        disk.served.process.send_signal(signal.SIGKILL)
        disk.served.process.wait()
        began = time.monotonic()
        with pytest.raises(OSError, match=r"Input/output error|Read-only"):
            os.fsync(file.fileno())
    with pytest.raises(RefusalError, match="is gone"):
        layout.clear()
    places.close()
    assert time.monotonic() - began < 10, "nothing hangs"


def test_a_disk_in_use_is_not_taken_away_but_goes_when_its_user_leaves(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystem, "UNMOUNT_S", 0.2)
    places = Places(journal)
    layout = Layout("v", storage(), places)
    with (layout.fresh()["data"] / "file").open("wb"):
        places.close()
        assert left_of(journal.mark) != []


KILLED_RUN = """
    import sys
    from diskproof.storage.layout import Layout
    from diskproof.storage.places import Places
    from diskproof.study.storages import StorageChoice
    from diskproof.system.journal import Journal
    journal = Journal.begin("doomed")
    for kind in ("ext4", "xfs"):
        chosen = {"virtual": "null", "size": "400 MiB", "filesystem": kind}
        layout = Layout("v", StorageChoice.model_validate(chosen), Places(journal))
        (layout.fresh()["data"] / "file").write_bytes(bytes(range(256)) * 40_000)
    print(journal.mark, flush=True)
    sys.stdin.read()
"""


def test_clean_undoes_the_disks_of_a_killed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED_RUN)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    mark = process.stdout.readline().strip()
    assert len(left_of(mark)) == 6, "two file systems, two loop devices, two FUSE mounts"
    process.kill()
    process.wait()
    undone = clean()
    assert [item for item in undone if not item.done] == []
    assert left_of(mark) == []
    assert list(processes_of(mark)) == []
    assert not list(Path("/tmp").glob(f"diskproof-{mark}*"))
