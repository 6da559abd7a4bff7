"""Block devices: never taken by mistake, formatted, mounted and given back."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from diskproof.results.record import ROLES
from diskproof.storage import loops
from diskproof.storage.disks import check_disk, describe_disk, signatures
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.layout import Layout, check_layout
from diskproof.storage.places import Places
from diskproof.system.journal import Journal
from diskproof.system.mounts import is_mounted
from support.disks import MIB, loop_device, needs, needs_root, storage

pytestmark = needs_root


@pytest.fixture
def device(tmp_path: Path, journal: Journal) -> Path:
    return loop_device(tmp_path, journal)


def run(*argv: str | Path) -> None:
    subprocess.run([str(word) for word in argv], check=True, capture_output=True)


def refused(device: Path, **keys: object) -> str:
    """Return the words with which a device is refused."""
    with pytest.raises(StorageError) as error:
        check_layout("disk", storage(block=str(device), format=str(device), **keys), needs(MIB))
    return str(error.value)


def test_an_empty_device_is_formatted_used_and_given_back(device: Path, journal: Journal) -> None:
    choice = storage(block=str(device), format=str(device), filesystem="ext4", mount_options="noatime")
    check_layout("disk", choice, needs(MIB))
    places = Places(journal)
    layout = Layout("disk", choice, places)
    (place, *_) = layout.places()
    assert (place.kind, place.filesystem) == ("block", "ext4")
    assert place.device is not None
    assert place.device.name == device.name
    assert "noatime" in place.mount_options
    folders = layout.fresh()
    assert list(folders) == list(ROLES)
    (folders["data"] / "table").write_bytes(b"x" * MIB)
    places.close()
    assert not is_mounted(Path(place.mount_point))


def test_a_device_of_an_earlier_run_is_formatted_again(device: Path, journal: Journal) -> None:
    choice = storage(block=str(device), format=str(device))
    for _ in range(2):
        check_layout("disk", choice, needs(MIB))
        places = Places(journal)
        assert Layout("disk", choice, places).fresh()["data"].is_dir()
        places.close()
    assert [found.kind for found in signatures(device)] == ["ext4"]


def test_a_device_is_named_twice_alike() -> None:
    with pytest.raises(ValueError, match="name it twice"):
        storage(block="/dev/sdb1")
    with pytest.raises(ValueError, match="name it twice"):
        storage(block="/dev/sdb1", format="/dev/sdc1")
    with pytest.raises(ValueError, match="`format` does not belong to a place that is `directory`"):
        storage(directory="/mnt", format="/dev/sdc1")


def test_a_file_system_is_not_overwritten_unless_the_study_says_so(device: Path) -> None:
    run("mkfs.ext4", "-q", "-L", "photographs", device)
    said = refused(device)
    assert f'ext4 "photographs" on {device}' in said
    assert "`overwrite = true`" in said
    check_disk("storage", device, overwrite=True)


def make_swap(device: Path) -> None:
    run("mkswap", "-L", "spare", device)


def write_lvm_label(device: Path) -> None:
    """Write what blkid(8) knows a physical volume by: the label in its second sector."""
    with device.open("r+b") as disk:
        disk.seek(512)
        disk.write(b"LABELONE" + (1).to_bytes(8, "little") + bytes(4) + (32).to_bytes(4, "little"))
        disk.write(b"LVM2 001" + b"q" * 32)


def write_md_superblock(device: Path) -> None:
    """Write what blkid(8) knows a member of an array by: its magic and version 1.2, after 4 KiB."""
    with device.open("r+b") as disk:
        disk.seek(4096)
        disk.write((0xA92B4EFC).to_bytes(4, "little") + (1).to_bytes(4, "little") + bytes(8) + b"u" * 16)
        disk.seek(4096 + 0x90)
        disk.write((8).to_bytes(8, "little"))


def write_partition_table(device: Path) -> None:
    """Write a master boot record with one Linux partition."""
    with device.open("r+b") as disk:
        disk.seek(446)
        disk.write(
            bytes(4) + b"\x83" + bytes(3) + (2048).to_bytes(4, "little") + (32768).to_bytes(4, "little")
        )
        disk.seek(510)
        disk.write(b"\x55\xaa")


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (make_swap, 'swap "spare"'),
        (write_lvm_label, "LVM2_member"),
        (write_md_superblock, "linux_raid_member"),
        (write_partition_table, "dos"),
    ],
)
def test_contents_of_others_are_found(device: Path, make: Callable[[Path], None], found: str) -> None:
    make(device)
    assert found in refused(device)


def test_a_mounted_device_is_never_formatted(device: Path, journal: Journal, tmp_path: Path) -> None:
    run("mkfs.ext4", "-q", device)
    point = journal.directory(tmp_path / "mounted")
    journal.mounted(point, str(device))
    run("mount", device, point)
    for overwrite in (False, True):
        assert f"{device} is mounted at {point}" in refused(device, overwrite=overwrite)


def test_swap_space_in_use_is_never_formatted(device: Path) -> None:
    run("mkswap", device)
    run("swapon", device)
    try:
        assert f"{device} is swap space" in refused(device, overwrite=True)
    finally:
        run("swapoff", device)


def test_a_part_of_something_is_never_formatted(device: Path, journal: Journal) -> None:
    """A loop device over the device holds it, as an array or a volume group does."""
    above = loops.attach(device, journal)
    assert f"{above} lies on {device}" in refused(device, overwrite=True)


def test_a_device_that_a_program_works_with_is_never_formatted(device: Path) -> None:
    """A virtual machine, or a pool of zfs-fuse, says nothing to the kernel of its claim."""
    with device.open("r+b"):
        assert f"process {os.getpid()}" in refused(device, overwrite=True)


def test_a_read_only_device_is_refused(device: Path) -> None:
    run("blockdev", "--setro", device)
    try:
        assert "read-only" in refused(device)
    finally:
        run("blockdev", "--setrw", device)  # a loop device stays so when its file is gone


def test_only_block_devices_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "is not a block device" in refused(tmp_path / "file")
    assert "there is no" in refused(tmp_path / "nothing")
    assert "is not a block device" in refused(Path("/dev/null"))


def test_a_device_that_is_too_small_is_refused(device: Path) -> None:
    with pytest.raises(StorageError, match=r"128 MiB"):
        check_layout("disk", storage(block=str(device), format=str(device)), needs(2000 * MIB))


def test_a_device_in_two_places_is_refused_when_the_second_is_made_ready(
    device: Path, journal: Journal
) -> None:
    places = Places(journal)
    Layout("one", storage(block=str(device), format=str(device)), places)
    other = storage(block=str(device), format=str(device), mount_options="noatime")
    with pytest.raises(StorageError, match="is in use"):
        Layout("two", other, places)
    places.close()


def test_a_device_is_described_as_the_kernel_does(device: Path) -> None:
    described = describe_disk(device)
    assert (described.name, described.size_bytes) == (device.name, 128 * MIB)
