"""What somebody else put where something of ours was is never undone, removed or detached."""

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psutil
import pytest

from diskproof.refusal import RefusalError
from diskproof.storage import attached, loops
from diskproof.storage.attached import Wanted
from diskproof.storage.kinds.base import StorageError, command
from diskproof.system.journal import Journal, clean, state_folder
from diskproof.system.loops import BLOCKS, backing_file_of, lies_on
from diskproof.system.mounts import is_mounted, mounted_at
from support.disks import needs_root
from support.virtual import make_facts, needs_virtual_disks

MIB = 2**20

pytestmark = needs_root


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    yield tmp_path
    for one in attached.attachments():
        attached.detach(one, force=True)


@contextmanager
def somebodys_tmpfs(point: Path) -> Iterator[Path]:
    """Mount a tmpfs with a letter in it, as somebody else does."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "stranger", str(point)], check=True)
    (point / "letter").write_text("dear")
    try:
        yield point
        assert mounted_at(point)[-1].source == "stranger"
        assert (point / "letter").read_text() == "dear"
    finally:
        subprocess.run(["umount", str(point)], check=True)


@contextmanager
def somebodys_loop(device: Path, image: Path) -> Iterator[None]:
    """Give a loop device's number to somebody's image, with a file system in it."""
    image.touch()
    os.truncate(image, 16 * MIB)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    subprocess.run(["losetup", str(device), str(image)], check=True)
    try:
        yield
        assert lies_on(device, image)
        assert (BLOCKS / device.name / "loop/autoclear").read_text().strip() == "0"
    finally:
        subprocess.run(["losetup", "--detach", str(device)], check=True)


LOOP_CTL_ADD, LOOP_CTL_REMOVE = 0x4C80, 0x4C81


@pytest.fixture
def rare_number(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let ours have a loop number that the kernel gives to nobody else: it gives out the lowest that is free.

    Another one lies below it, and stays free if all others are taken.
    """
    spare = 1000 + 2 * (os.getpid() % 1000)
    numbers = (spare, spare + 1)

    def attach_there(argv: Sequence[str]) -> str:
        if "--find" not in argv:
            return command(argv)
        device = f"/dev/loop{numbers[1]}"
        command([*(word for word in argv[:-1] if word not in ("--find", "--show")), device, argv[-1]])
        return device

    with Path("/dev/loop-control").open("rb") as control:
        for number in numbers:
            fcntl.ioctl(control, LOOP_CTL_ADD, number)
        monkeypatch.setattr(loops, "command", attach_there)
        yield
        for number in numbers:
            fcntl.ioctl(control, LOOP_CTL_REMOVE, number)


def attach(**wanted: object) -> attached.Attachment:
    fields: dict[str, object] = {"name": "ours", "size_bytes": 64 * MIB, "below_floor": True, **wanted}
    return attached.attach(Wanted("null", **fields), print)  # type: ignore[arg-type]


def is_gone(one: attached.Attachment) -> bool:
    return not (one.alive or is_mounted(one.file.parent) or attached.attachments())


# ---------------------------------------------------------------- attached disks


@needs_virtual_disks
@pytest.mark.parametrize("force", [False, True])
def test_a_file_where_the_contents_were_named_stays(folder: Path, force: bool) -> None:
    one = attach(filesystem=None, contents=folder / "bytes")
    assert not (folder / "bytes").exists(), "the program took its name away"
    (folder / "bytes").write_text("precious")
    attached.detach(one, force=force)
    assert is_gone(one)
    assert (folder / "bytes").read_text() == "precious"


@needs_virtual_disks
def test_a_file_that_came_before_the_contents_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bytes").write_text("precious")
    monkeypatch.setattr(attached, "_check_contents", lambda *_: None)  # it came after the look
    with pytest.raises(RefusalError, match="bytes"):
        attach(filesystem=None, contents=folder / "bytes")
    assert (folder / "bytes").read_text() == "precious"
    assert not attached.attachments()


@needs_virtual_disks
@pytest.mark.parametrize("force", [False, True])
def test_a_mount_where_ours_was_stays(folder: Path, force: bool) -> None:
    one = attach(mount_point=folder / "here")
    subprocess.run(["umount", str(folder / "here")], check=True)
    with somebodys_tmpfs(folder / "here"):
        assert all(item.done for item in attached.detach(one, force=force))
        assert is_gone(one)


@needs_virtual_disks
def test_a_mount_over_ours_stays_and_the_disk_with_it(folder: Path) -> None:
    one = attach(mount_point=folder / "here")
    with somebodys_tmpfs(folder / "here"):
        with pytest.raises(StorageError, match=f"in use.*mounted at {folder / 'here'}"):
            attached.detach(one)
        assert one.alive
    attached.detach(one)
    assert is_gone(one)
    assert not (folder / "here").exists()


@needs_virtual_disks
def test_a_disk_that_is_open_is_not_marked_to_be_detached_later() -> None:
    one = attach(filesystem=None)
    with one.block.open("rb"), pytest.raises(StorageError, match=f"process {os.getpid()}"):
        attached.detach(one)
    assert lies_on(one.block, one.file)
    attached.detach(one)
    assert is_gone(one)


@needs_virtual_disks
def test_a_disk_that_is_attached_while_others_are_cleaned_up_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = Journal.attaching

    def after_another(folder: Path) -> IO[str]:
        """Let the folder be locked as soon as another program has attached its disk."""
        monkeypatch.setattr(Journal, "attaching", lock)
        attach(filesystem=None)
        return lock(folder)

    (state_folder() / "disks").mkdir(parents=True)
    monkeypatch.setattr(Journal, "attaching", after_another)
    assert attached.clean() == []
    [one] = attached.attachments()
    assert one.alive


def test_a_program_that_ends_at_a_look_is_not_asked_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ending:
        """A process whose mark was just read."""

        def __getattr__(self, _: str) -> object:
            raise psutil.NoSuchProcess(1)

    one = attached.Attachment(
        name="ours", mark="0badcafe", facts=make_facts(), block=Path("loop"), file=Path("f"), socket=Path("s")
    )
    monkeypatch.setattr(attached, "processes_of", lambda _: iter([Ending()]))
    assert one.alive
    monkeypatch.setattr(attached, "processes_of", lambda _: iter(()))
    assert not one.alive


@needs_virtual_disks
@pytest.mark.usefixtures("rare_number")
@pytest.mark.parametrize("force", [False, True])
def test_a_loop_number_that_was_given_out_anew_is_somebody_elses(folder: Path, force: bool) -> None:
    one = attach(mount_point=folder / "here")
    subprocess.run(["umount", str(folder / "here")], check=True)
    subprocess.run(["losetup", "--detach", str(one.block)], check=True)
    with somebodys_loop(one.block, folder / "image"):
        subprocess.run(["mount", str(one.block), str(folder / "here")], check=True)
        assert all(item.done for item in attached.detach(one, force=force))
        assert is_mounted(folder / "here")
        subprocess.run(["umount", str(folder / "here")], check=True)
    assert is_gone(one)


# ---------------------------------------------------------------- runs


@pytest.mark.usefixtures("rare_number")
def test_a_loop_device_that_left_its_file_is_left_alone(folder: Path) -> None:
    ours = folder / "ours"
    ours.write_bytes(bytes(MIB))
    journal = Journal.begin("test")
    device = loops.attach(ours, journal)
    subprocess.run(["losetup", "--detach", str(device)], check=True)
    with somebodys_loop(device, folder / "image"):
        loops.detach(device, ours)
        assert journal.finish() == []


def test_what_is_mounted_in_a_directory_of_ours_keeps_it(folder: Path) -> None:
    journal = Journal.begin("test")
    inside = journal.directory(folder / "work") / "inside"
    inside.mkdir()
    with somebodys_tmpfs(inside):
        (undone,) = journal.finish()
        assert not undone.done
        assert f"mounted at {inside}" in undone.what
    assert all(item.done for item in clean())
    assert not (folder / "work").exists()


def test_a_mount_that_came_before_ours_stays(folder: Path) -> None:
    """A kill may fall between the line in the journal and the mount."""
    journal = Journal.begin("test")
    point = journal.directory(folder / f"work-{journal.mark}")
    journal.mounted(point, "diskproof")
    with somebodys_tmpfs(point):
        assert [item.done for item in journal.finish()] == [False]
    assert all(item.done for item in clean())


def test_after_a_restart_of_the_machine_mounts_and_loops_are_somebody_elses(folder: Path) -> None:
    for name in ("disk", "here"):
        (folder / name).mkdir() if name == "here" else (folder / name).write_bytes(bytes(MIB))
    argv = ["losetup", "--find", "--show", str(folder / "disk")]
    device = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["mount", "-t", "tmpfs", "diskproof", str(folder / "here")], check=True)
    lines = [
        {"run": "before", "boot": "another"},
        {"loop": str(folder / "disk")},
        {"mount": str(folder / "here"), "source": "diskproof"},
    ]
    state_folder().mkdir()
    old = state_folder() / "0badcafe.jsonl"
    old.write_text("".join(json.dumps(line) + "\n" for line in lines))
    try:
        assert clean() == []
        assert is_mounted(folder / "here")
        assert backing_file_of(Path(device)) == str(folder / "disk")
        assert not old.exists()
    finally:
        subprocess.run(["umount", str(folder / "here")], check=True)
        subprocess.run(["losetup", "--detach", device], check=True)


def test_a_replaced_file_stays(folder: Path) -> None:
    journal = Journal.begin("test")
    for name in ("replaced", "written over", "ours"):
        os.close(journal.file(folder / name, MIB))
    (folder / "replaced").unlink()
    (folder / "replaced").write_text("precious")
    (folder / "written over").write_text("precious")
    assert [item.what for item in journal.finish()] == [f"file {folder / 'ours'}"]
    assert {path.read_text() for path in folder.iterdir() if path.is_file()} == {"precious"}


def test_an_existing_file_is_never_taken(folder: Path) -> None:
    (folder / "disk").write_text("precious")
    journal = Journal.begin("test")
    with pytest.raises(FileExistsError):
        journal.file(folder / "disk", MIB)
    assert journal.finish() == []
    assert (folder / "disk").read_text() == "precious"
