"""Killed processes are waited for until they are gone, with a limit and words for those that cannot go."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diskproof.server.base import ServerFailedError
from diskproof.server.lifecycle import clear_run_folder, kill_orphans, kill_tree
from support.command import wait_for

WRITER = "import sys; open(sys.argv[1], 'w').write('x')"


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[Path]:
    """A file system whose writers wait where no signal reaches them, as on a disk that does not answer."""
    if os.geteuid() != 0 or not shutil.which("fsfreeze"):
        pytest.skip("mounting and freezing a file system needs root and util-linux")
    image, mount = tmp_path / "image", tmp_path / "mount"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(32 * 2**20)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["umount", str(mount)], check=True)


@contextmanager
def frozen_for(mount: Path) -> Iterator[None]:
    subprocess.run(["fsfreeze", "--freeze", str(mount)], check=True)
    try:
        yield
    finally:
        subprocess.run(["fsfreeze", "--unfreeze", str(mount)], check=True)


def waits(pid: int) -> bool:
    """Return whether a process waits where no signal reaches it, and not for a moment only."""
    for _ in range(10):
        if "\nState:\tD" not in Path(f"/proc/{pid}/status").read_text():
            return False
        time.sleep(0.02)
    return True


def test_a_process_that_no_signal_reaches_is_told_of_and_ends_with_its_disk(frozen: Path) -> None:
    with frozen_for(frozen):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(frozen / "file")])
        wait_for(lambda: waits(process.pid))
        with pytest.raises(
            ServerFailedError,
            match=rf"killed 0\.3 s ago and still there: process {process.pid} \(python[\d.]*, disk-sleep.*"
            r"end what serves it",
        ):
            kill_tree(process, limit_s=0.3)
    kill_tree(process)
    assert process.returncode == -9


def test_one_that_is_dead_already_is_no_error(tmp_path: Path) -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    kill_tree(process, limit_s=0.0)
    assert process.returncode == 0
    assert not kill_orphans(tmp_path, limit_s=0.0)


def test_nobody_waits_for_zombies_that_are_anothers_to_collect() -> None:
    """A child of the killed one becomes init's, which may take a second over it."""
    process = subprocess.Popen(["sh", "-c", "sleep 100 & sleep 100 & echo; wait"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    kill_tree(process)
    process.stdout.close()
    assert process.returncode == -9


def test_only_files_are_cleared(tmp_path: Path) -> None:
    (tmp_path / "mysqld.pid").write_text("1")
    os.mkfifo(tmp_path / "socket")
    (tmp_path / "folder").mkdir()
    clear_run_folder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
