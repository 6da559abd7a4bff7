"""ZFS by its commands, which OpenZFS and zfs-fuse share, and zfs-fuse's daemon."""

import shutil
import signal
import socket
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

import psutil

from diskproof.storage.kinds.base import StorageError, command
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter

Flavour = Literal["OpenZFS", "zfs-fuse"]

KERNEL_MODULE = Path("/dev/zfs")
"""There while OpenZFS's module is loaded."""

DAEMON = "zfs-fuse"
SOCKET = Path("/var/run/zfs/zfs_socket")
"""Where the one zfs-fuse daemon of a machine is asked; the place is compiled into it."""

START_LIMIT_S = 10.0
"""A daemon without pools answers after a tenth of a second."""

BUSY_LIMIT_S = 10.0
"""zfs-fuse gives a file system back some hundredths of a second after it is unmounted, not at once."""

POLL_S = 0.02

DEFAULT_ARC_BYTES = 128 * 2**20
"""zfs-fuse's own default, stated: it is memory that serves reads."""

DEFAULT_RECORD_BYTES = 128 * 2**10
"""ZFS's own."""

CACHE_FILE = Path("/var/lib/zfs/zpool.cache")
"""Names the pools that zfs-fuse imports when it starts; the place is compiled into it."""

MIB = 2**20


def flavour() -> Flavour | None:
    """Return which ZFS this machine has; None where it has none that works."""
    if _program("zpool") is None:
        return None
    if KERNEL_MODULE.exists():
        return "OpenZFS"
    return "zfs-fuse" if _program(DAEMON) else None


def daemon_answers() -> bool:
    """Return whether a zfs-fuse daemon is at work."""
    with socket.socket(socket.AF_UNIX) as tried:
        try:
            tried.connect(str(SOCKET))
        except OSError:
            return False
    return True


def start_daemon(arc_bytes: int | None, journal: Journal) -> None:
    """See that a zfs-fuse daemon is at work, with an ARC of that size; it ends with the run.

    There is one on a machine at most: one that runs already is used, as it is, and left running.
    """
    if daemon_answers():
        _check_arc(arc_bytes)
        return
    check_no_pools_of_others()
    arc_mib = (arc_bytes or DEFAULT_ARC_BYTES) // MIB
    log = journal.path.with_suffix(".zfs-fuse")
    process = Starter(journal).start(
        [DAEMON, "--no-daemon", "--no-kstat-mount", "--max-arc-size", str(arc_mib)], log_file=log
    )
    end = time.monotonic() + START_LIMIT_S
    while not daemon_answers():
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            said = log.read_text(errors="replace").strip() or "it said nothing"
            raise StorageError(f"zfs-fuse did not start: {said}")
        time.sleep(POLL_S)
    log.unlink(missing_ok=True)


def check_no_pools_of_others() -> None:
    """Refuse to start a daemon that would import pools which are not ours: they would go with it."""
    if not daemon_answers() and CACHE_FILE.exists():
        raise StorageError(
            f"zfs-fuse is not at work, and {CACHE_FILE} names pools that it would import when diskproof "
            "starts it, and lose hold of when the run ends: start zfs-fuse yourself, as it is then used and "
            f"left alone, or move {CACHE_FILE} away"
        )


def pools() -> list[str]:
    """Return the names of all pools that are imported."""
    return command(["zpool", "list", "-H", "-o", "name"]).split()


PASSES = ("busy", f"exit code {-signal.SIGPIPE}")
"""What passes: a data set that is being let go, and a daemon of zfs-fuse that hung up on the command."""


def patiently(argv: Sequence[str]) -> None:
    """Run a command of ZFS again and again while something is still busy; StorageError in the end."""
    end = time.monotonic() + BUSY_LIMIT_S
    while True:
        try:
            command(argv)
        except StorageError as error:
            if not any(sign in str(error) for sign in PASSES) or time.monotonic() > end:
                raise
        else:
            return
        time.sleep(POLL_S)


def _check_arc(arc_bytes: int | None) -> None:
    """Refuse a running daemon with another ARC than the study asks for."""
    if arc_bytes is None:
        return
    wanted = str(arc_bytes // MIB)
    for process in psutil.process_iter(["name", "cmdline"]):
        words = process.info["cmdline"] or []
        if process.info["name"] == DAEMON and wanted not in _values(words, "--max-arc-size", "-m"):
            raise StorageError(
                f"a zfs-fuse daemon (process {process.pid}) is at work with another ARC than the "
                f"{wanted} MiB of `arc_size`: one daemon serves all pools of a machine. End it, give all "
                "pools of the study the same `arc_size`, or leave the key out"
            )


def _values(words: Sequence[str], *options: str) -> list[str]:
    return [value for option, value in pairwise(words) if option in options]


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
