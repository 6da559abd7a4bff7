"""Starting programs: each marked as the run's own, and none outliving it."""

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
        """Start programs for the run that `journal` belongs to: on some CPUs alone, or on the lab's."""
        self._journal = journal
        self._cpus = cpus

    def on(self, cpus: Collection[int]) -> "Starter":
        """Return one that starts programs for the same run, on some CPUs alone."""
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
        """Start a program in a session of its own, so that Ctrl-C reaches the lab alone.

        Its output goes to `log_file` (appended), or nowhere. `user` drops privileges where this
        process has them. The kernel kills it when the lab's main thread ends, however it ends, unless
        it is one that `outlives` the lab. What one that is not `marked` leaves at work is not ours to end.
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
        """Let a file that a started program has made go with the run, where the program cannot remove it.

        So do those that it lists: `handles` is how their names begin.
        """
        self._journal.adopt(file, handles=handles)


def mapped_files(pid: int) -> set[Path]:
    """Return the files that a process has mapped and that still have a name; empty where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    except OSError:
        return set()
    # Address, rights, offset, device, inode, and the path where there is one: proc(5).
    paths = [fields[5] for line in lines if len(fields := line.split(maxsplit=5)) > 5]
    return {Path(path) for path in paths if path.startswith("/") and not path.endswith(" (deleted)")}


def children(pid: int) -> list[int]:
    """List the live children of a process, as the kernel keeps them (proc(5)); empty where it is gone.

    Costs one small file a thread. psutil reads every process of the machine to the same end, too
    much for every second beside hundreds of backends; it answers where the kernel keeps no list.
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
    """Return the setpriv call that ties a program to our life and, where asked, to another user."""
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
