"""Journals that others may have written, and what others put in the place of ours."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from diskproof.refusal import RefusalError
from diskproof.system.journal import Journal, clean, state_folder
from diskproof.system.undoing import identity

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a tmpfs needs root")


def test_directories_of_others_stay(tmp_path: Path) -> None:
    """A journal that names a directory without our mark in it removes nothing."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    state_folder().mkdir(parents=True)
    (state_folder() / "0badcafe.jsonl").write_text(json.dumps({"directory": str(precious)}) + "\n")
    undone = clean()
    assert (precious / "file").exists()
    assert [item.done for item in undone] == [False]


def test_parents_that_somebody_else_uses_stay(tmp_path: Path) -> None:
    journal = Journal.begin("test")
    journal.parents(tmp_path / "made" / "work")
    journal.directory(tmp_path / "made" / "work")
    (tmp_path / "made" / "letter").write_text("from somebody else")
    journal.finish()
    assert (tmp_path / "made" / "letter").exists()
    assert not (tmp_path / "made" / "work").exists()


def forged(folder: Path) -> bytes:
    """Return a journal that would have something of somebody's removed."""
    harmed = folder / "harmed"
    harmed.write_text("dear")
    return json.dumps({"file": str(harmed), "identity": identity(harmed.lstat())}).encode() + b"\n"


def planted(path: Path, text: bytes, kind: str) -> None:
    """Put something where a journal would be."""
    elsewhere = path.parent.parent / "elsewhere"
    match kind:
        case "link":
            elsewhere.write_bytes(text + b"precious")
            path.symlink_to(elsewhere)
        case "second name":
            elsewhere.write_bytes(text + b"precious")
            path.hardlink_to(elsewhere)
        case "FIFO":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "open to others":
            path.write_bytes(text)
            path.chmod(0o666)
        case "another's":
            path.write_bytes(text)
            os.chown(path, 65534, 65534)


PLANTED = {
    "link": "Too many levels of symbolic links",
    "second name": "diskproof did not make this: remove it",
    "FIFO": "diskproof did not make this: remove it",
    "directory": "Is a directory",
    "open to others": "others may write to it",
    "another's": "belongs to another user",
}


@pytest.mark.parametrize("kind", PLANTED)
def test_what_is_no_journal_of_ours_is_reported_and_left_alone(tmp_path: Path, kind: str) -> None:
    if kind == "another's" and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    state_folder().mkdir()
    path = state_folder() / "0badcafe.jsonl"
    planted(path, forged(tmp_path), kind)
    journal = Journal.begin("before")
    work = journal.directory(tmp_path / "work")
    journal._lock.close()  # as a kill does
    undone = clean()
    assert [item.what for item in undone if not item.done] == [
        item.what for item in undone if f"journal {path} (" in item.what and PLANTED[kind] in item.what
    ]
    assert not all(item.done for item in undone)
    assert (tmp_path / "harmed").exists()
    assert not work.exists(), "the other journals are undone"
    if kind in ("link", "second name"):
        assert (tmp_path / "elsewhere").read_bytes().endswith(b"precious")
    Journal.begin("next").finish()


@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_a_state_folder_that_others_may_write_to_is_refused(mode: int) -> None:
    state_folder().mkdir()
    state_folder().chmod(mode)
    for refused in (clean, lambda: Journal.begin("test")):
        with pytest.raises(RefusalError, match=r"others may write to the state folder .* `chmod go-w`"):
            refused()
    assert not list(state_folder().iterdir())


def test_the_state_folder_is_closed_to_others_whatever_is_usual(tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        Journal.outliving(state_folder() / "disks", "a disk, before any run").finish()
        Journal.begin("test").finish()
        journal = Journal.begin("test")
        assert journal.path.stat().st_mode & 0o077 == 0
        assert journal.directory(tmp_path / "work").stat().st_mode & 0o022 == 0
        assert all(item.done for item in journal.finish())
        assert clean() == []
    finally:
        os.umask(before)


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("dear")
    state_folder().mkdir()
    (state_folder() / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(RefusalError, match="cannot be kept"):
        Journal.begin("test")
    assert (tmp_path / "precious").read_text() == "dear"


def test_an_empty_directory_without_a_mark_stays(tmp_path: Path) -> None:
    state_folder().mkdir()
    for name in ("child", "parent"):
        (tmp_path / name).mkdir()
    lines = [{"parent": str(tmp_path / "parent")}, {"directory": str(tmp_path / "child")}]
    journal = state_folder() / "0badcafe.jsonl"
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (undone,) = clean()
    assert not undone.done
    assert "child has no mark of this run, so it stays as it is" in undone.what
    assert (tmp_path / "child").is_dir()
    assert (tmp_path / "parent").is_dir()


def test_a_parent_that_was_replaced_stays(tmp_path: Path) -> None:
    journal = Journal.begin("test")
    journal.parents(tmp_path / "made" / "x")
    (tmp_path / "made").rename(tmp_path / "away")
    (tmp_path / "made").mkdir()
    journal.finish()
    assert (tmp_path / "made").is_dir()


@needs_root
def test_a_mount_that_only_its_name_connects_with_a_run_stays(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "diskproof", str(tmp_path / "here")], check=True)
    state_folder().mkdir()
    entry = {"mount": str(tmp_path / "here"), "source": "diskproof"}
    (state_folder() / "0badcafe.jsonl").write_text(json.dumps(entry) + "\n")
    try:
        (undone,) = clean()
        assert not undone.done
        assert (tmp_path / "here").is_mount()
    finally:
        subprocess.run(["umount", str(tmp_path / "here")], check=True)
