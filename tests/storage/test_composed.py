"""A virtual disk made of two is a place like any other virtual disk."""

from pathlib import Path

import pytest

from diskproof.storage.kinds.base import StorageError
from diskproof.storage.layout import Layout, check_layout
from diskproof.storage.places import Places
from diskproof.system.journal import Journal
from support.disks import MIB, needs, storage
from support.virtual import left_of, needs_virtual_disks

pytestmark = needs_virtual_disks


@pytest.mark.parametrize(("how", "model"), [("block-cache", "cache"), ("write-cache", "log")])
def test_a_composed_disk_is_attached_and_holds_files(
    how: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert (place.virtual.name, place.virtual.model) == ("two", model)
    (layout.fresh()["data"] / "table").write_bytes(b"x" * MIB)
    places.close()
    assert all(item.done for item in journal.finish())
    assert left_of(journal.mark) == []


def test_disks_that_are_not_known_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    choice = storage(composed={"how": "block-cache", "front": "null", "back": "no-such-disk"})
    with pytest.raises(StorageError, match="no-such-disk"):
        check_layout("composed", choice, needs(MIB))
