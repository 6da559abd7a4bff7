"""Finds and ends the processes of a run.

They are not listed by number: the number is known only after the start, and is reused after the end. Every
process of a run carries the run's mark in its environment, and its children inherit it. PostgreSQL's children
write their state over their environment; they are known by their working directory, which is one of the run.
"""

import os
import signal
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from diskproof.system.kernel import kernel_says
from diskproof.system.programs import MARK
from diskproof.system.undoing import Entry, Undone, abort

GRACE_S = 5.0
"""How long a process may take to die before the undo goes on without it."""

POLL_S = 0.02


def processes_of(mark: str) -> Iterator[psutil.Process]:
    """Yield the live processes that carry a run's mark, without this one."""
    for process, variables in _environments():
        if process.pid != os.getpid() and variables.get(MARK) == mark:
            yield process


def other_states() -> list[str]:
    """Return the state folders of runs that work on this machine now, other than this process's own."""
    found = {one.get("DISKPROOF_STATE", "unset") for _, one in _environments() if MARK in one}
    return sorted(found - {os.environ.get("DISKPROOF_STATE", "unset")})


def _environments() -> Iterator[tuple[psutil.Process, dict[str, str]]]:
    """Yield the live processes with their environments, as far as we may know them."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            yield process, process.environ()


def working_in(folder: Path) -> Iterator[str]:
    """Yield the names of processes that work in a folder, whatever they call it, as far as we may know."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if os.path.samestat(Path(f"/proc/{process.pid}/cwd").stat(), folder.stat()):
                yield process.name()


def processes_in(folders: list[Path]) -> Iterator[psutil.Process]:
    """Yield our live processes that work in one of these folders, without this one.

    A process whose environment can be read and has no mark is a user's shell in that folder, and stays.
    PostgreSQL's children have no readable environment.
    """
    resolved = [folder.resolve() for folder in folders]
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            at = Path(process.cwd())
            if process.pid != os.getpid() and any(at.is_relative_to(folder) for folder in resolved):
                variables = process.environ()
                if MARK in variables or (not variables and _is_executing(process.pid)):
                    yield process


def _is_executing(pid: int) -> bool:
    """Return whether a process has got its environment: between fork and program it seems to have none.

    The 50th field of its stat is where the environment begins (proc(5)).
    """
    fields = (kernel_says(f"/proc/{pid}/stat") or "").rpartition(")")[2].split()
    return fields != [] and fields[50 - 3] != "0"


def described(process: psutil.Process) -> str:
    """Return a process with its state and, if the kernel says, the function in it that it waits in."""
    try:
        state, name = process.status(), process.name()
        waits_in = Path(f"/proc/{process.pid}/wchan").read_text()
    except (psutil.Error, OSError):
        return f"process {process.pid}"
    return f"process {process.pid} ({name}, {state}{f' in {waits_in}' if waits_in.strip('0') else ''})"


def is_gone(process: psutil.Process) -> bool:
    """Return whether a process has released all that it held.

    A zombie has, though init may take a second to collect it, unless one of its threads still works.
    """
    try:
        if not process.is_running():
            return True
        threads = len(list(Path(f"/proc/{process.pid}/task").iterdir()))
        return threads == 1 and process.status() == psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, OSError):
        return True


def wait_for_end(ending: Collection[psutil.Process], until: float) -> set[psutil.Process]:
    """Wait until processes are gone; return those that are not by then, on the monotonic clock."""
    while True:
        _, left = psutil.wait_procs(ending, timeout=POLL_S)
        ending = {process for process in left if not is_gone(process)}
        if not ending or time.monotonic() > until:
            return ending


def end(find: Callable[[], Iterator[psutil.Process]], entries: list[Entry]) -> Iterator[Undone]:
    """Kill processes until none is found: one may have started another meanwhile."""
    seen: set[psutil.Process] = set()
    alive: set[psutil.Process] = set()
    until = time.monotonic() + GRACE_S
    while (found := set(find())) and (time.monotonic() < until or not found <= seen):
        for process in found:
            with suppress(psutil.Error):
                process.send_signal(signal.SIGKILL)
        for entry in entries:
            abort(entry)
        seen |= found
        alive = wait_for_end(found, until)
    for process in seen:
        still = process in alive
        yield Undone(described(process) if still else f"process {process.pid}", done=not still)
