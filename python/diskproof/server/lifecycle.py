"""Waiting for a program that starts, ending it and all that it started, and the folders that it needs."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from diskproof.server.base import (
    RUN_PATH_LIMIT,
    ServerError,
    ServerFailedError,
    ServerNotFoundError,
    ServerTooSlowError,
)
from diskproof.server.log import ServerLog
from diskproof.system import programs
from diskproof.system.containers import Image
from diskproof.system.mounts import mount_of
from diskproof.system.programs import Ended, Started, TimedOut
from diskproof.system.run_processes import described, is_gone, processes_in

LOOK_S = 1.0
"""Between two looks at the log of a silent server: its recovery may be what is being timed."""

POLL_S = 0.01
"""Between two looks at a starting server: short against its start (0.2 s and more), cheap to do."""

STUCK_S = 60.0
"""A server that reported damage and then says nothing for so long is not given the rest of its time. One that
recovers on a slow disk reports its progress, or no damage."""

KILL_LIMIT_S = 300.0
"""How long killed processes may take to end: one that waits for its disk ends when the disk has answered.

A disk that answers 50 times a second takes minutes over what the page cache holds for it."""

DYING_S = 10.0
"""How long a server that fails an assertion may take over its backtrace."""

# ---------------------------------------------------------------- a start


def wait_until(
    not_ready: Callable[[], str],
    process: Started,
    *,
    deadline_s: float,
    failure: Callable[[str], ServerFailedError],
    log: ServerLog | None = None,
) -> None:
    """Wait until a started program has no reason left not to be ready; `failure` makes the error.

    ServerTooSlowError after the deadline, and if its `log`, if given, shows that it is stuck.
    """
    end = time.monotonic() + deadline_s
    look_at, read_bytes = 0.0, -1
    while why := not_ready():
        now = time.monotonic()
        if process.poll() is not None:
            raise failure(f"ended while it started ({describe_end(process.returncode)})")
        if now > end:
            kill_tree(process)
            raise _too_slow(failure(f"took no connection within {deadline_s:g} s and was killed: {why}"))
        if log is not None and now >= look_at:
            look_at = now + LOOK_S
            # A silent log is read once for each size that it has: it may have gigabytes.
            if log.silent_s() > STUCK_S and log.size_bytes() != read_bytes:
                read_bytes = log.size_bytes()
                if failure("").complaints:
                    kill_tree(process)
                    raise _too_slow(
                        failure(f"reported damage, then nothing for {STUCK_S:g} s, and was killed")
                    )
        time.sleep(POLL_S)


def _too_slow(error: ServerFailedError) -> ServerTooSlowError:
    slow = ServerTooSlowError(str(error))
    slow.complaints = error.complaints
    return slow


def describe_end(returncode: int) -> str:
    """Return how a process ended, in words."""
    return f"exit code {returncode}" if returncode >= 0 else f"killed by signal {-returncode}"


def describe_silence(process: Started, waited_s: float, limit_s: float) -> str:
    """Return why a server did not answer, in words: it has ended, or it took too long; else nothing."""
    if process.poll() is not None:
        return f" ({describe_end(process.returncode)})"
    return f" within {limit_s:g} s" if waited_s >= limit_s else ""


def describe_death(process: Started) -> str:
    """Return how a server ended after its connection broke, in words; nothing if it lives on.

    A server that dies of what it found writes a backtrace first, which takes seconds.
    """
    try:
        return f"the server died ({describe_end(process.wait(DYING_S))}): "
    except TimedOut:
        return ""


# ---------------------------------------------------------------- the end


def wait_for_end(process: Started, deadline_s: float) -> bool:
    """Wait for a program that was asked to end; after the deadline kill it and all that it started."""
    try:
        process.wait(deadline_s)
    except TimedOut:
        kill_tree(process)
        return False
    return True


def kill_tree(process: Started, limit_s: float = KILL_LIMIT_S) -> None:
    """Kill a program and all that it started, and wait until every process of it is gone.

    ServerTooSlowError if one is still there after `limit_s`: it waits for a disk that does not answer.
    """
    tree = []
    if process.poll() is None:
        try:
            parent = psutil.Process(process.pid)
            tree = [parent, *parent.children(recursive=True)]
        except psutil.NoSuchProcess:
            tree = []
    _kill(tree)
    try:
        process.wait(limit_s)
    except TimedOut:
        raise _still_there(tree[:1], limit_s) from None
    _wait_until_gone(tree[1:], limit_s)


def kill_orphans(folder: Path, limit_s: float = KILL_LIMIT_S) -> bool:
    """Kill what a dead server left at work in its directory; return whether there was anything.

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
    while alive := [member for member in members if not is_gone(member)]:
        if time.monotonic() > end:
            raise _still_there(alive, limit_s)
        time.sleep(POLL_S)


def _still_there(members: list[psutil.Process], limit_s: float) -> ServerTooSlowError:
    who = ", ".join(described(member) for member in members)
    return ServerTooSlowError(
        f"killed {limit_s:g} s ago and still there: {who}. A process that waits for its disk ends when the "
        "disk answers or fails. See whether it is still served (`dmesg`, `mount`), and end what serves it"
    )


# ---------------------------------------------------------------- folders and programs


def clear_run_folder(folder: Path) -> None:
    """Remove the sockets, locks and pid files that a killed server left in its private folder.

    Their pids may now be other processes', and a server that finds such a process refuses to start.
    """
    for file in folder.iterdir():
        if not file.is_dir():
            file.unlink()


def check_socket_folder(folder: Path) -> None:
    """Refuse a folder whose sockets no client could name (ServerError)."""
    length = len(os.fsencode(folder))
    if length > RUN_PATH_LIMIT:
        raise ServerError(
            f"{folder} is {length} bytes long, and a socket's folder may have {RUN_PATH_LIMIT}: "
            "use a shorter one"
        )


ANSWER_S = 20.0
"""How long a program may take to print its version; it takes 0.2 s from a warm cache."""


def answer_of(
    program: Path,
    *arguments: str,
    may_fail: bool = False,
    image: Image | None = None,
    folders: Sequence[Path] = (),
) -> str:
    """Return what a server's program prints about itself; ServerNotFoundError if it does not run.

    If it is the program of an `image`, it sees these `folders`.
    """
    result = _run(program, arguments, image, folders)
    if result.code != 0 and not may_fail:
        raise ServerNotFoundError(
            f"{program}{f' of image {image.name}' if image else ''} cannot be run: {result.complaint}; "
            f"install what it lacks (ldd {program} names missing libraries)"
        )
    return result.out


_ANSWERS: dict[tuple[object, ...], str] = {}


def answer_once(program: Path, *arguments: str, may_fail: bool = False, image: Image | None = None) -> str:
    """Return what `answer_of` does, asked once of a program as long as its file is the same."""
    changed = program.stat().st_mtime_ns if image is None else image.short_id
    key = (program, changed, arguments)
    if key not in _ANSWERS:
        _ANSWERS[key] = answer_of(program, *arguments, may_fail=may_fail, image=image)
    return _ANSWERS[key]


def complaint_of(
    program: Path, *arguments: str, image: Image | None = None, folders: Sequence[Path] = ()
) -> str:
    """Return what a server's program writes to stderr; ServerNotFoundError if it does not run."""
    return _run(program, arguments, image, folders).err


def _run(program: Path, arguments: Sequence[str], image: Image | None, folders: Sequence[Path]) -> Ended:
    command = [str(program), *arguments]
    try:
        return programs.run(image.around(command, folders) if image else command, limit_s=ANSWER_S)
    except (OSError, TimedOut) as error:
        raise ServerNotFoundError(f"{program} cannot be run: {error}") from error


def is_on_zfs(directory: Path) -> bool:
    """Return whether a directory lies on ZFS, the kernel's or zfs-fuse."""
    return mount_of(directory).filesystem in {"zfs", "fuse.zfs"}
