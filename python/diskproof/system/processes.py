"""Starts programs: each carries the run's mark, and none outlives the run."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import IO

import psutil

from diskproof.system.cpus import starting_on
from diskproof.system.journal import Journal


class Starter:
    """Starts the programs of one run."""

    def __init__(self, journal: Journal, cpus: Collection[int] | None = None) -> None:
        """Start programs for the run that `journal` belongs to, on `cpus` or on the lab's own."""
        self._journal = journal
        self._cpus = cpus

    def on(self, cpus: Collection[int]) -> "Starter":
        """Return a starter of the same run on other CPUs."""
        return Starter(self._journal, cpus)

    def start(
        self,
        argv: list[str],
        *,
        log_file: Path | None = None,
        user: str | None = None,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        stdin: int | None = subprocess.DEVNULL,
        stdout: int | IO[bytes] | None = None,
        stderr: IO[bytes] | None = None,
        outlives: bool = False,
        marked: bool = True,
    ) -> subprocess.Popen[bytes]:
        """Start a program in a session of its own, so that Ctrl-C reaches only the lab.

        Its output is appended to `log_file`, or dropped. `user` drops privileges if this process has them.
        The kernel kills the program when the lab's main thread ends, unless it `outlives` the lab. What a
        program that is not `marked` leaves running is not ours to end.
        """
        with (
            open(log_file or os.devnull, "ab") as log,  # noqa: PTH123 - devnull is no Path's business
            starting_on(self._cpus),
        ):
            return subprocess.Popen(
                [*_wrapper(user, tied=not outlives), *argv],
                stdin=stdin,
                stdout=log if stdout is None else stdout,
                stderr=log if stderr is None else stderr,
                cwd=cwd,
                env={**self._journal.environment(marked=marked), **(env or {})},
                start_new_session=True,
            )

    def adopt(self, file: Path, *, handles: str = "") -> None:
        """Remove a file of a started program with the run, if the program cannot remove it.

        So with the files that it lists: `handles` is the beginning of their names.
        """
        self._journal.adopt(file, handles=handles)


def mapped_files(pid: int) -> set[Path]:
    """Return the files that a process has mapped and that still have a name; empty if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    except OSError:
        return set()
    # Address, rights, offset, device, inode, and the path if there is one: proc(5).
    paths = [fields[5] for line in lines if len(fields := line.split(maxsplit=5)) > 5]
    return {Path(path) for path in paths if path.startswith("/") and not path.endswith(" (deleted)")}


def children(pid: int) -> list[int]:
    """Return the live children of a process, as the kernel lists them (proc(5)); empty if it is gone.

    This costs one small file per thread. psutil reads every process of the machine for that, too much for
    every second beside hundreds of backends; it is used if the kernel keeps no list.
    """
    tasks = Path(f"/proc/{pid}/task")
    try:
        if not (tasks / str(pid) / "children").exists():
            return [child.pid for child in psutil.Process(pid).children()]
        lists = [(task / "children").read_text() for task in tasks.iterdir()]
    except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
        return []
    return [int(child) for text in lists for child in text.split()]


def _wrapper(user: str | None, *, tied: bool) -> list[str]:
    """Return the setpriv call that ties a program to our life and, if requested, to another user."""
    if not tied and not user:
        return []
    if shutil.which("setpriv") is None:
        if user:
            raise FileNotFoundError("setpriv is missing: install util-linux")
        return []
    wrapper = ["setpriv", *(["--pdeathsig", "KILL"] if tied else [])]
    if user and os.geteuid() == 0:
        account = pwd.getpwnam(user)
        wrapper += [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--init-groups"]
    return [*wrapper, "--"]
