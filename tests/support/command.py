"""The command line as a user has it: in a folder of its own, with a state directory of its own."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import psutil
import pytest

from diskproof.cli import call
from diskproof.system.programs import MARK
from support.forks import Forked

Begun = Forked | subprocess.Popen[str]
"""A command under way."""


def environment(folder: Path) -> dict[str, str]:
    """Return the environment for a command whose journals lie in `folder`."""
    return {**os.environ, "DISKPROOF_STATE": str(folder / "state"), "COLUMNS": "200"}


def begin(folder: Path, *arguments: str) -> Begun:
    """Start `diskproof` with its output piped; a run without Python's start, and with no pictures."""
    if arguments[0] in ("run", "crash"):
        return Forked(arguments, folder, environment(folder))
    return subprocess.Popen(
        [sys.executable, "-m", "diskproof", *arguments],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def diskproof(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `diskproof` to its end."""
    process = begin(folder, *arguments)
    out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.wait(), out, err)


def diskproof_here(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `diskproof` to its end within this process: for what starts nothing, Python's start takes longest.

    What needs a process of its own (signals, a terminal, what a run holds to its end) has `diskproof`.
    """
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in environment(folder).items():
            patch.setenv(name, value)
        patch.chdir(folder)
        code = call(arguments)
    return subprocess.CompletedProcess(["diskproof", *arguments], code, out.getvalue(), err.getvalue())


def open_for_others(folder: Path) -> None:
    """Let PostgreSQL's own user reach a folder that pytest keeps private."""
    for path in (folder, *folder.parents):
        if path.owner() == "root" and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o011)


def marks_in(folder: Path) -> dict[str, list[psutil.Process]]:
    """Return the processes of runs whose journals lie in a folder, by the run's mark."""
    found: dict[str, list[psutil.Process]] = {}
    for process in psutil.process_iter():
        try:
            variables = process.environ()
        except psutil.Error:
            continue
        if MARK in variables and variables.get("DISKPROOF_STATE") == str(folder / "state"):
            found.setdefault(variables[MARK], []).append(process)
    return found


def wait_for(what: Callable[[], object], seconds: float = 90) -> None:
    """Wait until something is there; a test for which it never comes has failed."""
    deadline = time.monotonic() + seconds
    while True:
        with suppress(psutil.NoSuchProcess):  # it ended while it was looked at
            if what():
                return
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def wait_until_it_begins(process: Begun) -> None:
    """Wait until a command is past Python's own start, which no program can make interruptible."""
    libraries = Path(f"/proc/{process.pid}/maps")
    wait_for(lambda: process.poll() is not None or "_pydantic_core" in libraries.read_text())
