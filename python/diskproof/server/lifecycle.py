"""Starting a program and waiting for it, ending it, and reading its log: the same for every server."""

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from diskproof.results.machine import ServerFacts
from diskproof.server.base import RUN_PATH_LIMIT, ServerError, ServerFailedError, ServerTooSlowError, Settings
from diskproof.system.journal import processes_in
from diskproof.system.mounts import mount_of

LOOK_S = 1.0
"""Between two looks at the log of a server that says nothing: its recovery may be what is being timed."""

POLL_S = 0.01
"""Between two looks at a starting server: short against its start (0.2 s and more), cheap to do."""

STUCK_S = 60.0
"""A server that has told of damage and then says nothing for so long is not given the rest of its time: one
that recovers on a slow disk tells how far it is, or of no damage."""

KILL_LIMIT_S = 300.0
"""How long killed processes may take to be gone: one that waits for its disk ends when that has answered.

A disk that answers 50 times a second takes minutes over what the page cache holds for it."""

DYING_S = 10.0
"""How long a server that fails an assertion may take over its backtrace."""

TAIL_BYTES = 64 * 1024
"""How much of a log's end is read for a message; a log may have grown to gigabytes."""


class ServerLog:
    """The log of one start of a server; what an earlier one wrote to the same file is none of it."""

    def __init__(self, path: Path) -> None:
        """Begin where the file ends now."""
        self.path = path
        self._begins_at = path.stat().st_size if path.exists() else 0

    def said(self) -> str:
        """Return all that this start has written so far."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._begins_at)
                return file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""

    def silent_s(self) -> float:
        """Return for how long nothing has been written to the file; 0 where there is none yet."""
        return time.time() - self.path.stat().st_mtime if self.path.exists() else 0.0

    def size_bytes(self) -> int:
        """Return the file's size; 0 where there is none yet."""
        return self.path.stat().st_size if self.path.exists() else 0

    def tail(self, lines: int = 20) -> str:
        """Return the last lines of the file, whoever wrote them."""
        return log_tail(self.path, lines)


def why_not_started(
    facts: ServerFacts, settings: Settings, refused: re.Pattern[str], what: str, log: ServerLog
) -> ServerFailedError:
    """Return the error of a server that did not start: the refused variable first, where there is one.

    `refused` is how such a server says that; one of its groups is the variable's name.
    """
    server = f"{facts.flavour} {facts.version}"
    said = log.said()
    for found in refused.finditer(said):
        name = next(group for group in found.groups() if group).replace("-", "_").lower()
        if name in settings.level:
            return ServerFailedError(
                f"{server} refuses {name} = {settings.level[name]}: {_line_of(said, found)}; "
                "correct or remove the variable in the study's tuning"
            )
    tail = "\n".join(said.splitlines()[-20:]) or "(empty)"
    error = _FIRST_ERROR.search(said)
    why = f": {error[1].strip()}" if error else ""
    return ServerFailedError(f"{server} {what}{why}\nlast lines of {log.path}:\n{tail}")


_FIRST_ERROR = re.compile(r"(\[ERROR\].*|PANIC:.*|FATAL:(?!\s+the database system is ).*)")
"""How servers begin what made them end; PostgreSQL tells its clients so, too, while it starts."""


def _line_of(text: str, found: re.Match[str]) -> str:
    start = text.rfind("\n", 0, found.start()) + 1
    return text[start:].partition("\n")[0].strip()


def log_tail(path: Path, lines: int = 20) -> str:
    """Return the last lines of a log; a sentence where there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return f"(no log was written to {path})"
    return "\n".join(text.splitlines()[-lines:]) or f"({path} is empty)"


def wait_until(
    ready: Callable[[], bool],
    process: subprocess.Popen[bytes],
    *,
    deadline_s: float,
    failure: Callable[[str], ServerFailedError],
    log: ServerLog | None = None,
) -> None:
    """Wait until a started program is ready; `failure` words how it died or was too slow.

    ServerTooSlowError in the latter case, and of one that is stuck by its `log`, where that is given.
    """
    end = time.monotonic() + deadline_s
    stuck = _Silence(log) if log is not None else None
    while not ready():
        if process.poll() is not None:
            raise failure(f"ended while it started ({describe_end(process.returncode)})")
        if time.monotonic() > end:
            kill_tree(process)
            raise _too_slow(failure(f"took no connection within {deadline_s:g} s and was killed"))
        if stuck is not None and stuck.has_news() and failure("").complaints:
            kill_tree(process)
            raise _too_slow(failure(f"told of damage, then nothing for {STUCK_S:g} s, and was killed"))
        time.sleep(POLL_S)


class _Silence:
    """Tells when it is worth reading the log of a server that has not written to it for long.

    Once for each size that the log comes to, however long it stays so.
    """

    def __init__(self, log: ServerLog) -> None:
        self._log = log
        self._look_at = 0.0
        self._read_bytes: int | None = None

    def has_news(self) -> bool:
        """Tell whether the log has been silent for too long, and not been read as it stands."""
        now = time.monotonic()
        if now < self._look_at:
            return False
        self._look_at = now + LOOK_S
        if self._log.silent_s() <= STUCK_S or (size := self._log.size_bytes()) == self._read_bytes:
            return False
        self._read_bytes = size
        return True


def _too_slow(error: ServerFailedError) -> ServerTooSlowError:
    slow = ServerTooSlowError(str(error))
    slow.complaints = error.complaints
    return slow


def describe_end(returncode: int) -> str:
    """Return how a process ended, in words."""
    return f"exit code {returncode}" if returncode >= 0 else f"killed by signal {-returncode}"


def describe_silence(process: subprocess.Popen[bytes], waited_s: float, limit_s: float) -> str:
    """Return why a server did not answer, in words: it has ended, or it took too long; else nothing."""
    if process.poll() is not None:
        return f" ({describe_end(process.returncode)})"
    return f" within {limit_s:g} s" if waited_s >= limit_s else ""


def describe_death(process: subprocess.Popen[bytes]) -> str:
    """Return how a server ended whose connection has just broken, in words; nothing where it lives on.

    One that dies of what it has found writes a backtrace first, which takes seconds.
    """
    try:
        return f"the server died ({describe_end(process.wait(DYING_S))}): "
    except subprocess.TimeoutExpired:
        return ""


def process_tree(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return a process and all that it started, the first one first; empty where it is gone."""
    if process.poll() is not None:
        return []
    try:
        parent = psutil.Process(process.pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def wait_for_end(process: subprocess.Popen[bytes], deadline_s: float) -> bool:
    """Wait for a program that was told to end; kill it and all it started where it does not."""
    try:
        process.wait(deadline_s)
    except subprocess.TimeoutExpired:
        kill_tree(process)
        return False
    return True


def kill_tree(process: subprocess.Popen[bytes], limit_s: float = KILL_LIMIT_S) -> None:
    """Kill a program and all that it started, and wait until every one of them is gone.

    ServerTooSlowError where one is still there after `limit_s`: it waits for a disk that does not answer.
    """
    tree = process_tree(process)
    _kill(tree)
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        raise _still_there(tree[:1], limit_s) from None
    _wait_until_gone(tree[1:], limit_s)


def kill_orphans(folder: Path, limit_s: float = KILL_LIMIT_S) -> bool:
    """Kill what a dead server left at work in its directory; tell whether there was anything.

    ServerTooSlowError as with `kill_tree`.
    """
    orphans = list(processes_in([folder]))
    _kill(orphans)
    _wait_until_gone(orphans, limit_s)
    return bool(orphans)


def _kill(members: list[psutil.Process]) -> None:
    for member in members:
        try:
            member.kill()
        except psutil.NoSuchProcess:
            continue


def _wait_until_gone(members: list[psutil.Process], limit_s: float) -> None:
    end = time.monotonic() + limit_s
    while alive := [member for member in members if not _is_gone(member)]:
        if time.monotonic() > end:
            raise _still_there(alive, limit_s)
        time.sleep(POLL_S)


def _is_gone(process: psutil.Process) -> bool:
    """Tell whether a process has let go of all that it held.

    A zombie has, though init may take a second to collect it, unless a thread of it is still at work.
    """
    try:
        if not process.is_running():
            return True
        threads = len(list(Path(f"/proc/{process.pid}/task").iterdir()))
        return threads == 1 and process.status() == psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, FileNotFoundError):
        return True


def _still_there(members: list[psutil.Process], limit_s: float) -> ServerTooSlowError:
    who = ", ".join(_describe(member) for member in members)
    return ServerTooSlowError(
        f"killed {limit_s:g} s ago and still there: {who}; one that waits for its disk ends when the disk "
        "answers or fails: look whether that is still served (`dmesg`, `mount`), and end what serves it"
    )


def _describe(process: psutil.Process) -> str:
    """Return a process with its state and, where the kernel tells, the function in it that it waits in."""
    try:
        state, name = process.status(), process.name()
        waits_in = Path(f"/proc/{process.pid}/wchan").read_text()
    except (psutil.NoSuchProcess, OSError):
        return f"process {process.pid}"
    return f"process {process.pid} ({name}, {state}{f' in {waits_in}' if waits_in.strip('0') else ''})"


def clear_run_folder(folder: Path) -> None:
    """Remove the sockets, locks and pid files that a killed server left in its private folder.

    Their pids may by now be other processes', and a server that finds such a one running refuses to start.
    """
    for file in folder.iterdir():
        if not file.is_dir():
            file.unlink()


def check_socket_folder(folder: Path) -> None:
    """Refuse a folder whose sockets no client could name (ServerError)."""
    length = len(os.fsencode(folder))
    if length > RUN_PATH_LIMIT:
        raise ServerError(
            f"{folder} is {length} bytes long and a socket's folder may have {RUN_PATH_LIMIT}: "
            "use a shorter one"
        )


def is_on_zfs(directory: Path) -> bool:
    """Tell whether a directory lies on ZFS, the kernel's or zfs-fuse."""
    return mount_of(directory).filesystem in {"zfs", "fuse.zfs"}


def takes_direct_io(directory: Path) -> bool:
    """Tell whether files in a directory can be opened with O_DIRECT (tmpfs before Linux 6.6 refuses)."""
    probe = directory / ".diskproof-o-direct"
    try:
        os.close(os.open(probe, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600))
    except OSError:
        return False
    finally:
        probe.unlink(missing_ok=True)
    return True
