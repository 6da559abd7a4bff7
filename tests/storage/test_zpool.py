"""ZFS pools: made of disks of any kind, put back in a moment, gone afterwards whatever happened."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from diskproof.results.record import ROLES, Role
from diskproof.results.trial import RestoredBy
from diskproof.server.lifecycle import is_on_zfs
from diskproof.storage import zfs
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.kinds.zpool import PoolPlace
from diskproof.storage.layout import Layout, check_layout
from diskproof.storage.places import Places
from diskproof.storage.virtual import ServedDisk, missing_means
from diskproof.system.journal import Journal, clean
from diskproof.system.mounts import mounts
from support.disks import MIB, loop_device, needs, needs_root, storage
from support.virtual import left_of, needs_virtual_disks

pytestmark = [
    needs_root,
    pytest.mark.skipif(zfs.flavour() is None, reason="there is no ZFS here: install zfs-fuse"),
    pytest.mark.usefixtures("one_zfs"),
]


def file_disk(path: Path, mib: int = 256) -> dict[str, object]:
    return {"file": str(path), "size": f"{mib} MiB"}


def cached_pool(folder: Path) -> dict[str, object]:
    """Return a pool of a disk with a log and a cache, all of them files."""
    return {part: [file_disk(folder / part)] for part in ("data", "log", "cache")}


def test_a_loaded_database_is_put_back_as_it_was_kept(tmp_path: Path, journal: Journal) -> None:
    choice = storage(zpool=cached_pool(tmp_path))
    check_layout("pool", choice, needs(MIB))
    places = Places(journal)
    layout = Layout("pool", choice, places)
    pool = layout.places()[0].pool
    assert pool is not None
    assert pool.record_bytes is None, "there is no server yet"
    layout.suit(16 * 1024)
    loaded = os.urandom(3 * MIB)

    def load(roles: set[Role]) -> RestoredBy:
        assert roles == set(ROLES)
        (layout.folders()["data"] / "table").write_bytes(loaded)
        return "copy"

    assert layout.restore("rows", load) == "copy"
    pool = layout.places()[0].pool
    assert pool is not None
    assert pool.record_bytes == 16 * 1024
    for _ in range(2):
        table = layout.folders()["data"] / "table"
        table.write_bytes(b"what a trial wrote")
        (layout.folders()["redo"] / "log").write_bytes(b"and logged")
        layout.clear()
        assert layout.restore("rows", load) == "snapshot"
        assert table.read_bytes() == loaded
        assert list(layout.folders()["redo"].iterdir()) == []
    places.close()
    assert not any(journal.mark in mount.mount_point for mount in mounts())


@needs_virtual_disks
def test_a_pool_of_virtual_disks_is_put_back_by_their_snapshots(journal: Journal) -> None:
    null = {"virtual": "null", "size": "256 MiB", "below_floor": True}
    pool = {part: [{**null, "label": part}] for part in ("data", "log", "cache")}
    choice = storage(zpool=pool)
    check_layout("pool", choice, needs(MIB))
    places = Places(journal)
    layout = Layout("pool", choice, places)
    facts = layout.places()[0]
    assert [disk.name for disk in facts.virtual_disks] == ["data", "log", "cache"]

    def load(_: set[Role]) -> RestoredBy:
        (layout.folders()["data"] / "table").write_bytes(b"loaded")
        return "copy"

    layout.restore("rows", load)
    for _ in range(2):
        (layout.folders()["data"] / "table").write_bytes(b"what a trial wrote")
        os.sync()
        layout.clear()
        assert layout.restore("rows", load) == "snapshot"
        assert (layout.folders()["data"] / "table").read_bytes() == b"loaded"
    places.close()
    assert left_of(journal.mark) == []


@needs_virtual_disks
def test_disks_of_a_pool_that_differ_only_in_size_are_two(journal: Journal) -> None:
    null = {"virtual": "null", "below_floor": True}
    pool = {"data": [{**null, "size": "256 MiB"}, {**null, "size": "128 MiB"}]}
    chosen = storage(zpool=pool)
    shares = [200 * MIB, 100 * MIB]
    keys = chosen.places()["data"].disk_keys
    places = Places(journal, dict(zip(keys, shares, strict=True)))
    layout = Layout("pool", chosen, places)
    assert [disk.control.ask("describe")["contents_limit_bytes"] for disk in layout.disks()] == shares
    told = layout.places()[0]
    assert [(disk.name, disk.size_bytes) for disk in told.virtual_disks] == [
        ("null", 256 * MIB),
        ("null-2", 128 * MIB),
    ]
    places.close()


@needs_virtual_disks
@pytest.mark.parametrize("data", ["virtual", "file"])
def test_models_begin_anew_in_any_pool_with_the_draws_of_the_block(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, data: str
) -> None:
    null = {"virtual": "null", "size": "256 MiB", "below_floor": True}
    disk = null if data == "virtual" else file_disk(tmp_path / "disk")
    places = Places(journal)
    layout = Layout("pool", storage(zpool={"data": [disk], "log": [{**null, "label": "log"}]}), places)
    begun: list[tuple[str, int | None]] = []
    put_back = ServedDisk.restore

    def note(served: ServedDisk, name: str) -> None:
        put_back(served, name)
        begun.append((served.facts.name, served.seed))

    monkeypatch.setattr(ServedDisk, "restore", note)
    blocks = []
    for block in (1, 2):
        layout.draw_anew(1, block)
        layout.restore("rows", lambda _: "copy")
        assert begun == [(served.facts.name, served.seed) for served in layout.disks()]
        blocks.append([seed for _, seed in begun])
        begun.clear()
        kept = {tuple(served.control.ask("describe")["snapshots"]) for served in layout.disks()}
        assert kept == {("pool-rows",) if data == "virtual" else ()}
    assert None not in blocks[0]
    assert not set(blocks[0]) & set(blocks[1])
    places.close()


def test_a_pool_shows_its_disks_and_what_each_does(tmp_path: Path, journal: Journal) -> None:
    layout = Layout("pool", storage(zpool=cached_pool(tmp_path)), Places(journal))
    pool = layout.places()[0].pool
    assert pool is not None
    assert [(member.part, member.disk, member.device.size_bytes) for member in pool.members] == [
        (part, str(tmp_path / part), 256 * MIB) for part in ("data", "log", "cache")
    ]
    assert is_on_zfs(layout.folders()["data"].parent)
    assert not is_on_zfs(tmp_path)
    (status,) = command_lines("zpool", "list", "-H", "-o", "name,health", pool.name)
    assert status.split() == [pool.name, "ONLINE"]


@pytest.mark.parametrize(
    ("page_bytes", "said", "record"),
    [(16 * 1024, "chosen alike", "16K"), (8 * 1024, "chosen alike", "8K")],
)
def test_records_suit_the_servers_pages(
    tmp_path: Path, journal: Journal, page_bytes: int, said: str, record: str
) -> None:
    layout = Layout("pool", storage(zpool={"data": [file_disk(tmp_path / "disk")]}), Places(journal))
    layout.suit(page_bytes)
    layout.fresh()
    assert [said in note.text for note in layout.notes()] == [True]
    (found,) = command_lines("zfs", "get", "-H", "-o", "value", "recordsize", pool_of(layout) + "/roles-2")
    assert found == record


def test_a_given_record_size_is_kept_and_its_cost_noted(tmp_path: Path, journal: Journal) -> None:
    pool = {"data": [file_disk(tmp_path / "disk")], "record_size": "128 KiB", "compression": "lzjb"}
    layout = Layout("pool", storage(zpool=pool), Places(journal))
    layout.suit(16 * 1024)
    layout.fresh()
    (note,) = layout.notes()
    assert "to write a page ZFS reads and writes a whole record" in note.text
    values = command_lines(
        "zfs", "get", "-H", "-o", "value", "recordsize,compression", pool_of(layout) + "/roles-2"
    )
    assert values == ["128K", "lzjb"]
    described = layout.places()[0].pool
    assert described is not None
    assert described.record_bytes == 128 * 1024


@pytest.mark.parametrize("virtual", [False, True], ids=["files", "virtual"])
def test_a_pool_is_exported_without_its_cache_and_has_it_anew(
    tmp_path: Path, journal: Journal, virtual: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a cache of an exported pool held, OpenZFS would find again at the import."""
    if virtual and missing_means():
        pytest.skip("no virtual disk can be attached")
    null = {"virtual": "null", "size": "256 MiB", "below_floor": True}
    of_virtual = {part: [{**null, "label": part}] for part in ("data", "log", "cache")}
    places = Places(journal)
    layout = Layout("pool", storage(zpool=of_virtual if virtual else cached_pool(tmp_path)), places)
    pool = layout.places()[0].pool
    assert pool is not None
    (cache,) = pool.of("cache")

    exported: list[list[str]] = []
    bring_in = PoolPlace._import

    def look_first(place: PoolPlace) -> None:
        exported.append(command_lines("zpool", "import", "-d", str(place._links)))
        bring_in(place)

    monkeypatch.setattr(PoolPlace, "_import", look_first)

    def load(_: set[Role]) -> RestoredBy:
        (layout.folders()["data"] / "table").write_bytes(os.urandom(MIB))
        return "copy"

    for trial in range(1, 4):
        layout.restore("rows", load)
        assert len(exported) == trial
        assert any(pool.name in line for line in exported[-1])
        assert not any("cache" in line.split() for line in exported[-1])
        status = command_lines("zpool", "iostat", "-v", pool.name)
        (at,) = [number for number, line in enumerate(status) if line.startswith("cache")]
        assert Path(status[at + 1].split()[0]).name == cache.device.name
        layout.clear()
    places.close()


def test_a_daemon_that_would_import_pools_of_others_is_not_started(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    if zfs.flavour() != "zfs-fuse" or zfs.daemon_answers():
        pytest.skip("no zfs-fuse daemon would be started")
    cache = tmp_path / "zpool.cache"
    cache.touch()
    monkeypatch.setattr(zfs, "CACHE_FILE", cache)
    choice = storage(zpool={"data": [file_disk(tmp_path / "disk")]})
    with pytest.raises(StorageError, match=r"zpool.cache lists pools .* start zfs-fuse yourself"):
        check_layout("pool", choice, needs(MIB))
    with pytest.raises(StorageError, match=r"zpool.cache lists pools"):
        Layout("pool", choice, Places(journal))
    assert not zfs.daemon_answers()
    assert not (tmp_path / "disk").exists()
    cache.unlink()
    check_layout("pool", choice, needs(MIB))


def test_block_devices_are_joined(tmp_path: Path, journal: Journal) -> None:
    devices = [loop_device(tmp_path, journal, name=name) for name in ("one", "two")]
    disks = [{"block": str(device), "format": str(device)} for device in devices]
    choice = storage(zpool={"data": disks})
    check_layout("pool", choice, needs(MIB))
    places = Places(journal)
    layout = Layout("pool", choice, places)
    status = " ".join(command_lines("zpool", "status", pool_of(layout))).split()
    assert {device.name for device in devices} <= set(status)
    places.close()
    check_layout("again", choice, needs(MIB))  # what a pool of ours left is no stranger


def test_a_device_of_a_pool_of_others_is_refused(tmp_path: Path, journal: Journal) -> None:
    device = loop_device(tmp_path, journal)
    journal.pool("somebodys-pool")
    zfs.start_daemon(None, journal) if zfs.flavour() == "zfs-fuse" else None
    subprocess.run(
        ["zpool", "create", "-o", "cachefile=none", "-m", "none", "somebodys-pool", str(device)],
        check=True,
        capture_output=True,
    )
    disk = {"block": str(device), "format": str(device)}
    with pytest.raises(StorageError, match="is in use"):
        check_layout("pool", storage(zpool={"data": [disk]}), needs(MIB))
    zfs.patiently(["zpool", "export", "somebodys-pool"])
    with pytest.raises(StorageError, match='zfs_member "somebodys-pool"'):
        check_layout("pool", storage(zpool={"data": [disk]}), needs(MIB))


def test_bad_pools_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    disk = file_disk(tmp_path / "disk")

    def refused(need_bytes: int = MIB, **pool: object) -> str:
        with pytest.raises((StorageError, ValueError)) as error:
            check_layout("pool", storage(zpool=pool), needs(need_bytes))
        return str(error.value)

    (tmp_path / "letter").write_text("dear")
    assert "exists already" in refused(data=[file_disk(tmp_path / "letter")])
    assert "hold 256 MiB together" in refused(data=[disk], need_bytes=300 * MIB)
    assert "names one disk twice" in refused(data=[disk, disk])
    assert "names one disk twice" in refused(data=[disk], log=[disk])
    assert "power of two" in refused(data=[disk], record_size="20 KiB")
    assert "a disk is" in refused(data=[{"size": "1 GiB"}])
    assert "needs a `size`" in refused(data=[{"file": str(tmp_path / "x")}])
    assert "`format` does not belong" in refused(data=[{**disk, "format": "/dev/sdb"}])
    assert "name it twice" in refused(data=[{"block": "/dev/sdb"}])
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


def test_an_arc_that_a_running_daemon_has_not_is_refused(tmp_path: Path, journal: Journal) -> None:
    if zfs.flavour() != "zfs-fuse":
        pytest.skip("OpenZFS has no daemon")
    places = Places(journal)
    Layout("small", storage(zpool={"data": [file_disk(tmp_path / "a")], "arc_size": "32 MiB"}), places)
    other = storage(zpool={"data": [file_disk(tmp_path / "b")], "arc_size": "64 MiB"})
    with pytest.raises(StorageError, match="another ARC than the 64 MiB"):
        Layout("large", other, places)


KILLED = """
import os, signal, sys
from diskproof.storage.kinds.zpool import PoolPlace
from diskproof.storage.layout import Layout
from diskproof.storage.places import Places
from diskproof.storage.virtual import ServedDisk, missing_means
from diskproof.study.storages import StorageChoice
from diskproof.system.journal import Journal

journal = Journal.begin("to be killed")
layout = Layout("pool", StorageChoice.model_validate_json(sys.argv[1]), Places(journal))
layout.fresh()
(layout.folders()["data"] / "table").write_bytes(b"x" * 2**20)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_leaves_nothing_once_cleaned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    choice = storage(zpool=cached_pool(tmp_path)).model_dump_json(exclude_defaults=True)
    killed = subprocess.run([sys.executable, "-c", KILLED, choice], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (tmp_path / "data").exists()
    undone = clean()
    assert undone
    assert all(item.done for item in undone), undone
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state"]
    assert not any("diskproof-" in mount.mount_point and "-pool" in mount.mount_point for mount in mounts())


def pool_of(layout: Layout) -> str:
    pool = layout.places()[0].pool
    assert pool is not None
    return pool.name


def command_lines(*argv: str) -> list[str]:
    program = shutil.which(argv[0]) or f"/usr/sbin/{argv[0]}"
    return subprocess.run(
        [program, *argv[1:]], check=True, capture_output=True, text=True
    ).stdout.splitlines()
