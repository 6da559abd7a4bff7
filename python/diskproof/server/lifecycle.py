"""Starting a program and waiting for it, ending it, and reading its log: the same for every server."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from diskproof.server.base import RUN_PATH_LIMIT, ServerError, ServerFailedError
from diskproof.system.journal import processes_in
from diskproof.system.mounts import mount_of

POLL_S = 0.01
"""Between two looks at a starting server: short against its start (0.2 s and more), cheap to do."""

GRACE_S = 10.0
"""How long killed processes may take to be gone; one that waits for a slow disk takes seconds."""

TAIL_BYTES = 64 * 1024
"""How much of a log's end is read for a message; a log may have grown to gigabytes."""


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
) -> None:
    """Wait until a started program is ready; `failure` words how it died or was too slow."""
    end = time.monotonic() + deadline_s
    while not ready():
        if process.poll() is not None:
            raise failure(f"ended while it started ({describe_end(process.returncode)})")
        if time.monotonic() > end:
            process.kill()
            process.wait()
            raise failure(f"took no connection within {deadline_s:g} s and was killed")
        time.sleep(POLL_S)


def describe_end(returncode: int) -> str:
    """Return how a process ended, in words."""
    return f"exit code {returncode}" if returncode >= 0 else f"killed by signal {-returncode}"


def describe_silence(process: subprocess.Popen[bytes], waited_s: float, limit_s: float) -> str:
    """Return why a server did not answer, in words: it has ended, or it took too long; else nothing."""
    if process.poll() is not None:
        return f" ({describe_end(process.returncode)})"
    return f" within {limit_s:g} s" if waited_s >= limit_s else ""


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


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and all that it started, and wait until every one of them is gone."""
    tree = process_tree(process)
    _kill(tree)
    process.wait()
    psutil.wait_procs(tree[1:], timeout=GRACE_S)


def kill_orphans(folder: Path) -> bool:
    """Kill what a dead server left at work in its directory; tell whether there was anything."""
    orphans = list(processes_in([folder]))
    _kill(orphans)
    psutil.wait_procs(orphans, timeout=GRACE_S)
    return bool(orphans)


def _kill(members: list[psutil.Process]) -> None:
    for member in members:
        try:
            member.kill()
        except psutil.NoSuchProcess:
            continue


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
