"""A virtual disk made of two is a place like any other virtual disk."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.storage.kinds.base import StorageError
from diskproof.storage.layout import Layout, check_layout
from diskproof.storage.places import Places
from diskproof.system.journal import Journal
from support.disks import MIB, needs, storage
from support.virtual import left_of, needs_virtual_disks

pytestmark = needs_virtual_disks

NULL = """
title = "Nothing"
description = "Takes no time."
[device.null]
capacity_bytes = { value = 1_073_741_824, source = "chosen" }
"""


@pytest.mark.parametrize("how", ["block-cache", "write-cache"])
def test_a_composed_disk_is_attached_and_holds_files(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    choice = storage(
        composed={"how": how, "front": "null", "back": "null"}, size="64 MiB", below_floor=True, label="two"
    )
    check_layout("composed", choice, needs(MIB))
    journal = Journal.begin("test")
    places = Places(journal)
    layout = Layout("composed", choice, places)
    (place, *_) = layout.places()
    assert (place.kind, place.filesystem) == ("composed", "ext4")
    assert place.virtual is not None
    assert (place.virtual.name, place.virtual.model) == ("two", "cache")
    (layout.fresh()["data"] / "table").write_bytes(b"x" * MIB)
    places.close()
    assert all(item.done for item in journal.finish())
    assert left_of(journal.mark) == []


@pytest.fixture(autouse=True)
def no_device_file_is_left(tmp_path: Path) -> Iterator[None]:
    """Set up before the journal, and so looks after it was undone."""
    yield
    assert list((tmp_path / "state").rglob("*.toml")) == [], "the device files go with the run"


def test_two_of_one_pair_have_names_of_their_own(tmp_path: Path, journal: Journal) -> None:
    """Of files whose names no label could have; one device file serves two places on it."""
    folder = tmp_path / "my disks"
    folder.mkdir()
    for name in ("the fast one", "the slow one"):
        (folder / name).with_suffix(".toml").write_text(NULL)
    pair = {"front": str(folder / "the fast one.toml"), "back": str(folder / "the slow one.toml")}
    null = {"size": "64 MiB", "below_floor": True}
    cache, log = ({"composed": {"how": how, **pair}, **null} for how in ("block-cache", "write-cache"))
    choice = storage(data=cache, redo=log, tmp={**log, "mount_options": "noatime"})
    check_layout("both", choice, needs(MIB))
    places = Places(journal)
    layout = Layout("both", choice, places)
    pair_name = "the-fast-one-before-the-slow-one"
    assert [disk.facts.name for disk in layout.disks()] == [
        f"block-cache-{pair_name}",
        f"write-cache-{pair_name}",
        f"write-cache-{pair_name}-2",
    ]
    files = [Path(disk.facts.device) for disk in layout.disks()]
    assert files[0] != files[1] == files[2]
    places.close()


def test_the_longest_names_can_be_composed(tmp_path: Path, journal: Journal) -> None:
    front = tmp_path / f"{'x' * 240}.toml"
    front.write_text(NULL)
    composed = {"how": "write-cache", "front": str(front), "back": str(front)}
    choice = storage(composed=composed, size="64 MiB", below_floor=True)
    check_layout("long", choice, needs(MIB))
    places = Places(journal)
    assert Layout("long", choice, places).places()[0].virtual
    places.close()


def test_disks_that_are_not_known_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    choice = storage(composed={"how": "block-cache", "front": "null", "back": "no-such-disk"})
    with pytest.raises(StorageError, match="no-such-disk"):
        check_layout("composed", choice, needs(MIB))
