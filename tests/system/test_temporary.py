"""Temporary folders go with their process: a killed one's goes with the next command."""

import fcntl
import signal
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest

from diskproof.system.temporary import SUFFIX, remove_left, temporary_folder

HOLDS = """
import sys, time
from diskproof.system.temporary import temporary_folder
with temporary_folder() as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    time.sleep(100)
"""


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)


def held() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_record_that_another_command_took_for_an_old_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock
    taken: list[str] = []

    def flock(file: TextIO, how: int) -> None:
        if how == fcntl.LOCK_EX and not taken:
            taken.append(file.name)
            Path(file.name).unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with temporary_folder() as folder:
        (record,) = (tmp_path / "state").glob(f"*{SUFFIX}")
        assert record.read_text() == str(folder)
    assert taken


def test_it_is_private_and_gone_at_the_end(tmp_path: Path) -> None:
    with temporary_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "below").mkdir()
    assert not list((tmp_path / "tmp").iterdir())
    assert not list((tmp_path / "state").iterdir())


def test_a_killed_process_leaves_one_to_the_next(tmp_path: Path) -> None:
    process, folder = held()
    assert remove_left() == []  # its process is alive
    assert (folder / "file").exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    with temporary_folder() as ours:
        assert list((tmp_path / "tmp").iterdir()) == [ours]


def test_clean_says_what_it_removed() -> None:
    process, folder = held()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert [(one.what, one.done) for one in remove_left()] == [(f"directory {folder}", True)]
    assert remove_left() == []


@pytest.mark.parametrize("text", ["", "/", "../..", "/etc", "\0"])
def test_a_forged_record_removes_nothing(text: str, tmp_path: Path) -> None:
    records = tmp_path / "state"
    records.mkdir(parents=True, mode=0o700)
    (records / f"0123abcd{SUFFIX}").write_text(text)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (records / "4567abcd").write_text(str(theirs))
    remove_left()
    assert theirs.is_dir()
    assert Path("/etc").is_dir()
