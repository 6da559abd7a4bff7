"""The power of places: what the kernel held never reaches the disk that comes back."""

import mmap
import os
import threading
import time
from pathlib import Path

import pytest

from diskproof.disk import DiskError
from diskproof.results.crash import Keep
from diskproof.results.record import Role
from diskproof.results.trial import RestoredBy
from diskproof.storage import filesystem
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.layout import Layout
from diskproof.storage.places import Places
from diskproof.storage.virtual import PowerCut, ServedDisk, VirtualDisk
from diskproof.study.places import FileSystem
from diskproof.study.storages import StorageChoice
from diskproof.system.journal import Journal
from support.virtual import needs_virtual_disks

MIB = 2**20

pytestmark = [needs_virtual_disks, pytest.mark.timeout(120)]

UNSYNCED = os.urandom(16).hex().encode() * 4096


def layout_of(journal: Journal, **fields: object) -> Layout:
    """Return a layout on a spinning disk, whose cache keeps for seconds what is written."""
    choice = {"virtual": "desktop-7200", "size": "400 MiB", "below_floor": True, **fields}
    return Layout("v", StorageChoice.model_validate(choice), Places(journal))


def restored(layout: Layout, log: Path | None = None) -> Path:
    """Put a data set of one synced file into place, tracked from its bytes on; return the data's folder."""

    def copy(roles: set[Role]) -> RestoredBy:
        for role in roles:
            (layout.folders()[role] / "loaded").write_bytes(b"loaded" * 1000)
        return "copy"

    if not layout.keeps("set"):
        layout.restore("set", copy)
    layout.track(lambda disk: log or disk.folder / "requests.log")
    layout.restore("set", copy)
    for disk in layout.disks():
        disk.control.set_timing(on=True)
    return layout.folders()["data"]


def write(path: Path, content: bytes, *, synced: bool) -> None:
    with path.open("wb", buffering=0) as file:
        file.write(content)
        if synced:
            os.fsync(file.fileno())


def cut(layout: Layout, keep: Keep = "nothing") -> None:
    """Cut, and let the power return, up to the mount."""
    layout.cut(PowerCut(7, keep))
    layout.power_returns()
    layout.track_no_longer()
    layout.mount_again()


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_only_synced_bytes_survive(journal: Journal, kind: FileSystem) -> None:
    layout = layout_of(journal, filesystem=kind)
    data = restored(layout)
    write(data / "synced", b"synced" * 5000, synced=True)
    write(data / "unsynced", UNSYNCED, synced=False)
    layout.cut(PowerCut(7, "nothing"))
    with pytest.raises(OSError, match=r"Input/output|Read-only"):  # dead for whoever is still there
        write(data / "late", b"late", synced=True)
    layout.power_returns()
    layout.track_no_longer()
    layout.mount_again()
    os.sync()  # nothing is left anywhere that could still be written
    assert (data / "loaded").read_bytes() == b"loaded" * 1000
    assert (data / "synced").read_bytes() == b"synced" * 5000
    assert not (data / "late").exists()
    [disk] = layout.disks()
    assert isinstance(disk, VirtualDisk)
    assert not holds(disk, UNSYNCED[:64]), "nowhere on the disk at all"
    layout.clear()


def test_an_operating_system_that_stops_loses_its_page_cache_and_not_the_disks(journal: Journal) -> None:
    layout = layout_of(journal)
    data = restored(layout)
    write(data / "unsynced", UNSYNCED, synced=False)
    direct = os.open(data / "loaded", os.O_WRONLY | os.O_DIRECT)  # past the page cache, unflushed
    page = mmap.mmap(-1, 4096)
    page.write(b"d" * 4096)
    os.pwrite(direct, page, 0)
    os.close(direct)
    cut(layout, "all")
    assert (data / "loaded").read_bytes()[:4096] == b"d" * 4096
    assert not (data / "unsynced").exists()
    layout.clear()


TRIES = 5
"""An idle arm writes what the cache has: a busy machine may leave it the time before the cut."""


def test_a_disk_that_ignores_flushes_loses_what_was_synced(journal: Journal) -> None:
    layout = layout_of(journal, flushes="ignored")
    data = restored(layout)
    for number in range(TRIES):
        synced = data / f"synced-{number}"
        write(synced, b"synced" * 5000, synced=True)
        [(_, facts)] = layout.cut(PowerCut(7, "nothing"))
        layout.power_returns()
        layout.mount_again()
        if facts["answered_at_risk_writes"]:
            break
    assert facts["answered_at_risk_writes"] > 0
    assert not synced.exists()
    assert (data / "loaded").read_bytes() == b"loaded" * 1000
    layout.track_no_longer()
    layout.clear()


def test_disks_of_one_layout_are_cut_at_once(journal: Journal) -> None:
    log = {"virtual": "desktop-7200", "size": "100 MiB", "below_floor": True, "label": "log"}
    choice = {"data": {"virtual": "desktop-7200", "size": "200 MiB", "below_floor": True}, "redo": log}
    layout = Layout("v", StorageChoice.model_validate(choice), Places(journal))
    restored(layout)
    answers = layout.cut(PowerCut(7, "all"))
    assert {disk.facts.name for disk, _ in answers} == {"desktop-7200", "log"}
    moments = [facts["at_monotonic_us"] for _, facts in answers]
    assert moments == sorted(moments)
    assert [disk.facts.name for disk in layout.cut_disks_of("redo")] == ["log"]
    assert [disk.facts.name for disk in layout.cut_disks_of("binlog")] == ["desktop-7200"]
    layout.power_returns()
    layout.track_no_longer()
    layout.mount_again()
    layout.clear()


def test_a_logged_cut_is_replayed_on_another_disk(journal: Journal, tmp_path: Path) -> None:
    layout, log, image = layout_of(journal), tmp_path / "requests.log", tmp_path / "disk.image"
    data = restored(layout, log)
    write(data / "synced", b"synced" * 5000, synced=True)
    write(data / "unsynced", UNSYNCED, synced=False)
    cut(layout, "subset")
    found = {path.name: path.read_bytes() for path in data.iterdir()}
    layout.clear()
    layout.export("set", lambda _: image)
    other = layout_of(journal, label="other")
    write(other.folders()["data"].parent / "junk", b"j" * MIB, synced=True)
    other.replay([(image, log)])
    other.mount_again()
    assert {path.name: path.read_bytes() for path in other.folders()["data"].iterdir()} == found
    os.truncate(log, log.stat().st_size - 100)
    with pytest.raises(DiskError, match="refused `replay`"):
        other.replay([(image, log)])
    layout.clear()
    other.clear()


def test_who_leaves_late_is_waited_for_and_who_stays_is_named(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystem, "UNMOUNT_S", 0.05)
    layout = layout_of(journal)
    data = restored(layout)
    stays = (data / "loaded").open("rb")
    layout.cut(PowerCut(7, "nothing"))
    threading.Timer(0.7, stays.close).start()
    began = time.monotonic()
    layout.power_returns()
    assert time.monotonic() - began >= 0.6
    layout.track_no_longer()
    layout.mount_again()
    assert (data / "loaded").read_bytes() == b"loaded" * 1000
    monkeypatch.setattr("diskproof.storage.virtual.LET_GO_S", 0.2)
    with (data / "loaded").open("rb"):
        restored_disk = layout.disks()[0]
        assert isinstance(restored_disk, ServedDisk)
        restored_disk.control.ask("track", on=True)
        layout.cut(PowerCut(7, "nothing"))
        with pytest.raises(StorageError, match="in use"):
            layout.power_returns()
    layout.clear()


def holds(disk: VirtualDisk, token: bytes) -> bool:
    """Tell whether a text lies anywhere on a disk, below every cache."""
    descriptor = os.open(disk.file, os.O_RDONLY)
    try:
        end, size = 0, disk.facts.size_bytes
        while end < size:
            try:
                start = os.lseek(descriptor, end, os.SEEK_DATA)
            except OSError:
                return False
            end = os.lseek(descriptor, start, os.SEEK_HOLE)
            if token in os.pread(descriptor, end - start, start):
                return True
        return False
    finally:
        os.close(descriptor)
