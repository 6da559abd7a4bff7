"""`diskproof disk …` as a user has it: real disks attached, used, killed, detached."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from diskproof import disk
from diskproof.cli import call
from diskproof.cli.disk import VERBS
from diskproof.storage import attached, filesystem, virtual
from diskproof.storage.kinds import block, directory
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.members import check_disks
from diskproof.study.places import PlaceChoice
from diskproof.study.pools import Pool
from diskproof.system.journal import Journal
from diskproof.system.loops import loops_on
from diskproof.system.mounts import is_mounted
from diskproof.system.own_folder import OWNED
from diskproof.system.run_processes import processes_of
from support.command import begin, diskproof_here, wait_until_it_begins
from support.slow_disk import COMMAND_US, write_slow_disk

pytestmark = pytest.mark.skipif(not disk.is_installed(), reason="diskproof-disk is not installed")
needs_root = pytest.mark.skipif(
    virtual.missing_means() is not None, reason="no virtual disk can be attached here"
)

Screen = pytest.CaptureFixture[str]

SLOW = ("attach", "slow.toml", "--below-floor")
"""On a machine that other tests keep busy, the way to a disk may take longer than any disk."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    write_slow_disk(tmp_path)
    yield tmp_path
    for one in attached.attachments():
        attached.detach(one, force=True)


def said(screen: Screen, *arguments: str) -> tuple[int, str, str]:
    code = call(["disk", *arguments])
    out, err = screen.readouterr()
    assert "Traceback" not in err
    return code, out, err


def refused(screen: Screen, *arguments: str) -> str:
    code, out, err = said(screen, *arguments)
    assert code == 2, (out, err)
    assert out == ""
    return err


def nothing_is_left(one: attached.Attachment, folder: Path) -> None:
    assert not list(processes_of(one.mark))
    assert not loops_on(one.file)
    assert one.mount_point is None or not is_mounted(one.mount_point)
    assert not is_mounted(one.file.parent)
    assert not one.file.parent.exists()
    assert [path.name for path in (folder / "state" / "disks").iterdir()] == ["lock"]


# ---------------------------------------------------------------- help, list, show


@pytest.mark.parametrize("verb", VERBS)
def test_a_verbs_own_help_agrees_with_the_list(verb: str, capsys: Screen) -> None:
    _, out, _ = said(capsys, verb, "--help")
    assert VERBS[verb].split(":", 1)[0] in " ".join(out.replace("│", " ").split())


def test_list_and_show_tell_what_the_files_say(capsys: Screen) -> None:
    code, out, _ = said(capsys, "list", "--json")
    devices = {device["name"]: device for device in json.loads(out)["devices"]}
    assert code == 0
    assert devices["null"]["kind"] == "null"
    assert devices["null"]["capacity_bytes"] == 64 * 2**30
    _, out, _ = said(capsys, "show", "slow.toml")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "bridge.command_us 2,000.0 assumed: as it suits a test" in lines
    assert "bridge.bus_mb_per_s 400.0 chosen" in lines
    fitted, held_out = (
        next(number for number, line in enumerate(lines) if f" {word} " in line)
        for word in ("fitted", "held out")
    )
    assert fitted < held_out
    _, out, _ = said(capsys, "show", "slow.toml", "--json")
    assert json.loads(out) == disk.show("slow.toml")


# ---------------------------------------------------------------- attach, use, detach


@needs_root
def test_a_disk_stays_until_it_is_detached(folder: Path, capsys: Screen) -> None:
    mount_point = folder / "made" / "here"
    code, out, _ = said(capsys, *SLOW, "--size", "64 MiB", "--mount", str(mount_point))
    assert code == 0
    one = attached.find("slow")
    assert one
    assert all(shown in out for shown in (str(one.block), str(mount_point), "disk detach slow"))
    assert one.alive
    assert is_mounted(mount_point)
    (mount_point / "file").write_text("kept")

    assert "attached already" in refused(capsys, "attach", "slow.toml")
    call(["clean"])
    assert "nothing to clean" in capsys.readouterr().out, "a disk that lives is left alone"
    assert attached.attachments() == [one]
    assert one.mount_point == mount_point

    with (mount_point / "file").open() as used:
        assert "is in use" in refused(capsys, "detach", "slow")
        assert used.read() == "kept"
    assert is_mounted(mount_point)
    assert "no disk `other.toml` is attached; attached: slow" in refused(capsys, "detach", "other.toml")
    assert said(capsys, "detach", "slow.toml")[:2] == (0, "detached: slow\n")
    nothing_is_left(one, folder)
    assert not (folder / "made").exists()
    assert "no disk `slow` is attached; attached: none" in refused(capsys, "detach", "slow")


@needs_root
def test_a_bare_disk_twice_and_its_profile(folder: Path, capsys: Screen) -> None:
    for name in ("one", "two"):
        code, _, err = said(capsys, *SLOW, "--none", "--size", "64MiB", "--as", name)
        assert code == 0, err
    one, two = attached.attachments()
    assert one.block != two.block
    options = ("--size", "16MiB", "--seconds", "0.3", "--only", "random-read-4k-qd1", "--json", "p.json")
    code, out, _ = said(capsys, "profile", "one", *options)
    assert code == (12 if "the virtual disk was late" in out else 0)
    made = json.loads((folder / "p.json").read_text())
    assert made["place"]["virtual"] == "slow.toml"
    latencies = {cell["probe"]["depth"]: cell["requests"]["mean_us"] for cell in made["cells"]}
    assert one.facts.path_us is not None
    assert latencies[1] > COMMAND_US - one.facts.path_us, "it takes its time, which begins on the way to it"
    assert said(capsys, "detach", "--all")[1] == "detached: one\ndetached: two\n"
    nothing_is_left(one, folder)
    nothing_is_left(two, folder)
    assert said(capsys, "detach", "--all")[1] == "no disk is attached\n"


@needs_root
def test_a_disk_in_slow_time_is_profiled_in_its_own(folder: Path, capsys: Screen) -> None:
    code, out, err = said(capsys, *SLOW, "--none", "--size", "64MiB", "--dilation", "8")
    assert code == 0, err
    assert "8 times slower" in out
    options = ("--size", "16MiB", "--seconds", "0.2", "--only", "random-read-4k-qd1", "--json", "p.json")
    began_s = time.monotonic()
    _, out, _ = said(capsys, "profile", "slow", *options)
    assert time.monotonic() - began_s > 8 * 0.2
    assert "time passed 8 times slower" in " ".join(out.split())
    assert "its time is 8 times slower" in said(capsys, "list")[1]
    cell = json.loads((folder / "p.json").read_text())["cells"][0]
    assert "clocksource=clock_gettime" in cell["job"]
    assert 0.2 <= cell["seconds"] < 0.4
    assert COMMAND_US / 2 < cell["requests"]["mean_us"] < 2 * COMMAND_US


@needs_root
def test_no_study_runs_on_a_disk_in_slow_time(capsys: Screen) -> None:
    assert said(capsys, *SLOW, "--size", "128MiB", "--dilation", "2")[0] == 0
    [one] = attached.attachments()
    slow = "is 2 times slower: leave it to the study"
    with pytest.raises(StorageError, match=slow):
        directory.check("here", PlaceChoice(directory=one.mount_point), 0)
    with pytest.raises(StorageError, match=slow):
        block.check("here", PlaceChoice(block=one.block, format=one.block), 0)
    file = f"{one.mount_point}/pool.img"
    pool = Pool.model_validate({"data": [{"file": file, "size": "64 MiB"}]})
    with pytest.raises(StorageError, match=slow):
        check_disks("here", pool, 0)


@needs_root
def test_fileio_on_a_slow_disk_runs_whole_rounds(folder: Path, capsys: Screen) -> None:
    assert said(capsys, *SLOW, "--size", "128MiB")[0] == 0
    options = ("--size", "16MiB", "--seconds", "0.05", "--only", "fileio", "--json", "p.json")
    said(capsys, "profile", "slow", *options)
    cell = json.loads((folder / "p.json").read_text())["cells"][-1]
    assert cell["error"] is None
    assert cell["requests"]["requests"] == 100
    assert cell["flushes"]["requests"] == 128
    assert cell["doubt"] is None


@needs_root
def test_what_the_program_warns_of_is_said(capsys: Screen) -> None:
    code, _, err = said(capsys, *SLOW, "--none", "--memory-limit", "16 MiB")
    assert code == 0
    assert "note: the disk has" in err
    assert "writes fail beyond that" in err


@needs_root
@pytest.mark.parametrize("after_s", [0.0, 0.3, 0.8])
def test_several_interruptions_leave_nothing_but_a_word(folder: Path, after_s: float) -> None:
    process = begin(folder, "disk", *SLOW)
    wait_until_it_begins(process)
    time.sleep(after_s)
    with suppress(ProcessLookupError):
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
    out, err = process.communicate(timeout=60)
    if process.returncode == 0:  # a quick machine had attached it by then
        assert diskproof_here(folder, "disk", "detach", "slow").returncode == 0
    else:
        assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert not attached.attachments()
    assert not list((folder / "state").glob("**/*.json*"))


@needs_root
def test_a_disk_that_was_killed_under_its_user_is_cleared_away(folder: Path, capsys: Screen) -> None:
    assert said(capsys, *SLOW, "--size", "64MiB", "--mount", "here")[0] == 0
    one = attached.find("slow")
    assert one
    with (folder / "here" / "file").open("wb") as used:
        used.write(b"x" * 8192)
        for process in processes_of(one.mark):
            process.send_signal(signal.SIGKILL)
            process.wait(10)
        with pytest.raises(OSError, match=r"Input/output|Read-only"):  # an error, and no hang
            used.flush()
            os.fsync(used.fileno())
        listed = said(capsys, "list")[1]
        assert "its program has ended" in listed
        assert "Fujitsu MBC2073RC, 72 GB, 15,000 rpm, SAS" in listed
        with pytest.raises(OSError, match=r"Input/output|Read-only|not connected"):
            os.fsync(used.fileno())
        with (image := folder / "image").open("wb") as file:
            file.truncate(filesystem.LEAST_BYTES["btrfs"])
        filesystem.make_filesystem(image, "btrfs")  # which mkfs.btrfs alone refuses beside a dead disk
    call(["clean"])
    assert "removed: mount" in capsys.readouterr().out
    nothing_is_left(one, folder)


@needs_root
def test_contents_lie_in_a_file_where_that_is_asked(folder: Path, capsys: Screen) -> None:
    code, _, err = said(capsys, *SLOW, "--none", "--contents", "bytes")
    assert code == 0, err
    one = attached.find("slow")
    assert one
    pattern = os.urandom(4096)
    one.control.set_timing(on=False)
    argv = ["dd", f"of={one.block}", "bs=4096", "oflag=direct", "status=none"]
    subprocess.run(argv, input=pattern, check=True)
    assert one.file.read_bytes()[:4096] == pattern
    said(capsys, "detach", "slow")
    assert not (folder / "bytes").exists()
    nothing_is_left(one, folder)


@needs_root
def test_what_a_failed_attach_could_not_remove_is_named(
    capsys: Screen, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = folder / "ours"

    def fail(_: attached.Wanted, journal: Journal) -> attached.Attachment:
        journal.directory(ours)
        (ours / OWNED).write_text("somebody's")
        raise StorageError("the device said no")

    monkeypatch.setattr(attached, "_attach", fail)
    err = refused(capsys, "attach", "slow.toml")
    assert "the device said no" in err
    assert f"disk slow: still there: {ours} has no mark" in err
    assert "run `diskproof clean`" in err


# ---------------------------------------------------------------- what is refused


@needs_root
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["attach", "floppy"], "there is no device `floppy`; "),
        (["attach", "slow.toml", "--size", "1 TiB"], "holds 256 MiB, not 1 TiB; lower --size"),
        (["attach", "null", "--size", "60 GiB", "--none"], "more than the free memory"),
        (["attach", "slow.toml", "--size", "many"], "--size takes a size such as `4 GiB`, not `many`"),
        (["attach", "slow.toml", "--mount", "full"], "full is not an empty directory"),
        (["attach", "slow.toml", "--mount", "/proc"], "/proc is a mount point already"),
        (["attach", "slow.toml", "--mount", "slow.toml/x"], "slow.toml is not a directory"),
        ([*SLOW, "--mount", "/proc/foo"], "/proc/foo cannot be made ("),
        (["attach", "slow.toml", "--memory-limit", "1 EiB"], "lower --memory-limit, or"),
        (["attach", "slow.toml", "--seed", "-1"], "--seed takes a number from 0, not -1"),
        (["attach", "slow.toml", "--dilation", "0"], "--dilation takes a number from 1 to 64, not 0"),
        (["attach", "slow.toml", "--as", ""], "cannot name a disk"),
        (["attach", "slow.toml", "--none", "--mount", "x"], "leave out --mount"),
        (["attach", "slow.toml", "--filesystem", "xfs"], "xfs needs at least 300 MiB"),
        (["attach", "slow.toml", "--filesystem", "fat"], "fat"),
        (["attach", "slow.toml", "--contents", "slow.toml"], "exists already"),
        (["attach", "slow.toml", "--contents", "no/where"], "there is no directory"),
        (["attach", "slow.toml", "--as", "a b"], "cannot name a disk"),
        (["attach", "slow.toml", "--image", "nowhere"], "nowhere"),
        (["attach", "wrong.toml"], "wrong.toml"),
        (["detach"], "name the disk to detach, or give --all"),
        (["detach", "x", "--all"], "name the disk to detach, or give --all"),
        (["profile", "slow"], "there is no slow; name a directory, a block device or an attached"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    folder: Path, capsys: Screen, arguments: list[str], complaint: str
) -> None:
    (folder / "full").mkdir()
    (folder / "full" / "precious").touch()
    (folder / "wrong.toml").write_text("title = 3")
    assert complaint in refused(capsys, *arguments)
    assert not attached.attachments()
    assert not list((folder / "state").glob("**/*.json*"))


def test_without_privileges_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch, capsys: Screen) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "run as root" in refused(capsys, "attach", "slow.toml")
