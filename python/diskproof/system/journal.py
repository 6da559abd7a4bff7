"""What a run starts, mounts and creates is written down here first, so that any kill can be undone.

One file a run, in the user's state directory. A run that ends in good order undoes its own journal
and removes the file; whatever is still there belongs to a run that was killed.

Processes are not listed by number, since a number is known only after the start and is given out
again after the end. Every process of a run carries the run's mark in its environment instead, and
its children inherit it. Those that write over their environment (PostgreSQL's children show their
state there) are known by where they work: in a directory of the run.
"""

import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from diskproof.refusal import RefusalError

MARK = "DISKPROOF_RUN"
"""Environment variable that every process of a run carries."""

NOT_INHERITED = "DISKPROOF_PASSWORD"
"""The password for the user's own servers; the run's have none, and refuse one that comes all the same."""

OWNED = ".diskproof-owned"
"""File inside each directory that diskproof made and may remove; holds the run's mark."""

GRACE_S = 5.0
"""How long a process may take to die before the undo goes on without it."""


class AnotherRunError(RefusalError):
    """A run is under way on this machine: two at once would measure each other."""


@dataclass(frozen=True)
class Undone:
    """One thing that was cleared away, or could not be."""

    what: str
    done: bool


def state_folder() -> Path:
    """Return the folder of the journals: ``$DISKPROOF_STATE``, or the user's state directory."""
    if folder := os.environ.get("DISKPROOF_STATE"):
        return Path(folder)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "diskproof"


class Journal:
    """The journal of the run under way; at most one exists on a machine at a time (per user)."""

    def __init__(self, path: Path, mark: str, lock: IO[str]) -> None:
        """Use `begin`; this only holds the parts."""
        self.path = path
        self.mark = mark
        self._lock = lock

    @classmethod
    def begin(cls, purpose: str) -> "Journal":
        """Take the machine for one run; AnotherRunError says which process has it."""
        folder = state_folder()
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            lock.close()
            raise AnotherRunError(
                f"a run is under way here: {holder}. Two at once would measure each other; "
                "wait for it, or end it with Ctrl-C in its terminal"
            ) from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()}, {purpose}")
        lock.flush()
        mark = secrets.token_hex(4)
        journal = cls(folder / f"{mark}.jsonl", mark, lock)
        journal._write({"run": purpose})
        return journal

    def directory(self, path: Path) -> Path:
        """Write down and make a directory that this run may remove, with all in it."""
        self._write({"directory": str(path)})
        path.mkdir(parents=True)
        (path / OWNED).write_text(self.mark)
        return path

    def parents(self, path: Path) -> None:
        """Write down and make the missing parents of a path; they go again only if they are empty."""
        for folder in reversed(path.absolute().parents):
            if not folder.exists():
                self._write({"parent": str(folder)})
                folder.mkdir()

    def mounted(self, path: Path) -> None:
        """Write down a mount point, before it is mounted."""
        self._write({"mount": str(path)})

    def environment(self) -> dict[str, str]:
        """Return the environment that every process of this run must have: the user's, but for a password."""
        inherited = {name: value for name, value in os.environ.items() if name != NOT_INHERITED}
        return {**inherited, MARK: self.mark}

    def finish(self) -> list[Undone]:
        """Undo all that was written down and give the machine back."""
        undone = undo(self.path)
        self._lock.close()
        return undone

    def _write(self, entry: dict[str, str]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())


def clean() -> list[Undone]:
    """Undo what killed runs left behind; AnotherRunError where one is still alive."""
    folder = state_folder()
    if not folder.is_dir():
        return []
    with (folder / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise AnotherRunError(
                f"a run is under way here: {lock.read().strip()}; it cleans up by itself"
            ) from None
        return [undone for path in sorted(folder.glob("*.jsonl")) for undone in undo(path)]


def undo(path: Path) -> list[Undone]:
    """Undo one journal, the last thing first; the file goes once nothing of it is left."""
    entries = [json.loads(line) for line in _whole_lines(path)]
    mark = path.stem
    undone = list(_end_processes(mark, _own_folders(entries, mark)))
    for entry in reversed(entries):
        if "mount" in entry:
            undone += _unmount(Path(entry["mount"]))
        elif "directory" in entry:
            undone += _remove(Path(entry["directory"]), mark)
        elif "parent" in entry:
            _remove_if_empty(Path(entry["parent"]))
    if all(item.done for item in undone):
        path.unlink()
    return undone


def _whole_lines(path: Path) -> list[str]:
    """Return the complete lines; what a kill cut off was not yet acted on."""
    return [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def processes_of(mark: str) -> Iterator[psutil.Process]:
    """Yield the live processes that carry a run's mark, this one excepted."""
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                yield process
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue


def processes_in(folders: list[Path]) -> Iterator[psutil.Process]:
    """Yield the live processes of ours that work in one of these folders, this one excepted.

    One whose environment can be read and holds no mark is somebody's shell that stands there, and
    nobody's to end. PostgreSQL's children have none left to read.
    """
    resolved = [folder.resolve() for folder in folders]
    for process in psutil.process_iter():
        try:
            at = Path(process.cwd())
            if process.pid != os.getpid() and any(at.is_relative_to(folder) for folder in resolved):
                variables = process.environ()
                if not variables or MARK in variables:
                    yield process
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue


def _own_folders(entries: list[dict[str, str]], mark: str) -> list[Path]:
    """Return the directories of a journal that hold our mark, or a mount of ours that hides it."""
    mounts = {entry["mount"] for entry in entries if "mount" in entry}
    directories = [entry["directory"] for entry in entries if "directory" in entry]
    return [Path(path) for path in directories if path in mounts or _is_owned(Path(path), mark)]


def _end_processes(mark: str, folders: list[Path]) -> Iterator[Undone]:
    found = list({*processes_of(mark), *processes_in(folders)})
    for process in found:
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue
    _, alive = psutil.wait_procs(found, timeout=GRACE_S)
    for process in found:
        yield Undone(f"process {process.pid}", process not in alive)


def _unmount(path: Path) -> list[Undone]:
    if not path.is_mount():
        return []
    # A server that was killed a moment ago may still be giving up its files.
    for _ in range(20):
        result = subprocess.run(["umount", str(path)], capture_output=True, check=False)
        if result.returncode == 0:
            return [Undone(f"mount {path}", done=True)]
        time.sleep(0.1)
    return [Undone(f"mount {path} ({result.stderr.decode(errors='replace').strip()})", done=False)]


def _remove_if_empty(path: Path) -> None:
    """Remove a directory that was made on the way; what somebody else put there stays."""
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()


def _is_owned(path: Path, mark: str) -> bool:
    owned = path / OWNED
    return owned.is_file() and owned.read_text() == mark


def _remove(path: Path, mark: str) -> list[Undone]:
    if not path.is_dir():
        return []
    if _is_owned(path, mark):
        shutil.rmtree(path, ignore_errors=True)
    elif not any(path.iterdir()):
        path.rmdir()  # a kill fell between making it and marking it
    return [Undone(f"directory {path}", done=not path.exists())]
