"""Virtual disks as places: refused early, and put back in a moment."""

import mmap
import os
import platform
import shutil
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from diskproof import disk
from diskproof.disk import TooFastError
from diskproof.refusal import RefusalError
from diskproof.results.record import Role
from diskproof.results.trial import RestoredBy
from diskproof.storage import filesystem, kinds, path_cost, virtual
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.layout import Layout, check_layout
from diskproof.storage.places import Places
from diskproof.study.places import FileSystem
from diskproof.study.storages import StorageChoice
from diskproof.system.journal import Journal
from diskproof.system.mounts import describe
from diskproof.system.run_processes import is_gone, processes_of
from support.disk_path import own_us
from support.virtual import VOLUME, left_of, needs_virtual_disks, storage

MIB = 2**20

pytestmark = [needs_virtual_disks, pytest.mark.timeout(120)]


def needs(data: int) -> dict[Role, int]:
    return {"data": data, "redo": MIB, "binlog": MIB, "tmp": MIB}


class Filled:
    """Counts how often a data set was copied, and what of it."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.copied: list[set[Role]] = []

    def __call__(self, roles: set[Role]) -> RestoredBy:
        self.copied.append(roles)
        for role in roles:
            (self.layout.folders()[role] / "table").write_bytes(role.encode() * 100_000)
        return "copy"


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_a_data_set_is_put_back_as_it_was_in_a_moment(journal: Journal, kind: FileSystem) -> None:
    places = Places(journal)
    layout = Layout("v", storage(filesystem=kind, mount_options="noatime"), places)
    fill = Filled(layout)
    assert layout.restore("small", fill) == "copy"
    [place] = {place.path for place in layout.places()}
    described = layout.places()[0]
    assert described.filesystem == kind
    assert "noatime" in described.mount_options
    assert (described.asked_options, described.barriers_off) == ("noatime", None)
    told = (filesystem.blank_options(kind, None) or "").split(",")
    assert all(option in described.mount_options for option in told)
    assert described.virtual is not None
    assert described.device is not None
    assert described.device.model == "virtual: Null"
    for folder in layout.folders().values():
        (folder / "table").write_bytes(b"spoilt")
        (folder / "more").write_bytes(os.urandom(MIB))
    layout.clear()
    assert not list(Path(place).glob("*/table")), "nothing of a trial is left between trials"
    assert layout.restore("small", fill) == "snapshot"
    assert len(fill.copied) == 1
    for role, folder in layout.folders().items():
        assert [path.name for path in folder.iterdir()] == ["table"]
        assert (folder / "table").read_bytes() == role.encode() * 100_000
    places.close()
    assert left_of(journal.mark) == []
    assert list(processes_of(journal.mark)) == []


def test_a_disk_that_another_still_has_mounted_is_waited_for(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a container has, whose mounts begin as a copy of all that there are."""
    places = Places(journal)
    layout = Layout("v", storage(filesystem="ext4"), places)
    folder = layout.fresh()["data"].parent
    held = tmp_path / "held"
    held.mkdir()
    subprocess.run(["mount", "--bind", folder, held], check=True)
    leaves = threading.Timer(1.0, subprocess.run, [["umount", held]])
    leaves.start()
    layout.fresh()  # FileExistsError, if the old file system came back with its names
    leaves.join()
    subprocess.run(["mount", "--bind", folder, held], check=True)
    with monkeypatch.context() as hurried, pytest.raises(StorageError, match="as a container is"):
        hurried.setattr(filesystem, "LET_GO_S", 0.5)
        layout.fresh()
    subprocess.run(["umount", held], check=True)
    places.close()
    assert left_of(journal.mark) == []


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_a_disk_has_the_sectors_of_its_device(journal: Journal, kind: str) -> None:
    places = Places(journal)
    layout = Layout("v", storage(virtual="desktop-7200", filesystem=kind), places)
    fill = Filled(layout)
    layout.restore("small", fill)
    [disk] = layout.disks()
    for name in ("logical_block_size", "physical_block_size"):
        assert Path(f"/sys/block/{disk.block_name}/queue/{name}").read_text() == "4096\n"
    layout.clear()
    assert layout.restore("small", fill) == "snapshot"
    for role, folder in layout.folders().items():
        assert (folder / "table").read_bytes() == role.encode() * 100_000
    places.close()


def test_every_data_set_is_kept_by_itself(journal: Journal) -> None:
    places = Places(journal)
    layout, fill = Layout("v", storage(), places), None
    fill = Filled(layout)
    assert [layout.restore(name, fill) for name in ("one", "two", "one")] == ["copy", "copy", "snapshot"]
    [disk] = layout.disks()
    assert {"empty", "v-one", "v-two"} == set(disk.control.ask("describe")["snapshots"])
    places.close()


def test_disks_of_one_device_that_differ_in_anything_have_names_of_their_own(journal: Journal) -> None:
    places = Places(journal)
    null = {"virtual": "null", "size": "64 MiB", "below_floor": True}
    roles = {
        "data": null,
        "redo": {**null, "size": "48 MiB"},
        "binlog": {**null, "mount_options": "noatime"},
        "tmp": {**null, "label": "null-2"},
    }
    layout = Layout("four", StorageChoice.model_validate(roles), places)
    assert [disk.facts.name for disk in layout.disks()] == ["null", "null-2", "null-3", "null-2-2"]
    used = [disk.use() for disk in layout.disks()]
    assert [one.name for one in used] == [disk.facts.name for disk in layout.disks()]
    again = Layout("same", StorageChoice.model_validate(null), places)
    assert [disk.facts.name for disk in again.disks()] == ["null"], "the same place"
    places.close()


def test_disabled_barriers_are_recorded_as_asked_and_as_mounted(
    journal: Journal,
) -> None:
    places = Places(journal)
    null = {"virtual": "null", "size": "64 MiB", "below_floor": True}
    roles = {"data": {**null, "mount_options": "barrier=0"}, "tmp": {**null, "label": "with"}}
    layout = Layout("two", StorageChoice.model_validate(roles), places)
    told = {place.role: (place.barriers_off, place.asks_for_no_barriers) for place in layout.places()}
    places.close()
    off = ("nobarrier", True)
    assert told == {"data": off, "redo": off, "binlog": off, "tmp": (None, False)}


def drawn(layout: Layout) -> list[float]:
    """Return what the model said to reads of a disk that was just put back: mean and largest."""
    layout.clear()
    [disk] = layout.disks()
    assert isinstance(disk, virtual.VirtualDisk)
    disk.control.set_timing(on=True)
    with disk.file.open("rb", buffering=0) as file:
        for _ in range(8):
            file.read(4096)
    told = disk.use()
    assert told.read.requests == 8
    assert told.seed == disk.seed
    latency = told.read.latency_us
    assert latency is not None
    return [latency.mean, latency.max]


def test_every_block_draws_anew_and_alike_in_every_layout(journal: Journal) -> None:
    places = Places(journal)
    cloud = {"virtual": "ebs-gp2", "size": "64 MiB"}
    first = Layout("first", StorageChoice.model_validate(cloud), places)
    second = Layout(
        "second", StorageChoice.model_validate({**cloud, "filesystem": "xfs", "size": "320 MiB"}), places
    )
    blocks = []
    for block in (1, 2, 1):
        for layout in (first, second):
            layout.draw_anew(7, block)
        blocks.append(drawn(first))
        assert drawn(second) == blocks[-1]
    assert blocks[0] == blocks[2] != blocks[1]
    first.draw_anew(8, 1)
    assert drawn(first) not in blocks, "another seed of the study"
    places.close()


def test_equal_disks_of_one_layout_draw_each_for_itself(journal: Journal) -> None:
    places = Places(journal)
    null = {"virtual": "null", "size": "64 MiB", "below_floor": True}
    roles = {"data": null, "redo": {**null, "label": "second"}}
    layout = Layout("pair", StorageChoice.model_validate(roles), places)
    layout.draw_anew(1, 1)
    seeds = [disk.seed for disk in layout.disks()]
    assert len(set(seeds)) == 2
    layout.draw_anew(1, 2)
    assert not set(seeds) & {disk.seed for disk in layout.disks()}
    places.close()


def test_only_what_lies_elsewhere_is_copied_again(tmp_path: Path, journal: Journal) -> None:
    places = Places(journal)
    redo = {"virtual": "null", "size": "64 MiB"}
    chosen = StorageChoice.model_validate({"data": {"directory": str(tmp_path / "d")}, "redo": redo})
    layout = Layout("split", chosen, places)
    fill = Filled(layout)
    assert [layout.restore("one", fill), layout.restore("one", fill)] == ["copy", "copy"]
    assert fill.copied == [{"data", "redo", "binlog", "tmp"}, {"data", "binlog", "tmp"}]
    assert (layout.folders()["redo"] / "table").read_bytes() == b"redo" * 100_000
    places.close()


def test_the_same_keys_are_the_same_disk_and_a_label_tells_two_apart(journal: Journal) -> None:
    places = Places(journal)
    disk = {"virtual": "null", "size": "64 MiB"}
    one = Layout("one", StorageChoice.model_validate(disk), places)
    again = Layout("again", StorageChoice.model_validate({"data": disk, "tmp": disk}), places)
    other = Layout("other", StorageChoice.model_validate({"data": {**disk, "label": "other"}}), places)
    assert one.disks() == again.disks() != other.disks()
    assert other.disks()[0].facts.name == "other"
    places.close()


def test_time_is_taken_and_counted_as_told(journal: Journal) -> None:
    places = Places(journal)
    layout = Layout("v", storage(), places)
    [disk] = layout.disks()
    folder = layout.fresh()["data"]
    assert not disk.control.ask("describe")["timing"], "set-up runs at memory speed"
    disk.control.set_timing(on=True)
    assert disk.control.ask("describe")["timing"]
    disk.count_anew()
    with (folder / "file").open("wb") as file:
        file.write(os.urandom(8 * MIB))
        os.fsync(file.fileno())
    use = disk.use()
    assert 8 * MIB <= use.write.bytes < 10 * MIB
    assert use.flush.requests >= 1
    assert use.lateness_us is not None
    assert not use.late
    assert use.contents_bytes >= 8 * MIB
    assert use.block == disk.block_name
    assert str(use.block).startswith("loop")
    disk.count_anew()
    assert disk.use().write.requests == 0
    layout.clear()
    assert not disk.control.ask("describe")["timing"]
    places.close()


@pytest.fixture
def own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_cost, "_measured_us", own_us)


@pytest.mark.usefixtures("own_path")
def test_the_path_to_a_disk_is_measured_once_a_run(journal: Journal) -> None:
    measured = path_cost.path_us(journal, below_floor=True)
    assert 3 < measured <= path_cost.LONGEST_US
    assert path_cost.path_us(journal, below_floor=True) == measured
    assert left_of(journal.mark) == []
    attached = virtual.attach(virtual.Wanted("null", size_bytes=MIB, path_us=measured), journal)
    assert attached.facts.path_us == pytest.approx(measured, abs=0.1)
    attached.detach()


@pytest.mark.usefixtures("own_path")
def test_a_probe_that_is_killed_has_words(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    read = path_cost._read_us

    def killed(block: Path) -> float:
        for process in processes_of(journal.mark):
            process.kill()
            while not is_gone(process):
                time.sleep(0.01)
        return read(block)

    monkeypatch.setattr(path_cost, "_read_us", killed)
    with pytest.raises(disk.DiskError, match=r"its probe was killed by SIGKILL.*try again"):
        path_cost.path_us(journal, below_floor=True)


def test_without_loop_devices_a_disk_is_a_directory(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds.virtual, "as_directory", lambda: True)
    chosen = StorageChoice.model_validate({"virtual": "null", "size": "64 MiB"})
    check_layout("v", chosen, needs(MIB))
    with pytest.raises(StorageError, match=r"`filesystem` needs a loop device.*run as root"):
        check_layout("v", storage(filesystem="xfs"), needs(MIB))
    places = Places(journal)
    layout = Layout("v", chosen, places)
    fill = Filled(layout)
    assert layout.restore("small", fill) == "copy"
    for folder in layout.folders().values():
        (folder / "table").write_bytes(b"spoilt")
        (folder / "more").write_bytes(os.urandom(MIB))
    assert layout.restore("small", fill) == "snapshot"
    for role, folder in layout.folders().items():
        assert [path.name for path in folder.iterdir()] == ["table"]
        assert (folder / "table").read_bytes() == role.encode() * 100_000
    [disk] = layout.disks()
    disk.control.set_timing(on=True)
    disk.count_anew()
    (layout.folders()["tmp"] / "file").write_bytes(os.urandom(MIB))
    assert disk.use().write.bytes >= MIB
    assert disk.use().block is None
    described = layout.places()[0]
    assert described.device is None
    assert described.virtual is not None
    layout.clear()
    assert not [path for path in layout.folders().values() if path.exists()]
    places.close()
    assert left_of(journal.mark) == []


def test_a_trial_finds_the_disk_as_the_one_before_found_it(tmp_path: Path, journal: Journal) -> None:
    """Credits that one trial used up are there again for the next."""
    volume = tmp_path / "volume.toml"
    figure = '{{ value = {}, source = "chosen" }}'
    iops, most = figure.format("1.0"), figure.format("1000.0")
    burst = f"burst = {{ iops = {figure.format('5000.0')}, most_credits = {most}, credits = {most} }}"
    fixed = VOLUME.replace('{ value = 100_000.0, source = "chosen" }', iops)
    assert fixed != VOLUME
    volume.write_text(f"{fixed}{burst}\n")
    places = Places(journal)
    layout = Layout("v", StorageChoice.model_validate({"virtual": str(volume)}), places)
    layout.restore("small", Filled(layout))
    [disk] = layout.disks()
    left = []
    for _ in range(2):
        layout.restore("small", Filled(layout))
        disk.control.set_timing(on=True)
        with (layout.folders()["data"] / "file").open("wb") as file:
            for _ in range(50):
                file.write(os.urandom(16_384))
                file.flush()
                os.fsync(file.fileno())
        left.append(disk.use().counters["credits"])
    assert max(left) < 960
    assert abs(left[0] - left[1]) < 40
    places.close()


@pytest.mark.parametrize(
    ("device", "turns"), [("fujitsu-mbc2073rc", True), ("wd-my-passport-ultra", True), ("null", False)]
)
def test_a_disk_tells_the_kernel_whether_it_turns(journal: Journal, device: str, turns: bool) -> None:
    attached = virtual.attach(virtual.Wanted(device, size_bytes=MIB, path_us=1.0), journal)
    assert describe(attached.block.name).rotational is turns
    attached.detach()


def test_a_device_faster_than_its_path_is_refused_by_default(journal: Journal) -> None:
    wanted = virtual.Wanted("fujitsu-mbc2073rc", size_bytes=64 * MIB, path_us=100_000.0)
    with pytest.raises(TooFastError, match=r"path to a virtual disk alone takes 100000\.0 µs.*--below-floor"):
        virtual.attach(wanted, journal)
    attached = virtual.attach(replace(wanted, below_floor=True), journal)
    assert str(attached.facts.label).startswith("reads, writes and flushes are slower than modelled")
    attached.detach()


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("fields", "data", "said"),
    [
        ({"virtual": "nil"}, MIB, r"storage `v`: there is no device `nil`.*one of: .*null"),
        ({"virtual": "./none.toml"}, MIB, r"storage `v`: \./none\.toml: No such file"),
        ({"size": "900 TiB"}, MIB, r"`null` holds .* not 900 TiB; lower `size`"),
        ({}, 500 * MIB, r"need about 500 MiB, but a file system on 400 MiB leaves less"),
        ({"filesystem": "xfs", "size": "64 MiB"}, MIB, r"xfs needs at least 300 MiB"),
    ],
)
def test_a_disk_that_cannot_be_is_refused(fields: dict[str, Any], data: int, said: str) -> None:
    with pytest.raises(StorageError, match=said):
        check_layout("v", storage(**fields), needs(data))


def test_missing_means_are_reported_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for room, name, value, said in (
        (virtual, "FUSE", Path("/dev/no-fuse"), "modprobe fuse"),
        (virtual, "LOOP_CONTROL", Path("/dev/no-loop"), "modprobe loop"),
        (filesystem, "MAKE", {"ext4": ("mkfs.none",)}, "mkfs.none is missing; install e2fsprogs"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(room, name, value)
            with pytest.raises(StorageError, match=f"storage `v`: .*{said}"):
                check_layout("v", storage(), needs(MIB))
    with monkeypatch.context() as changed:
        changed.setattr(os, "geteuid", lambda: 1000)
        assert "run as root" in str(virtual.missing_means())
        which = shutil.which
        changed.setattr(shutil, "which", lambda name: None if "fusermount" in name else which(name))
        with pytest.raises(StorageError, match=r"storage `v`: .*install fuse3, or run as root"):
            check_layout("v", storage(), needs(MIB))


def test_an_option_that_mount_does_not_know_is_its_own_words(journal: Journal) -> None:
    with pytest.raises(StorageError, match=r"storage `v`: `mount -o .*quickly.*failed"):
        Layout("v", storage(mount_options="quickly"), Places(journal))


def test_a_disk_that_is_larger_than_its_device_is_refused_by_the_program(journal: Journal) -> None:
    with pytest.raises(RefusalError, match="is too many"):
        virtual.attach(virtual.Wanted("null", size_bytes=2**60), journal)


@pytest.mark.parametrize(
    "chosen",
    [
        {"virtual": "null", "size": "64 MiB"},
        {
            "composed": {"how": "block-cache", "front": "null", "back": "null"},
            "size": "64 MiB",
            "below_floor": True,
        },
    ],
    ids=["virtual", "composed"],
)
def test_a_disk_takes_no_more_memory_than_its_share(journal: Journal, chosen: dict[str, Any]) -> None:
    choice = StorageChoice.model_validate(chosen)
    [key] = choice.places()["data"].disk_keys
    places = Places(journal, {key: 24 * MIB, "another disk": 1})
    layout = Layout("v", choice, places)
    [disk] = layout.disks()
    assert disk.control.ask("describe")["contents_limit_bytes"] == 24 * MIB
    with (layout.fresh()["data"] / "large").open("wb") as file, pytest.raises(OSError):
        file.write(os.urandom(32 * MIB))
        os.fsync(file.fileno())
    assert disk.use().errors > 0
    places.close()


@pytest.mark.parametrize(
    ("found_us", "floor_us", "believed"),
    [(24, 10, True), (90, 9, True), (130, 50, True), (110, 30, False), (691, 30, False), (691, 400, False)],
)
def test_a_way_that_no_machine_at_rest_has_is_refused(
    found_us: float, floor_us: float, *, believed: bool
) -> None:
    if believed:
        path_cost.check_plausible(found_us, floor_us)
    else:
        with pytest.raises(
            disk.DiskError, match=rf"took {found_us} µs here.*subtracted from every latency; stop"
        ):
            path_cost.check_plausible(found_us, floor_us)


@pytest.mark.parametrize(
    ("kernel", "kind", "options"),
    [
        ("6.1.0-31-amd64", "ext4", "noinit_itable,no_prefetch_block_bitmaps,noatime"),
        ("5.13.0", "ext4", "noinit_itable,no_prefetch_block_bitmaps,noatime"),
        ("5.4.0-200-generic", "ext4", "noinit_itable,noatime"),
        ("unheard of", "ext4", "noinit_itable,noatime"),
        ("6.1.0-31-amd64", "xfs", "noatime"),
    ],
)
def test_a_kernel_is_told_to_be_quiet_in_words_that_it_knows(
    kernel: str, kind: FileSystem, options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "release", lambda: kernel)
    assert filesystem.blank_options(kind, "noatime") == options


def test_a_disks_properties_are_on_record(journal: Journal) -> None:
    wanted = virtual.Wanted("kexin-240", size_bytes=MIB, path_us=1.0)  # flash behind a bulk-only bridge
    attached = virtual.attach(wanted, journal)
    facts = attached.facts
    attached.detach()
    assert (facts.model, facts.one_at_a_time, facts.turns_us) == ("bridge", True, [])
    assert (facts.fua, facts.survives_without_power) == (False, True)


def test_a_disk_is_slowed_by_as_much_as_was_asked_and_no_longer(journal: Journal, tmp_path: Path) -> None:
    """Reads of the volume take 2 ms, and 5 ms more; what it counts tells so. Writes take what they took."""
    (tmp_path / "volume.toml").write_text(VOLUME)
    choice = storage(virtual=str(tmp_path / "volume.toml"), size="400 MiB", below_floor=True)
    layout = Layout("v", choice, Places(journal))
    layout.fresh()
    [one] = layout.disks_of("data")
    assert isinstance(one, virtual.VirtualDisk)
    layout.slow({"another": virtual.Slowness(on="read", add_us=9000.0)})
    assert one.use().slowed is None
    layout.slow({one.facts.name: virtual.Slowness(on="read", add_us=5000.0)})
    one.control.set_timing(on=True)
    for offset in range(0, 40960, 4096):
        read_at(one.block, offset)
    slowed = one.use()
    assert slowed.slowed is not None
    assert (slowed.slowed.on, slowed.slowed.add_us) == ("read", 5000.0)
    assert slowed.slowed.requests >= 10
    assert slowed.read.latency_us is not None
    assert slowed.read.latency_us.p50 == pytest.approx(7000.0, rel=0.05)
    layout.slow_no_longer()
    one.count_anew()
    for offset in range(0, 40960, 4096):
        read_at(one.block, offset)
    after = one.use()
    assert after.slowed is None
    assert after.read.latency_us is not None
    assert after.read.latency_us.p50 == pytest.approx(2000.0, rel=0.05)


def read_at(block: Path, offset: int) -> None:
    """Read 4 KiB from the device itself, past the page cache."""
    with os.fdopen(os.open(block, os.O_RDONLY | os.O_DIRECT), "rb", buffering=0) as file:
        file.seek(offset)
        file.readinto(mmap.mmap(-1, 4096))


def test_users_without_fuse_are_refused_before_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    said = virtual.missing_means(block=False)
    assert said is not None
    assert "run as root, or have root run `chmod a+rw /dev/fuse`" in said
