"""A device is looked at once more before it is wiped: what somebody began with it meanwhile stays whole."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diskproof.storage import disks, loops, zfs
from diskproof.storage.disks import check_disk, held, signatures, take
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.layout import Layout, check_layout
from diskproof.storage.places import Places
from diskproof.system.journal import Journal
from support.disks import MIB, loop_device, needs, needs_root, storage

pytestmark = needs_root
needs_zfs = pytest.mark.skipif(zfs.flavour() is None, reason="there is no ZFS here: install zfs-fuse")


def run(*argv: str | Path) -> str:
    words = [str(word) for word in argv]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def block(device: Path) -> dict[str, object]:
    return {"block": str(device), "format": str(device), "overwrite": True}


@contextmanager
def somebodys_pool(device: Path) -> Iterator[None]:
    """Make a pool as somebody else does, and see that it is whole in the end."""
    run("zpool", "create", "-o", "cachefile=none", "-m", "none", "stranger", device)
    try:
        yield
        run("zpool", "scrub", "stranger")
        assert "errors: No known data errors" in run("zpool", "status", "stranger")
        assert [found.kind for found in signatures(device)] == ["zfs_member"]
    finally:
        run("zpool", "destroy", "-f", "stranger")


@needs_zfs
@pytest.mark.usefixtures("one_zfs")
@pytest.mark.parametrize("kind", ["block", "zpool"])
def test_a_pool_that_was_made_since_the_look_is_not_wiped(
    tmp_path: Path, journal: Journal, kind: str
) -> None:
    device, other = (loop_device(tmp_path, journal, name=name) for name in ("first", "second"))
    run("mkfs.ext4", "-q", "-L", "letters", other)
    of_pool = {"zpool": {"data": [block(other), block(device)]}}
    choice = storage(**(block(device) if kind == "block" else of_pool))
    check_layout("disk", choice, needs(MIB))
    if zfs.flavour() == "zfs-fuse":
        zfs.start_daemon(None, journal)
    with somebodys_pool(device), pytest.raises(StorageError, match=f"{device} is in use"):
        Layout("disk", choice, Places(journal))
    assert [found.label for found in signatures(other)] == ["letters"], "nothing is wiped for nothing"


def test_a_device_that_a_program_has_open_by_now_is_not_wiped(tmp_path: Path, journal: Journal) -> None:
    device = loop_device(tmp_path, journal)
    run("mkfs.ext4", "-q", "-L", "letters", device)
    check_disk("disk", device, overwrite=True)
    with device.open("rb"), pytest.raises(StorageError, match=r"in use \(process"):
        take("again", {device: True})
    assert [found.label for found in signatures(device)] == ["letters"]


def test_a_device_that_holds_something_by_now_is_not_wiped(tmp_path: Path, journal: Journal) -> None:
    device = loop_device(tmp_path, journal)
    check_disk("disk", device, overwrite=False)
    run("mkfs.ext4", "-q", "-L", "letters", device)
    with pytest.raises(StorageError, match='holds ext4 "letters"'):
        take("again", {device: False})
    assert [found.label for found in signatures(device)] == ["letters"]


def test_a_held_device_cannot_be_mounted(tmp_path: Path, journal: Journal) -> None:
    device = loop_device(tmp_path, journal)
    run("mkfs.ext4", "-q", "-L", "diskproof", device)
    with held("disk", device, overwrite=False):
        mount = subprocess.run(["mount", device, "/mnt"], check=False, capture_output=True, text=True)
        assert "busy" in mount.stderr or "already mounted" in mount.stderr
        with pytest.raises(StorageError, match="in use"), held("disk", device, overwrite=True):
            pass
    take("disk", {device: False})
    assert signatures(device) == []


def test_a_device_on_which_a_loop_device_lies_by_now_is_not_wiped(tmp_path: Path, journal: Journal) -> None:
    device = loop_device(tmp_path, journal)
    above = loops.attach(device, journal)
    with pytest.raises(StorageError, match=f"{above} lies on {device}"):
        take("again", {device: True})


def test_who_has_a_partition_open_uses_the_disk(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, part = (loop_device(tmp_path, journal, name=name) for name in ("disk", "part"))
    monkeypatch.setattr(disks, "_partitions", lambda path: [part] if path == disk else [])
    with part.open("rb"):
        assert "has" in str(disks.use(disk))
    assert disks.use(disk) is None
