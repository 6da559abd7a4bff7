"""The commands of ZFS, which OpenZFS and zfs-fuse share, and zfs-fuse's daemon."""

import os
import shutil
import signal
import socket
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

import psutil

from diskproof.storage.kinds.base import POLL_S, StorageError, command
from diskproof.storage.kinds.base import patiently as again
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter
from diskproof.system.programs import in_memory

Flavour = Literal["OpenZFS", "zfs-fuse"]

KERNEL_MODULE = Path("/dev/zfs")
"""Exists while OpenZFS's module is loaded."""

DAEMON = "zfs-fuse"
SOCKET = Path("/var/run/zfs/zfs_socket")
"""Control socket of the machine's one zfs-fuse daemon; the path is compiled into it."""

START_LIMIT_S = 10.0
"""A daemon without pools answers after a tenth of a second."""

BUSY_LIMIT_S = 10.0
"""zfs-fuse releases a file system some hundredths of a second after the unmount, not at once."""


DEFAULT_ARC_BYTES = 128 * 2**20
"""zfs-fuse's own default, passed explicitly: this memory serves reads."""

DEFAULT_RECORD_BYTES = 128 * 2**10
"""ZFS's own default."""

CACHE_FILE = Path("/var/lib/zfs/zpool.cache")
"""Lists the pools that zfs-fuse imports when it starts; the path is compiled into it."""

MIB = 2**20


def flavour() -> Flavour | None:
    """Return which ZFS this machine has; None if none works."""
    if _program("zpool") is None:
        return None
    if KERNEL_MODULE.exists():
        return "OpenZFS"
    return "zfs-fuse" if _program(DAEMON) else None


def daemon_answers() -> bool:
    """Return whether a zfs-fuse daemon runs."""
    with socket.socket(socket.AF_UNIX) as tried:
        try:
            tried.connect(str(SOCKET))
        except OSError:
            return False
    return True


def start_daemon(arc_bytes: int | None, journal: Journal) -> None:
    """Start a zfs-fuse daemon with an ARC of that size, unless one runs; ours ends with the run.

    A machine has at most one: one that runs already is used as it is, and left running.
    """
    if daemon_answers():
        _check_arc(arc_bytes)
        return
    check_no_pools_of_others()
    arc_mib = (arc_bytes or DEFAULT_ARC_BYTES) // MIB
    argv = [DAEMON, "--no-daemon", "--no-kstat-mount", "--max-arc-size", str(arc_mib)]
    with in_memory() as log:
        process = Starter(journal).start(argv, stdout=log, stderr=log)
        end = time.monotonic() + START_LIMIT_S
        while not daemon_answers():
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                log.seek(0)
                said = log.read().decode(errors="replace").strip() or "it gave no reason"
                raise StorageError(f"zfs-fuse did not start: {said}")
            time.sleep(POLL_S)


def check_no_pools_of_others() -> None:
    """Refuse to start a daemon that would import other pools: they would go with it."""
    if not daemon_answers() and CACHE_FILE.exists():
        raise StorageError(
            f"zfs-fuse does not run, and {CACHE_FILE} lists pools that it would import at its start and "
            "release at the end of the run: start zfs-fuse yourself, and diskproof will use it and leave it "
            f"running, or move {CACHE_FILE} away"
        )


def check_may_pool(what: str) -> None:
    """Refuse a pool if this user may not make one."""
    if os.geteuid() != 0:
        raise StorageError(f"{what}: only root may make a ZFS pool; run as root")


def pools() -> list[str]:
    """Return the names of all imported pools."""
    return command(["zpool", "list", "-H", "-o", "name"]).split()


PASSES = ("busy", f"exit code {-signal.SIGPIPE}")
"""Failures that pass: a busy data set, and a daemon of zfs-fuse that closed the connection."""


def patiently(argv: Sequence[str]) -> None:
    """Run a command of ZFS again while something is busy; StorageError after the limit."""
    again(lambda: command(argv), BUSY_LIMIT_S, PASSES)


def _check_arc(arc_bytes: int | None) -> None:
    """Refuse a running daemon with another ARC than the study sets."""
    if arc_bytes is None:
        return
    wanted = str(arc_bytes // MIB)
    for process in psutil.process_iter(["name", "cmdline"]):
        words = process.info["cmdline"] or []
        sizes = [value for option, value in pairwise(words) if option in ("--max-arc-size", "-m")]
        if process.info["name"] == DAEMON and wanted not in sizes:
            raise StorageError(
                f"the running zfs-fuse daemon (process {process.pid}) has another ARC than the {wanted} MiB "
                "of `arc_size`, and a machine has only one. Stop it, give all pools of the study the same "
                "`arc_size`, or leave the key out"
            )


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
