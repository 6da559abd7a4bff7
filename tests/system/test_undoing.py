"""What a journal holds is cleared away, whatever became of it: loops, mounts, files."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.storage import loops
from diskproof.system import loops as seen_loops
from diskproof.system import undoing
from diskproof.system.journal import Journal, undo
from diskproof.system.loops import loops_on

MIB = 2**20

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has loop devices")


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    return Journal.begin("test")


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "disk image"  # a space, as people have them
    path.write_bytes(b"")
    os.truncate(path, 32 * MIB)
    return path


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose files the kernel remembers by their whole names."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def mount_at(device: Path, point: Path, journal: Journal) -> Path:
    """Put a file system on a device and mount it as a run does: the journal has it first."""
    journal.directory(point)
    subprocess.run(["mkfs.ext4", "-q", str(device)], check=True)
    journal.mounted(point, str(device))
    subprocess.run(["mount", str(device), str(point)], check=True)
    return point


@needs_root
def test_loops_and_mounts_of_a_file_are_undone_the_last_first(journal: Journal, image: Path) -> None:
    first = loops.attach(image, journal)
    second = loops.attach(image, journal)
    assert sorted(loops_on(image)) == sorted([first, second])
    mount_point = mount_at(first, image.parent / "mount point", journal)
    assert mount_point.is_mount()

    undone = journal.finish()

    assert all(item.done for item in undone), undone
    assert not mount_point.exists()
    assert loops_on(image) == []
    assert image.exists()  # it was not the run's


@needs_root
def test_a_mount_that_somebody_stands_in_goes_all_the_same(
    journal: Journal, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lazy unmount: the name is free at once, the device when the last one has left."""
    monkeypatch.setattr(undoing, "PATIENCE_S", 0.1)
    monkeypatch.setattr(seen_loops, "RELEASE_S", 0.1)
    device = loops.attach(image, journal)
    mount_point = mount_at(device, image.parent / "mounted", journal)
    with (mount_point / "held").open("w"):
        journal.finish()
        assert not mount_point.exists()
    assert loops_on(image) == []


@needs_root
def test_a_loop_whose_file_lost_its_mount_is_found(journal: Journal, short_path: Path) -> None:
    """As under a virtual disk whose program was told to end: the kernel's path of the file is cut."""
    mount_point = short_path / "fuse"
    mount_point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", str(mount_point)], check=True)
    ours, other = mount_point / "disk", short_path / "disk"
    for file in (ours, other):
        file.touch()
        os.truncate(file, MIB)
    device = loops.attach(ours, journal)
    subprocess.run(["umount", "--lazy", str(mount_point)], check=True)
    found = loops_on(ours), loops_on(other)

    undone = journal.finish()

    assert found == ([device], [])
    assert [item.what for item in undone] == [f"loop device {device} on {ours}"]
    assert loops_on(ours) == []


def test_nothing_that_never_came_to_be_is_missed(journal: Journal, tmp_path: Path) -> None:
    """A kill may fall between the line in the journal and the deed."""
    (tmp_path / "no disk").touch()
    journal.looped(tmp_path / "no disk")
    journal.mounted(tmp_path / "no mount", f"diskproof-{journal.mark}")
    journal.pool("diskproof-0badcafe")
    journal.cgroup(tmp_path / "no group")
    assert journal.finish() == []


@pytest.mark.parametrize(("found", "left"), [("100", "5000"), ("700", "700")])
def test_the_kernels_slice_is_set_back_unless_somebody_has_set_it_since(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: str, left: str
) -> None:
    monkeypatch.setattr(undoing, "QUOTA_SLICE", tmp_path / "slice")
    journal.quota_slice("5000", "100")
    (tmp_path / "slice").write_text(found + "\n")
    assert all(item.done for item in journal.finish())
    assert (tmp_path / "slice").read_text().strip() == left


def test_a_file_of_the_run_is_removed(journal: Journal, tmp_path: Path) -> None:
    os.close(journal.file(tmp_path / "made", MIB))
    assert [(item.what, item.done) for item in journal.finish()] == [(f"file {tmp_path / 'made'}", True)]


def test_what_could_not_be_undone_is_tried_again(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    journal._write({"directory": str(tmp_path / "theirs")})
    os.close(journal.file(tmp_path / "made", MIB))
    assert [item.done for item in journal.finish()] == [True, False]
    assert [item.done for item in undo(journal.path)] == [False], "what was undone is not undone twice"
    (tmp_path / "theirs").rmdir()
    assert undo(journal.path) == []
    assert not journal.path.exists()


def test_a_torn_line_is_cut_off_before_more_is_written(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    journal._write({"directory": str(tmp_path / "theirs")})
    os.close(journal.file(tmp_path / "made", MIB))
    with journal.path.open("a") as file:
        file.write('{"mount": "/')
    assert [item.done for item in journal.finish()] == [True, False]
    assert [item.done for item in undo(journal.path)] == [False]
