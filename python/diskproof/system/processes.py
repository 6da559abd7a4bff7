"""Starts the programs of a run that go on for a while, and finds the children of a process."""

import os
import secrets
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO

import psutil

from diskproof.database.secret import Secret
from diskproof.families.address import Address
from diskproof.system import programs
from diskproof.system.containers import Contained, Image, on_cpus
from diskproof.system.cpus import starting_on
from diskproof.system.journal import Journal
from diskproof.system.kernel import kernel_says


class Starter:
    """Starts the programs of one run."""

    def __init__(
        self,
        journal: Journal,
        cpus: Collection[int] | None = None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Start programs for the run that `journal` belongs to, on `cpus` or on the lab's own.

        `variables` are added to the environment of each.
        """
        self._journal = journal
        self._cpus = cpus
        self._variables = variables

    def on(self, cpus: Collection[int]) -> "Starter":
        """Return a starter of the same run on other CPUs."""
        return Starter(self._journal, cpus)

    def with_variables(self, variables: Mapping[str, str]) -> "Starter":
        """Return a starter of the same run that adds variables to the environment of its programs."""
        return Starter(self._journal, self._cpus, variables)

    def start(
        self,
        argv: list[str],
        *,
        log_file: Path | None = None,
        user: str | None = None,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | IO[bytes] | None = None,
        stderr: IO[bytes] | None = None,
        outlives: bool = False,
    ) -> programs.Process:
        """Start a program as `programs.start` does, on the starter's CPUs.

        Its output is appended to `log_file`, or dropped.
        """
        with (
            open(log_file or os.devnull, "ab") as log,  # noqa: PTH123 - devnull is no Path's business
            starting_on(self._cpus),
        ):
            return programs.start(
                argv,
                stdin=programs.NOTHING if stdin is None else stdin,
                stdout=log if stdout is None else stdout,
                stderr=log if stderr is None else stderr,
                user=user,
                cwd=cwd,
                env={programs.MARK: self._journal.mark, **self._variables, **(env or {})},
                outlives=outlives,
            )

    def start_in(
        self,
        image: Image,
        argv: list[str],
        folders: Collection[Path],
        *,
        log_file: Path,
        user: str | None,
        cwd: Path,
        stdin: int | None = None,
    ) -> Contained:
        """Start a program of an image in a container of this run, with `folders` at their own paths."""
        label = self._journal.containers(image.engine)
        name = f"diskproof-{self._journal.mark}-{secrets.token_hex(4)}"
        options = [f"--name={name}", f"--label={label}", f"--workdir={cwd}"]
        options += [] if stdin is None else ["--interactive"]
        options += on_cpus(image.engine, self._cpus or os.sched_getaffinity(0))
        command = image.around(argv, folders, *options, user=user)
        return Contained(
            image.engine, name, self.start(command, log_file=log_file, stdin=stdin), self._journal.mark
        )

    def adopt(self, file: Path) -> None:
        """Remove a file of a started program with the run, if the program cannot remove it."""
        self._journal.adopt(file)

    def sets_variable(self, name: str, ours: str, before: str, address: Address, secret: Secret) -> None:
        """Put a variable of a server that is there already back with the run, if it still has our value."""
        self._journal.variable(name, ours, before, address, secret)

    def shares_memory(self, data: Path) -> None:
        """Remove with the run the shared memory of a PostgreSQL server that will start on `data`."""
        self._journal.shared_memory(data)


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


def number_inside(pid: int) -> str:
    """Return the number that a process has for itself: in a container it is another one (proc(5), NSpid)."""
    status = kernel_says(f"/proc/{pid}/status") or ""
    return next((line.split()[-1] for line in status.splitlines() if line.startswith("NSpid:")), str(pid))


def has_dead_children(pid: int) -> bool:
    """Return whether a process has children that have ended and that it has not waited for."""
    try:
        return any(psutil.Process(child).status() == psutil.STATUS_ZOMBIE for child in children(pid))
    except psutil.NoSuchProcess:
        return False


def waits_of_threads(pid: int) -> list[str]:
    """Return the threads of a process by name and the kernel function that they wait in, with their number.

    The kernel gives ``0`` for a thread that computes, and for one whose wait this user may not see (proc(5)).
    """
    found: Counter[str] = Counter()
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):  # it has ended meanwhile
            name, wait = ((thread / what).read_text().strip() for what in ("comm", "wchan"))
            at = "no call" if wait == "0" else wait
            found[f"{name.rstrip(' 0123456789')} in {at}"] += 1
    return [f"{number} x {what}" for what, number in sorted(found.items())]
