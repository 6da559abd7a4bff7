"""Places: refused before anything is written, made fresh, given back whole."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from diskproof.refusal import RefusalError
from diskproof.results.machine import Place
from diskproof.results.record import Role
from diskproof.storage.copy import copy_tree, settle
from diskproof.storage.filesystem import UNAWARE_OF_MOUNTS
from diskproof.storage.kinds import directory
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.layout import Layout, check_layout
from diskproof.storage.places import Places
from diskproof.storage.proof import prove_placement
from diskproof.study.storages import StorageChoice
from diskproof.system.journal import Journal
from diskproof.system.mounts import mount_of

MIB = 2**20
NOBODY = 65534

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")


def needs(data: int) -> dict[Role, int]:
    return {"data": data, "redo": MIB, "binlog": MIB, "tmp": MIB}


def storage(**fields: object) -> StorageChoice:
    return StorageChoice.model_validate(fields)


def test_a_directory_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(StorageError, match=r"`disk`: .* is not empty \(it holds `letter`\)"):
        check_layout("disk", storage(directory=str(tmp_path)), needs(MIB))
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


def test_a_new_file_system_is_empty(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    check_layout("disk", storage(directory=str(tmp_path)), needs(MIB))


def test_a_mistyped_mount_is_not_made_on_the_root_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ssd").mkdir()
    mistyped = tmp_path / "ssdd" / "diskproof"
    said = rf"{mistyped.parent} does not exist, so {mistyped} would lie on .*mkdir -p .*mean {tmp_path}/ssd\?"
    with pytest.raises(StorageError, match=said):
        check_layout("disk", storage(directory=str(mistyped)), needs(MIB))
    assert not mistyped.parent.exists()
    mistyped.parent.mkdir()
    check_layout("disk", storage(directory=str(mistyped)), needs(MIB))
    monkeypatch.chdir(tmp_path)  # which exists, so nothing can be mistyped above it
    check_layout("disk", storage(directory="new/diskproof"), needs(MIB))


def test_a_file_system_that_is_not_mounted_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fstab = tmp_path / "fstab"
    monkeypatch.setattr(directory, "FSTAB", fstab)
    (tmp_path / "ssd").mkdir()
    choice = storage(directory=str(tmp_path / "ssd" / "diskproof"))
    check_layout("disk", choice, needs(MIB))  # there is no such table
    fstab.write_text(f"# {tmp_path}\n#/dev/x {tmp_path} ext4\n\n/dev/vda / ext4\n")
    check_layout("disk", choice, needs(MIB))
    fstab.write_text(f"/dev/sdb1 {tmp_path}/ssd ext4 defaults 0 2\n")
    with pytest.raises(StorageError, match=f"{tmp_path}/ssd is in {fstab} and not mounted, so .*`mount "):
        check_layout("disk", choice, needs(MIB))


def test_a_way_round_leads_to_the_same_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("dear")
    (tmp_path / "link").symlink_to("full")
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "missing" / ".." / "full", tmp_path / "link", "/proc/self/cwd/full", "full"):
        with pytest.raises(StorageError, match=f"{tmp_path / 'full'} is not empty"):
            check_layout("disk", storage(directory=str(path)), needs(MIB))


def test_a_directory_by_another_name_is_used_by_its_own(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    monkeypatch.chdir(tmp_path)
    for given, real in (("link", "empty"), ("/proc/self/cwd/x", "x"), ("no/../y", "y")):
        check_layout("disk", storage(directory=given), needs(MIB))
        folders = Layout("disk", storage(directory=given), Places(journal)).fresh()
        assert folders["data"] == tmp_path / real / f"diskproof-{journal.mark}" / "data"


LONG = "/".join(["directory"] * 450)
NESTED = "/".join("a" * 400)
NOWHERE = {
    NESTED: r"a/a/… has \d+ bytes, more than the 400 that leave room .*; name a shorter path",
    "dangling": "dangling is a link to nothing; make what it leads to",
    "dangling/below": "dangling is a link to nothing",
    "loop": "loop is a link to nothing",
    "x" * 300: "cannot be used: the name is too long: choose a shorter one",
    LONG: "cannot be used: the name is too long: choose a shorter one",
}


@pytest.mark.parametrize("path", NOWHERE)
def test_a_path_to_nowhere_is_refused_in_words(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    choice = storage(directory=path)
    with pytest.raises(StorageError, match=NOWHERE[path]) as refusal:
        check_layout("disk", choice, needs(MIB))
    assert len(str(refusal.value)) < 400


def test_the_home_of_nobody_is_refused_with_the_study() -> None:
    with pytest.raises(ValueError, match="~nobody-of-that-name is nobody's home: give the whole path"):
        storage(directory="~nobody-of-that-name/x")


@needs_root
def test_root_uses_no_directory_that_others_can_replace(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    path = str(home / "x")
    choice = storage(directory=path)
    with pytest.raises(
        StorageError, match=rf"{home} belongs to nobody, so {path} could be replaced"
    ) as refusal:
        check_layout("disk", choice, needs(MIB))
    assert "run as an ordinary user" in str(refusal.value)
    os.chown(home, 0, 0)
    check_layout("disk", choice, needs(MIB))


def test_an_ordinary_user_works_in_a_home_of_their_own() -> None:
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        child = os.fork()
        if child == 0:  # what follows must not run pytest a second time
            try:
                if os.geteuid() == 0:
                    os.setuid(NOBODY)
                os.environ["DISKPROOF_STATE"] = f"{folder}/state"
                journal = Journal.begin("test")
                choice = storage(directory=f"{folder}/x")
                check_layout("disk", choice, needs(MIB))
                layout = Layout("disk", choice, Places(journal))
                layout.fresh()
                layout.clear()
                done = all(item.done for item in journal.finish())
                os._exit(0 if done and not Path(folder, "x").exists() else 1)
            except BaseException:  # noqa: BLE001 - nothing may leave the child
                os._exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_swapped_place_is_not_cleared(tmp_path: Path, journal: Journal) -> None:
    """As another user could, amid a trial: the name leads to a tree of theirs by then."""
    layout = Layout("disk", storage(directory=str(tmp_path / "place")), Places(journal))
    ours = layout.fresh()["data"].parent
    (tmp_path / "foreign" / "data").mkdir(parents=True)
    (tmp_path / "foreign" / "data" / "letter").write_text("dear")
    ours.rename(tmp_path / "away")
    ours.symlink_to(tmp_path / "foreign")
    for change in (layout.clear, layout.fresh):
        with pytest.raises(RefusalError, match="stays as it is"):
            change()
    assert (tmp_path / "foreign" / "data" / "letter").read_text() == "dear"
    ours.unlink()
    (tmp_path / "away").rename(ours)


def test_the_folder_of_an_earlier_run_is_no_stranger(tmp_path: Path) -> None:
    (tmp_path / "diskproof-0badcafe").mkdir()
    check_layout("disk", storage(directory=str(tmp_path)), needs(MIB))


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="is not a directory"):
        check_layout("disk", storage(directory=str(tmp_path / "file" / "below")), needs(MIB))


def test_a_directory_that_cannot_be_written_is_refused() -> None:
    """/proc is not writable even for root."""
    with pytest.raises(StorageError, match=r"you may not write to /proc|not empty"):
        check_layout("disk", storage(directory="/proc"), needs(MIB))


def test_a_directory_without_permission_is_refused() -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        Path(folder).chmod(0o555)
        child = os.fork()
        if child == 0:  # what follows must not run pytest a second time
            try:
                if os.geteuid() == 0:
                    os.setuid(NOBODY)
                check_layout("disk", storage(directory=folder), needs(MIB))
                os._exit(1)
            except StorageError as refusal:
                os._exit(0 if "you may not write to" in str(refusal) else 2)
            except BaseException:  # noqa: BLE001 - nothing may leave the child
                os._exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_too_little_disk_is_refused_with_both_figures(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"GiB free, but data set and load need about 9095 TiB"):
        check_layout("disk", storage(directory=str(tmp_path)), needs(10**16))


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(StorageError, match="need about 2 GiB, but the tmpfs holds 1 GiB; raise `ram`"):
        check_layout("dram", storage(ram="1 GiB"), needs(2 * 2**30))
    with pytest.raises(StorageError, match="lower `ram`"):
        check_layout("dram", storage(ram="900 TiB"), needs(MIB))


def test_a_layout_gives_every_role_a_fresh_directory(tmp_path: Path, journal: Journal) -> None:
    layout = Layout("disk", storage(directory=str(tmp_path / "a" / "b")), Places(journal))
    first = layout.fresh()
    assert len(set(first.values())) == 4
    (first["data"] / "table").write_text("x")
    assert layout.fresh() == first
    assert list(first["data"].iterdir()) == []
    journal_entries = journal.path.read_text()
    assert str(tmp_path / "a") in journal_entries


def test_two_storages_may_share_a_directory(tmp_path: Path, journal: Journal) -> None:
    """As in the README: everything on the disk, against the same disk with the log elsewhere."""
    shared = {"directory": str(tmp_path / "disk")}
    whole = Layout("all-on-disk", storage(data=shared), Places(journal))
    split = Layout(
        "log-elsewhere", storage(data=shared, redo={"directory": str(tmp_path / "ssd")}), Places(journal)
    )
    assert not set(whole.fresh().values()) & set(split.fresh().values())
    check_layout("next", storage(data=shared), needs(MIB))


def test_after_the_run_the_directory_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    (tmp_path / "given").mkdir()
    journal = Journal.begin("test")
    for name in ("given", "new/deep"):
        Layout(name, storage(directory=str(tmp_path / name)), Places(journal)).fresh()
    journal.finish()
    assert list((tmp_path / "given").iterdir()) == []
    assert not (tmp_path / "new").exists()


def test_main_memory_is_a_tmpfs_of_the_stated_size(journal: Journal) -> None:
    layout = Layout("dram", storage(ram="64 MiB"), Places(journal))
    folders = layout.fresh()
    places = {place.role: place for place in layout.places()}
    assert places["data"].filesystem == "tmpfs"
    assert places["data"].device is None
    if os.geteuid() == 0:
        size = os.statvfs(folders["data"])
        assert size.f_blocks * size.f_frsize == 64 * MIB
        with pytest.raises(OSError, match="No space left"):
            (folders["data"] / "big").write_bytes(b"x" * (65 * MIB))


def test_roles_can_lie_apart(tmp_path: Path, journal: Journal) -> None:
    layout = Layout(
        "mixed", storage(data={"directory": str(tmp_path / "d")}, redo={"ram": "64 MiB"}), Places(journal)
    )
    places = {place.role: place for place in layout.places()}
    assert places["redo"].kind == "ram"
    assert places["data"].kind == places["tmp"].kind == "directory"
    assert places["redo"].device_number != places["data"].device_number


# ---------------------------------------------------------------- the proof


def proof(tmp_path: Path, path: str, role: Role | None, device: str) -> bool:
    folders: dict[Role, Path] = {
        "data": tmp_path / "data",
        "redo": tmp_path / "redo",
        "binlog": tmp_path / "binlog",
        "tmp": tmp_path / "tmp",
    }
    places = [
        Place(
            storage="s",
            role=name,
            kind="directory",
            path=str(folder),
            filesystem="ext4",
            mount_point="/",
            mount_options="",
            device_number="8:1",
        )
        for name, folder in folders.items()
    ]
    [judged] = prove_placement([(path, device)], lambda _: role, folders, places, [tmp_path / "log"])
    return judged.as_declared


def test_a_file_in_its_roles_folder_on_its_device_is_as_declared(tmp_path: Path) -> None:
    assert proof(tmp_path, f"{tmp_path}/redo/ib_logfile0", "redo", "8:1")


@pytest.mark.parametrize(
    ("path", "role", "device"),
    [
        ("{}/data/ib_logfile0", "redo", "8:1"),  # another role's folder
        ("{}/redo-elsewhere/ib_logfile0", "redo", "8:1"),  # a folder of a similar name
        ("{}/redo/ib_logfile0", "redo", "8:2"),  # the right path on another device: a mount or a link
        ("/var/lib/mysql/ib_logfile0", "redo", "8:1"),
        ("/tmp/unknown", None, "8:1"),  # no role's file, in no folder of ours
    ],
)
def test_a_file_elsewhere_is_found(tmp_path: Path, path: str, role: Role | None, device: str) -> None:
    assert not proof(tmp_path, path.format(tmp_path), role, device)


def test_logs_and_deleted_files_are_judged_by_their_place(tmp_path: Path) -> None:
    assert proof(tmp_path, f"{tmp_path}/log/error.log", None, "9:9")
    assert proof(tmp_path, f"{tmp_path}/tmp/ibAbc (deleted)", "tmp", "8:1")


# ---------------------------------------------------------------- copying


def test_a_copy_is_whole_with_owners_holes_and_links(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "sub").mkdir(parents=True)
    target.mkdir()
    (source / "sub" / "file").write_bytes(b"x" * 100_000)
    (source / "link").symlink_to("sub/file")
    with (source / "holes").open("wb") as file:
        file.truncate(100 * MIB)
    if os.geteuid() == 0:
        os.chown(source / "sub" / "file", 65534, 65534)
    copy_tree(source, target)
    settle([target])
    assert (target / "sub" / "file").read_bytes() == b"x" * 100_000
    assert (target / "sub" / "file").stat().st_uid == (source / "sub" / "file").stat().st_uid
    assert (target / "link").is_symlink()
    assert (target / "holes").stat().st_blocks * 512 < MIB


def test_a_data_set_is_copied_to_an_empty_directory_only(tmp_path: Path) -> None:
    for name in ("source", "target", "foreign"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "table").write_text(name)
    with pytest.raises(StorageError, match="target is not empty"):
        copy_tree(tmp_path / "source", tmp_path / "target")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(RefusalError, match="link is no directory any more"):
        copy_tree(tmp_path / "source", tmp_path / "link")
    assert (tmp_path / "target" / "table").read_text() == "target"


def test_a_full_disk_is_reported(tmp_path: Path, journal: Journal) -> None:
    if os.geteuid() != 0:
        pytest.skip("filling a file system needs a small one: root and a tmpfs")
    target = Layout("dram", storage(ram="16 MiB"), Places(journal)).fresh()["data"]
    source = tmp_path / "source"
    source.mkdir()
    (source / "big").write_bytes(os.urandom(20 * MIB))
    with pytest.raises(StorageError, match=r"could not be copied .* No space left on device"):
        copy_tree(source, target)


def test_reflinks_are_used_where_the_file_system_has_them(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("a file system with reflinks is mounted for this: root")
    image, mount_point = tmp_path / "btrfs.img", tmp_path / "btrfs"
    mount_point.mkdir()
    with image.open("wb") as file:
        file.truncate(256 * MIB)
    made = subprocess.run([*UNAWARE_OF_MOUNTS, "mkfs.btrfs", "-q", str(image)], check=False)
    if made.returncode != 0:
        pytest.skip("mkfs.btrfs is missing")
    subprocess.run(["mount", "-o", "loop", str(image), str(mount_point)], check=True)
    try:
        source, target = mount_point / "source", mount_point / "target"
        source.mkdir()
        target.mkdir()
        (source / "file").write_bytes(os.urandom(MIB))
        assert copy_tree(source, target) == "reflink"
        assert (target / "file").read_bytes() == (source / "file").read_bytes()
        assert not (target / ".diskproof-clone").exists()
    finally:
        subprocess.run(["umount", str(mount_point)], check=True)


def test_a_copied_file_is_cold(tmp_path: Path) -> None:
    """After `settle`, reading a copied file goes to the disk again (where there is one)."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    (source / "file").write_bytes(os.urandom(8 * MIB))
    copy_tree(source, target)
    settle([target])
    cached = subprocess.run(
        ["fincore", "--bytes", "--noheadings", "--output", "RES", str(target / "file")],
        capture_output=True,
        text=True,
        check=False,
    )
    if cached.returncode != 0:
        pytest.skip("fincore is missing")
    if mount_of(target).filesystem == "tmpfs":
        pytest.skip("the test's own directory is in main memory")
    assert int(cached.stdout) < MIB
