"""How each kind of thing that a journal holds is cleared away, whether or not it ever came to be."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from diskproof.system.loops import loops_on, wait_until_free
from diskproof.system.mounts import is_mounted

OWNED = ".diskproof-owned"
"""File inside each directory that diskproof made and may remove; holds the run's mark."""

PATIENCE_S = 2.0
"""A server that was killed a moment ago may still be giving up its files."""

POLL_S = 0.05

COMMAND_LIMIT_S = 600.0
"""How long a command may take: a user's own that stops an array, a device that gives up its last write."""


@dataclass(frozen=True)
class Undone:
    """One thing that was cleared away, or could not be."""

    what: str
    done: bool


def unmount(path: Path) -> list[Undone]:
    """Unmount a file system; one that somebody stands in goes from sight, and away when they leave."""
    if not is_mounted(path):
        return []
    # A FUSE mount of an ordinary user has its own way.
    argv = ["umount"] if os.geteuid() == 0 else [_fusermount(), "-u"]
    lazily = "--lazy" if os.geteuid() == 0 else "-z"
    failure = _patiently([*argv, str(path)])
    if failure:
        failure = _run([*argv, lazily, str(path)])
    return [_undone(f"mount {path}", failure)]


def _fusermount() -> str:
    """Return the program that unmounts for ordinary users: older systems have it without the 3."""
    return next(
        (name for name in ("fusermount3", "fusermount") if shutil.which(name, path=_environment()["PATH"])),
        "fusermount3",
    )


def detach_loops(backing_file: str) -> list[Undone]:
    """Detach the loop devices on a file: one that is still in use detaches itself when that ends."""
    undone = []
    for device in loops_on(Path(backing_file)):
        failure = _run(["losetup", "--detach", str(device)])
        if failure is None and not wait_until_free(device, Path(backing_file)):
            failure = "still in use"
        undone.append(_undone(f"loop device {device} on {backing_file}", failure))
    return undone


def remove_file(file: str) -> list[Undone]:
    """Remove a file."""
    path = Path(file)
    if not path.is_file():
        return []
    path.unlink()
    return [Undone(f"file {path}", done=True)]


def destroy_pool(name: str) -> list[Undone]:
    """Destroy a ZFS pool; one whose daemon is gone went with it."""
    if name not in _output(["zpool", "list", "-H", "-o", "name"]).split():
        return []
    return [_undone(f"pool {name}", _patiently(["zpool", "destroy", "-f", name]))]


def remove_cgroup(folder: str) -> list[Undone]:
    """Remove a control group; what is still in it goes back to the group above."""
    path = Path(folder)
    if not path.is_dir():
        return []
    for process in (path / "cgroup.procs").read_text().split():
        try:
            (path.parent / "cgroup.procs").write_text(process)
        except OSError:
            continue  # it has ended
    try:
        path.rmdir()
    except OSError as error:
        return [_undone(f"control group {path}", str(error))]
    return [Undone(f"control group {path}", done=True)]


def tear_down(command: str) -> list[Undone]:
    """Run the user's own command that undoes another."""
    return [_undone(f"`{command}`", _run(["sh", "-c", command]))]


def remove_parent(folder: str) -> list[Undone]:
    """Remove a directory that was made on the way; what somebody else put there stays."""
    path = Path(folder)
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()
    return []


def remove_directory(path: Path, mark: str) -> list[Undone]:
    """Remove a directory that holds a run's mark, or nothing."""
    if not path.is_dir():
        return []
    if is_owned(path, mark):
        shutil.rmtree(path, ignore_errors=True)
    elif not any(path.iterdir()):
        path.rmdir()  # a kill fell between making it and marking it
    return [Undone(f"directory {path}", done=not path.exists())]


def is_owned(path: Path, mark: str) -> bool:
    """Return whether a directory holds a run's mark."""
    owned = path / OWNED
    return owned.is_file() and owned.read_text() == mark


UNDOING: dict[str, Callable[[str], list[Undone]]] = {
    "mount": lambda path: unmount(Path(path)),
    "loop": detach_loops,
    "file": remove_file,
    "pool": destroy_pool,
    "cgroup": remove_cgroup,
    "tear_down": tear_down,
    "parent": remove_parent,
}
"""By the word that stands in the journal."""


def _undone(what: str, failure: str | None) -> Undone:
    return Undone(what if failure is None else f"{what} ({failure})", done=failure is None)


def _patiently(argv: list[str]) -> str | None:
    """Run a command until it succeeds or patience ends; return how it failed."""
    end = time.monotonic() + PATIENCE_S
    while (failure := _run(argv)) and time.monotonic() < end:
        time.sleep(POLL_S)
    return failure


def _run(argv: list[str]) -> str | None:
    """Run a command; return what it said if it failed."""
    try:
        result = subprocess.run(
            argv, capture_output=True, text=True, check=False, env=_environment(), timeout=COMMAND_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if result.returncode == 0:
        return None
    return (result.stderr or result.stdout).strip() or f"exit code {result.returncode}"


def _output(argv: list[str]) -> str:
    """Return what a command says; nothing where it fails or is not there."""
    try:
        return subprocess.run(
            argv, capture_output=True, text=True, check=False, env=_environment(), timeout=COMMAND_LIMIT_S
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _environment() -> dict[str, str]:
    """Return an environment in which the system's own programs are found and speak English."""
    return {**os.environ, "LC_ALL": "C", "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
