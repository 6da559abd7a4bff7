"""The journal: what a run starts, mounts or makes is recorded first, so that any kill can be undone.

There is one file per run, in the user's state directory. A run that ends normally undoes its own journal and
removes the file. A file that remains belongs to a run that was killed.

Processes are not listed: `run_processes` finds them.
"""

import fcntl
import json
import os
import re
import secrets
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import psutil

from diskproof.database.secret import Secret
from diskproof.families.address import Address
from diskproof.refusal import NotWrittenError, RefusalError, why_not_written
from diskproof.results.durable import append_line
from diskproof.system import programs, shared_memory
from diskproof.system.containers import LABEL
from diskproof.system.endings import at_interruption, ignore_endings
from diskproof.system.kernel import kernel_says
from diskproof.system.loops import backing_file_of
from diskproof.system.own_folder import OTHERS_WRITE, OwnFolder, renamed_first
from diskproof.system.run_processes import end, processes_in, processes_of
from diskproof.system.undoing import (
    GONE_WITH_THE_KERNEL,
    UNDOING,
    Entry,
    Undone,
    identity,
    is_seen_mounted,
    remove_directory,
)

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""Identifies one start of the kernel: proc(5)."""

NOTHING: Entry = {"gone": ""}
"""Replaces an entry that needs no undoing any more; the others keep their numbers."""

UNREAD = "unread"
"""Kind of an entry for a line that is unreadable or doubtful; its value is the message."""

KINDS = frozenset({"run", "undone", "directory", *UNDOING})
"""The possible kinds of a line."""

JOURNAL = re.compile(r"[0-9a-f]{8}\.jsonl")
"""A journal is named by its run's mark."""

LARGEST_BYTES = 64 * 2**20

SHOWN = 300
"""Bytes of a line that cannot be read."""

IN_ORDER_S = 8.0
"""How long the orderly clean-up after an interruption may take: then all processes of the run are killed."""


class AnotherRunError(RefusalError):
    """A run is under way on this machine: two at once would measure each other."""


def state_folder() -> Path:
    """Return the folder of the journals: ``$DISKPROOF_STATE``, or the user's state directory."""
    if folder := os.environ.get("DISKPROOF_STATE"):
        return Path(folder)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "diskproof"


class Journal:
    """The journal of the current run; at most one per user exists on a machine at a time."""

    def __init__(self, path: Path, mark: str, lock: IO[str]) -> None:
        self.path = path
        self.mark = mark
        self._lock = lock
        self._engines: set[str] = set()
        self._kill_later = threading.Timer(IN_ORDER_S, self._end_processes)
        self._kill_later.daemon = True

    @classmethod
    def begin(cls, purpose: str) -> "Journal":
        """Take the machine for one run; AnotherRunError names the process that has it."""
        folder = state_folder()
        lock = _lock_file(folder)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            refused = _another_run(lock)
            lock.close()
            raise refused from None
        with writing_in(folder):
            lock.truncate(0)
            lock.write(f"process {os.getpid()}, {purpose}")
            lock.flush()
        return cls._new(folder, purpose, lock)

    @classmethod
    def outliving(cls, folder: Path, purpose: str) -> "Journal":
        """Begin a journal in a folder of its own, for what stays when this process ends.

        It does not take the machine, and `clean` ignores it: its owner undoes it. Until `leave` or `finish`,
        no second one can begin there.
        """
        return cls._new(folder, purpose, cls.attaching(folder))

    @staticmethod
    def attaching(folder: Path) -> IO[str]:
        """Wait until nobody is between beginning and leaving a journal in a folder.

        Closing the returned file unlocks the folder.
        """
        lock = _lock_file(folder)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    @classmethod
    def _new(cls, folder: Path, purpose: str, lock: IO[str]) -> "Journal":
        mark = secrets.token_hex(4)
        journal = cls(folder / f"{mark}.jsonl", mark, lock)
        try:
            journal._write({"run": purpose, "boot": kernel_says(BOOT) or ""})
            programs.carry(mark)
            at_interruption(journal._hurry)
        except BaseException:  # interrupted: nobody else knows of it yet
            journal.path.unlink(missing_ok=True)
            journal._close()
            raise
        return journal

    def leave(self) -> None:
        """Stop writing; all entries stay as they are."""
        self._close()

    def directory(self, path: Path) -> Path:
        """Record and make a directory that this run may remove, with all in it."""
        return self.own_folder(path).path

    def own_folder(self, path: Path) -> OwnFolder:
        """Record and make such a directory, whose contents the run will change."""
        self._write({"directory": str(path)})
        return OwnFolder.make(path, self.mark)

    def parents(self, path: Path) -> None:
        """Record and make the missing parents of a path; they are removed only if they are empty.

        Each gets its name when its inode is on record: only then can it be told from another of that name.
        """
        for folder in reversed(path.absolute().parents):
            if not folder.exists():
                nameless = folder.with_name(f"diskproof-{self.mark}-new")
                self._write({"directory": str(nameless)})
                nameless.mkdir()
                self._write({"parent": str(folder), "inode": str(nameless.stat().st_ino)})
                if not renamed_first(nameless, folder):
                    nameless.rmdir()

    def mounted(self, path: Path, source: str) -> None:
        """Record a mount point before it is mounted, and the source of the mount.

        `source` is what the kernel's table will show: a block device, a pool, or a name. A mount of another
        source is somebody else's and stays; so does a loop device that lies on another file by then.
        """
        below = backing_file_of(Path(source)) if source.startswith("/dev/") else None
        self._write({"mount": str(path), "source": source, **({"on": below} if below else {})})

    def looped(self, backing_file: Path) -> None:
        """Record a file before a loop device is put on it; the device's number is known only afterwards."""
        self._write({"loop": str(backing_file), "inode": str(backing_file.stat().st_ino)})

    def file(self, path: Path, size_bytes: int) -> int:
        """Make a sparse file that this run may remove, and return its descriptor; OSError if it exists.

        It is recorded after it is made: only then can it be told from another file of that name.
        """
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        try:
            os.ftruncate(descriptor, size_bytes)
            self._write({"file": str(path), "identity": identity(os.fstat(descriptor))})
        except BaseException:
            path.unlink()
            os.close(descriptor)
            raise
        return descriptor

    def adopt(self, path: Path) -> None:
        """Record a file that a process of this run made and keeps at its size; nothing if it is gone.

        It goes with the run if the process cannot remove it.
        """
        with suppress(FileNotFoundError):
            self._write({"file": str(path), "identity": identity(path.lstat())})

    def shared_memory(self, data: Path) -> None:
        """Record a directory before a PostgreSQL server starts on it, to remove its shared memory."""
        self._write({"shared_memory": str(data), "owner": str(shared_memory.Owner.of(data))})

    def pool(self, name: str) -> None:
        """Record a ZFS pool that this run may destroy, before it is made."""
        self._write({"pool": name})

    def cgroup(self, path: Path) -> None:
        """Record a control group, before it is made."""
        self._write({"cgroup": str(path)})

    def quota_slice(self, before_us: str, ours_us: str) -> None:
        """Record the kernel's slice of quotas of CPU time, before it is changed."""
        self._write({"quota_slice": before_us, "ours": ours_us})

    def containers(self, engine: str) -> str:
        """Record that an engine will start containers, and return the label that each of them must have."""
        label = f"{LABEL}={self.mark}"
        if engine not in self._engines:
            self._write({"containers": engine, "label": label})
            self._engines.add(engine)
        return label

    def variable(self, name: str, ours: str, before: str, address: Address, secret: Secret) -> None:
        """Record a variable of a server that is there already, before it gets `ours` as its value.

        `before` is what `database.variables` must know to put it back. The password is not written down, only
        where it is.
        """
        password = {"password_file": secret.file, "password_env": secret.variable}
        where = {"url": address.url, **{key: value for key, value in password.items() if value is not None}}
        self._write({"variable": name, "ours": ours, "before": before, **where})

    def finish(self) -> list[Undone]:
        """Undo all entries and give the machine back."""
        self._kill_later.cancel()
        undone = undo(self.path)
        self._close()
        return undone

    def finish_telling(self, left_behind: Callable[[Undone], object]) -> None:
        """Undo all entries, whatever interrupts; `left_behind` receives what could not be undone."""
        ignore_endings()  # a second Ctrl-C must not interrupt the clean-up
        for undone in self.finish():
            if not undone.done:
                left_behind(undone)

    def _close(self) -> None:
        at_interruption(lambda: None)
        programs.carry(None)
        self._lock.close()

    def _hurry(self) -> None:
        """Let the processes of the run continue if they are stopped, and give the clean-up a limit.

        A disk that does not answer would hold up every step of it.
        """
        for process in processes_of(self.mark):
            with suppress(psutil.Error):
                process.resume()
        self._kill_later.start()

    def _end_processes(self) -> None:
        """Kill all processes of the run; what waits for their disks fails."""
        with suppress(OSError, RefusalError):
            for _ in _end_processes(self.mark, _entries(self.path)):
                pass

    def _write(self, entry: Entry) -> None:
        if any("\0" in value for value in entry.values()):  # a journal with that could not be undone
            raise RefusalError(f"{entry} has a NUL character; leave it out")
        _append(self.path, entry)


@contextmanager
def machine_taken(purpose: str, left_behind: Callable[[Undone], object]) -> Iterator[Journal]:
    """Take the machine for one run, and undo its journal at the end.

    `left_behind` receives what could not be undone.
    """
    journal = Journal.begin(purpose)
    try:
        yield journal
    finally:
        journal.finish_telling(left_behind)


def clean() -> list[Undone]:
    """Undo what killed runs left behind; AnotherRunError if one is still alive."""
    folder = state_folder()
    if not folder.is_dir():
        return []
    with _lock_file(folder) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AnotherRunError(
                f"{_another_run(lock)}; to clean up after a run with another state folder, set "
                "DISKPROOF_STATE to that folder"
            ) from None
        return [undone for path in sorted(folder.glob("*.jsonl")) for undone in undo(path)]


def _another_run(lock: IO[str]) -> AnotherRunError:
    lock.seek(0)
    return AnotherRunError(
        f"a run is under way here: {lock.read().strip() or 'another process'}. Two at once would measure "
        "each other: wait for it, or end it with Ctrl-C in its terminal"
    )


def undo(path: Path) -> list[Undone]:
    """Undo one journal, the last entry first; the file is removed when nothing of it is left.

    What is undone is recorded too, so that another attempt skips it.
    """
    try:
        entries = _entries(path)
    except OSError as error:
        return [Undone(f"journal {path} ({error.strerror})", done=False)]
    except RefusalError as error:
        return [Undone(f"journal {path} ({error})", done=False)]
    for secret in filter(None, (entry.get("password_env") for entry in entries)):
        programs.hide(secret)
    mark = path.stem
    undone = list(_end_processes(mark, entries))
    before = {entry["undone"] for entry in entries if "undone" in entry}
    for number, entry in reversed(list(enumerate(entries))):
        if str(number) in before:
            continue
        items = _undo(entry, mark)
        if items and all(item.done for item in items):
            with suppress(NotWrittenError):  # on a full disk it is repeated if anything is left
                _append(path, {"undone": str(number)})
        undone += items
    if all(item.done for item in undone):
        path.unlink(missing_ok=True)  # another process may undo it at once
    return undone


def _undo(entry: Entry, mark: str) -> list[Undone]:
    """Undo one entry; a failure does not keep the others from being undone."""
    kind = next(iter(entry))
    if kind == UNREAD:
        return [Undone(entry[kind], done=False)]
    try:
        if kind == "directory":
            return remove_directory(Path(entry[kind]), mark)
        return UNDOING[kind](entry) if kind in UNDOING else []
    except (OSError, ValueError) as error:
        return [Undone(f"{kind} {entry[kind]} ({error})", done=False)]


def _entries(path: Path) -> list[Entry]:
    """Return the entries of a journal; an incomplete last line was not acted on yet, and is cut off.

    If the machine was restarted since, what the kernel held is gone, and what is in its place now belongs to
    another. If the line that shows this is damaged, both are possible.
    """
    with os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        _check_ours(path, os.fstat(file.fileno()))
        text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            os.ftruncate(file.fileno(), len(whole))
    lines = whole.split(b"\n")[:-1]
    entries = [_entry(line) or _damaged(number, path, line) for number, line in enumerate(lines, start=1)]
    if entries and UNREAD in entries[0]:
        return [entry if not GONE_WITH_THE_KERNEL & entry.keys() else _doubtful(entry) for entry in entries]
    boot = kernel_says(BOOT) or ""
    if entries and entries[0].get("boot", boot) != boot:
        return [entry if not GONE_WITH_THE_KERNEL & entry.keys() else NOTHING for entry in entries]
    return [_another(entry) if _is_named_only(entry, path.stem) else entry for entry in entries]


def _check_ours(path: Path, found: os.stat_result) -> None:
    """Refuse a journal that others may have written: what it names is removed, its commands are run."""
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or not JOURNAL.fullmatch(path.name):
        raise RefusalError("diskproof did not make this: remove it")
    if found.st_size > LARGEST_BYTES:
        raise RefusalError(f"it has {found.st_size:,} bytes, more than any journal: remove it")
    check_owner("it", found, "remove it")


def check_owner(what: str, found: os.stat_result, remedy: str) -> None:
    """Refuse what others own or can write to."""
    if found.st_uid != os.geteuid():
        raise RefusalError(f"{what} belongs to another user (id {found.st_uid}): {remedy}")
    if found.st_mode & OTHERS_WRITE:
        raise RefusalError(f"others may write to {what}: look at it, then `chmod go-w`, or {remedy}")


def _entry(line: bytes) -> Entry | None:
    """Read a line of a journal; None if a failing disk has damaged it."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(entry, dict) and next(iter(entry), "") in KINDS and all(map(_is_name, entry.values())):
        return entry
    return None


def _is_name(value: object) -> bool:
    """Return whether a value can be a path, a name or a command."""
    try:
        return isinstance(value, str) and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


def _damaged(number: int, path: Path, line: bytes) -> Entry:
    """Replace a damaged line, or another version's, such as a `tear_down`: the others are undone.

    It is not forgotten.
    """
    return {
        UNREAD: f"line {number} of {path} cannot be read: what it names was not undone; undo it by hand, "
        f"then remove the file: {line[:SHOWN].decode(errors='replace')}"
    }


def _doubtful(entry: Entry) -> Entry:
    """Replace what the kernel held before or after a restart: it may be another's, and stays."""
    kind = next(iter(entry))
    return {UNREAD: f"{kind} {entry[kind]} (not undone: it may date from before the last restart)"}


def _is_named_only(entry: Entry, mark: str) -> bool:
    """Return whether a mount is known by no more than a name that anybody may use, as a tmpfs has."""
    return "mount" in entry and "on" not in entry and not any(mark in name for name in entry.values())


def _another(entry: Entry) -> Entry:
    """Replace a mount that may be anybody's."""
    return {UNREAD: f"mount {entry['mount']} (not undone: neither it nor its source has the mark of its run)"}


def _append(path: Path, entry: Entry) -> None:
    with writing_in(path.parent):
        append_line(path, json.dumps(entry), mode=0o600)


def _lock_file(folder: Path) -> IO[str]:
    with writing_in(folder):
        for each in (state_folder(), folder):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_owner(f"the state folder {folder}", folder.stat(), "set DISKPROOF_STATE to another folder")
        file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        return os.fdopen(file, "r+", encoding="utf-8")


@contextmanager
def writing_in(folder: Path) -> Iterator[None]:
    """Refuse to go on if the journal cannot be written: then nothing may be started."""
    try:
        yield
    except OSError as error:
        raise NotWrittenError(
            "the journal of what a run starts and mounts cannot be kept: "
            f"{why_not_written(folder, error)}, or set DISKPROOF_STATE to another folder"
        ) from error


def _own_folders(entries: list[Entry], mark: str) -> list[Path]:
    """Return the directories of a journal that hold our mark, or a mount of ours that hides it."""
    mounts = {entry["mount"] for entry in entries if "mount" in entry and is_seen_mounted(entry)}
    directories = [entry["directory"] for entry in entries if "directory" in entry]
    return [Path(path) for path in directories if path in mounts or OwnFolder(Path(path), mark).is_ours]


def _end_processes(mark: str, entries: list[Entry]) -> Iterator[Undone]:
    """End the processes of a run: first those with its mark, since their files may wait for a dead disk."""
    yield from end(lambda: processes_of(mark), entries)
    yield from end(lambda: processes_in(_own_folders(entries, mark)), entries)
