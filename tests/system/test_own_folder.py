"""A directory of ours is changed only if it is still that directory, and never through a link."""

import os
from pathlib import Path

import pytest

from diskproof.system.journal import Journal
from diskproof.system.own_folder import OWNED, NotOursError, OwnFolder, why_replaceable
from diskproof.system.undoing import remove_directory

MARK = "0badcafe"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def own(tmp_path: Path) -> OwnFolder:
    (tmp_path / "around").mkdir()
    folder = OwnFolder.make(tmp_path / "around" / f"diskproof-{MARK}", MARK)
    folder.fresh(["data", "tmp"])
    (folder.path / "data" / "table").write_text("ours")
    return folder


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A tree of somebody's that has the names of ours."""
    path = tmp_path / "foreign"
    (path / f"diskproof-{MARK}" / "data").mkdir(parents=True)
    (path / "data").mkdir()
    for folder in (path, path / f"diskproof-{MARK}"):
        (folder / "data" / "letter").write_text("dear")
    return path


def swap_for_a_link(own: OwnFolder, foreign: Path) -> None:
    own.path.rename(own.path.with_name("away"))
    own.path.symlink_to(foreign)


def swap_the_parent(own: OwnFolder, foreign: Path) -> None:
    own.path.parent.rename(own.path.parent.with_name("away"))
    own.path.parent.symlink_to(foreign)


def swap_for_one_without_a_mark(own: OwnFolder, foreign: Path) -> None:
    own.path.rename(own.path.with_name("away"))
    foreign.rename(own.path)


def swap_for_one_with_the_mark(own: OwnFolder, foreign: Path) -> None:
    swap_for_one_without_a_mark(own, foreign)
    (own.path / OWNED).write_text(MARK)


SWAPS = [swap_for_a_link, swap_the_parent, swap_for_one_without_a_mark, swap_for_one_with_the_mark]


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("change", ["fresh", "clear", "remove"])
def test_a_directory_that_was_swapped_is_left_alone(
    own: OwnFolder, foreign: Path, swap: object, change: str
) -> None:
    assert callable(swap)
    before = len(letters(foreign.parent))
    swap(own, foreign)
    with pytest.raises(NotOursError, match="stays as it is"):
        getattr(own, change)(*([] if change == "remove" else [["data"]]))
    assert len(letters(foreign.parent)) == before


@pytest.mark.parametrize("swap", SWAPS[:3])
def test_the_undo_leaves_a_swapped_directory_alone(own: OwnFolder, foreign: Path, swap: object) -> None:
    assert callable(swap)
    before = len(letters(foreign.parent))
    swap(own, foreign)
    (undone,) = remove_directory(own.path, MARK)
    assert not undone.done
    assert "stays as it is" in undone.what
    assert len(letters(foreign.parent)) == before


def letters(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("letter") if path.read_text() == "dear"]


def test_links_in_it_are_removed_and_not_followed(own: OwnFolder, foreign: Path) -> None:
    (own.path / "redo").symlink_to(foreign)
    (own.path / "data" / "inside").symlink_to(foreign)
    own.clear(["data", "redo", "missing"])
    assert letters(foreign)
    assert {path.name for path in own.path.iterdir()} == {OWNED, "tmp"}


def test_the_mark_goes_last_and_a_failure_says_why(own: OwnFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.unlink

    def stuck(name: str, **named: int) -> None:
        if name == "table":
            raise PermissionError(1, "Operation not permitted", name)
        real(name, **named)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", stuck)
        (undone,) = remove_directory(own.path, MARK)
    assert not undone.done
    assert "table: Operation not permitted" in undone.what
    assert (own.path / OWNED).read_text() == MARK, "another attempt knows it"
    assert [item.done for item in remove_directory(own.path, MARK)] == [True]
    assert not own.path.exists()


def test_a_mark_that_is_no_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    os.mkfifo(tmp_path / "x" / OWNED)
    assert not OwnFolder(tmp_path / "x", MARK).is_ours
    assert not OwnFolder(tmp_path / "x").is_ours


def test_what_others_can_rename_is_named(tmp_path: Path) -> None:
    place = tmp_path / "shared" / "place"
    place.mkdir(parents=True)
    assert why_replaceable(place) is None
    (tmp_path / "shared").chmod(0o777)
    assert why_replaceable(place) == f"others may write to {tmp_path / 'shared'} (mode 777)"
    (tmp_path / "shared").chmod(0o1777)
    assert why_replaceable(place) is None, "as in /tmp"


@needs_root
def test_what_another_user_owns_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    place = tmp_path / "home" / "place"
    place.mkdir(parents=True)
    for owner, said in ((65534, f"{tmp_path / 'home'} belongs to nobody"), (4_000_111, "user 4000111")):
        os.chown(tmp_path / "home", owner, 0)
        assert said in str(why_replaceable(place))
    monkeypatch.setenv("SUDO_UID", "4000111")
    assert why_replaceable(place) is None


def test_a_journal_removes_what_it_made(tmp_path: Path) -> None:
    journal = Journal.begin("test")
    own = journal.own_folder(tmp_path / "work")
    own.fresh(["data"])
    assert [item.done for item in journal.finish()] == [True]
    assert not own.path.exists()
