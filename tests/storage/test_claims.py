"""A real disk goes to one place of a run; two that want it are refused before anything is touched."""

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.storage.claims import check_claims
from diskproof.storage.disks import signatures
from diskproof.storage.kinds.base import StorageError
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyFile, parse_study
from diskproof.system.journal import Journal
from support.disks import loop_device, needs_root

HEAD = """
question = "?"
[servers.sqlite]
family = "sqlite"
[workloads.w]
kind = "oltp"
tables = 1
rows = 1000
"""


def check(storages: str, only: list[str] | None = None) -> None:
    text = HEAD + storages
    file = StudyFile("claims", text, parse_study(text, "claims.toml"))
    check_claims(file.study, make_plan(file, only))


def disk(path: str | Path) -> str:
    return f'{{ block = "{path}", format = "{path}" }}'


def pool(name: str, **parts: str | Path) -> str:
    listed = "".join(f"{part} = [{disk(path)}]\n" for part, path in parts.items())
    return f"[storages.{name}.zpool]\n{listed}"


def test_two_pools_on_one_disk_are_refused() -> None:
    two = pool("alone", data="/dev/nowhere") + pool("cached", data="/dev/nowhere", cache="/dev/elsewhere")
    with pytest.raises(StorageError, match=r"nowhere of storage `alone` and .*nowhere of storage `cached`"):
        check(two)
    check(two, ["/cached/"])  # of the other, nothing is made ready


def test_storages_that_name_one_and_the_same_place_share_it() -> None:
    block = 'block = "/dev/nowhere"\nformat = "/dev/nowhere"\n'
    check(f"[storages.one]\n{block}[storages.two]\n{block}")
    with pytest.raises(StorageError, match="two places on one disk"):
        check(f'[storages.one]\n{block}[storages.two]\n{block}mount_options = "noatime"\n')


def test_roles_of_one_storage_must_not_want_one_disk_either() -> None:
    named = disk("/dev/nowhere")
    with pytest.raises(StorageError, match="two places on one disk"):
        check(f"[storages.s]\ndata = {named}\nredo = {{ zpool = {{ data = [{named}] }} }}\n")


def test_a_pool_has_a_disk_once_by_any_name(tmp_path: Path) -> None:
    file, other = tmp_path / "disk", tmp_path / "link"
    other.symlink_to(file)
    parts = [f'[{{ file = "{path}", size = "64 MiB" }}]' for path in (file, other)]
    with pytest.raises(StorageError, match="two places on one disk"):
        check(f"[storages.s.zpool]\ndata = {parts[0]}\ncache = {parts[1]}\n")


def test_virtual_disks_have_no_limit() -> None:
    virtual = '[storages.{}.zpool]\ndata = [{{ virtual = "null" }}]\n{}'
    check(virtual.format("one", "") + virtual.format("two", 'log = [{ virtual = "null", label = "l" }]\n'))


@needs_root
class TestRealDevices:
    """What the kernel says is one disk is one, by whatever name."""

    @pytest.fixture
    def device(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
        journal = Journal.begin("test")
        yield loop_device(tmp_path, journal)
        assert all(item.done for item in journal.finish())

    def test_a_link_to_a_device_is_the_device(self, device: Path, tmp_path: Path) -> None:
        link = tmp_path / "by-id"
        link.symlink_to(device)
        with pytest.raises(StorageError, match="two places on one disk"):
            check(pool("alone", data=device) + pool("cached", data=link))
        assert signatures(device) == []

    def test_a_disk_holds_its_partitions_and_they_are_apart(self, device: Path) -> None:
        # Two of a master boot record; partx tells the kernel, which does not look into loop devices itself.
        entries = [struct.pack("<8B2I", 0, 0, 0, 0, 0x83, 0, 0, 0, at, 65536) for at in (2048, 67584)]
        device.write_bytes(bytes(446) + b"".join(entries) + bytes(32) + b"\x55\xaa")
        subprocess.run(["partx", "--add", device], check=True, capture_output=True)
        try:
            first, second = f"{device}p1", f"{device}p2"
            check(pool("one", data=first) + pool("two", data=second))
            with pytest.raises(StorageError, match="two places on one disk"):
                check(pool("one", data=first) + pool("two", data=second) + pool("whole", data=device))
        finally:
            subprocess.run(["partx", "--delete", device], check=True, capture_output=True)
