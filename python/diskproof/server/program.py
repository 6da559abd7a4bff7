"""A program of the user's own: a server or none, a load that prints its promises, and a check."""

import hashlib
import json
import os
import secrets
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NoReturn

import psutil

from diskproof.results.machine import ServerFacts
from diskproof.results.trial import Setting
from diskproof.server.base import (
    Dirs,
    Running,
    ServerError,
    ServerFailedError,
    ServerKind,
    ServerTooSlowError,
    Settings,
)
from diskproof.server.lifecycle import clear_run_folder, describe_end
from diskproof.server.log import ServerLog
from diskproof.study.program import ProgramChoice
from diskproof.system import programs, run_processes
from diskproof.system.processes import Starter

MARK = "DISKPROOF_PROGRAM"
"""Environment variable of all processes of the program: one that leaves its session is found by it."""

LOAD = "-load"
"""What that variable ends with in processes of the load."""

IDS = "check.txt"
"""File with what the check printed, beside the logs."""

MOST_ID_BYTES = 200
MOST_OUTPUT_BYTES = 64 * 2**20
"""Of the load or the check. A load that prints more promises more than a campaign can hold."""

END_S = 5.0
"""How long the program may take to end after it was asked to."""

POLL_S = 0.005


class ProgramKind(ServerKind):
    """The program, found by its commands."""

    def __init__(self, name: str, choice: ProgramChoice) -> None:
        """Tell it from others by its commands and files: no program says which version it is."""
        self.choice = choice
        contents = [hashlib.sha256(file.content).hexdigest() for file in choice.files]
        identity = hashlib.sha256(json.dumps([choice.commands, contents]).encode()).hexdigest()
        self.facts = ServerFacts(name=name, family="program", flavour="program", version=identity[:10])

    def data_format(self) -> str:
        """Return that every campaign begins with an empty directory."""
        return "nothing"

    def check(self, dirs: Dirs) -> None:
        """Accept any directories."""

    def settings(self, dirs: Dirs, *, variables: Mapping[str, str], **_: object) -> Settings:
        """Return what the commands' placeholders stand for."""
        places = {"directory": str(dirs.data), "run": str(dirs.run)}
        return Settings(common=places, level=dict(variables))

    def _settings(self, *_: object) -> NoReturn:
        raise NotImplementedError

    def check_variables(self, variables: Mapping[str, str], places: Mapping[str, str] = {}) -> None:
        """Accept them: the study has found each in a command."""

    def loading_settings(self, dirs: Dirs, *, memory_bytes: int, max_clients: int) -> NoReturn:
        """Refuse: nothing is loaded."""
        raise NotImplementedError

    def initialise(self, dirs: Dirs, starter: Starter) -> None:
        """Leave the directory empty."""

    def start(
        self, dirs: Dirs, settings: Settings, starter: Starter, *, deadline_s: float = 60.0
    ) -> "ProgramRunning":
        """Start the server, if there is one, and run `recover`, whose time the study limits."""
        del deadline_s
        clear_run_folder(dirs.run)
        for file in self.choice.files:
            copy = dirs.run / file.path.name
            copy.write_bytes(file.content)
            copy.chmod(0o700)
        running = ProgramRunning(self, dirs, settings, starter)
        try:
            if self.choice.recover is not None:
                running.run("recover", self.choice.recover)
        except BaseException:
            running.kill()
            raise
        return running


class ProgramRunning(Running):
    """The program, ready for its load or its check."""

    def __init__(self, kind: ProgramKind, dirs: Dirs, settings: Settings, starter: Starter) -> None:
        """Start its server, if it has one."""
        super().__init__(kind.facts, dirs, settings)
        self.choice = kind.choice
        self._mark = secrets.token_hex(8)
        self._starter = starter
        self._log = ServerLog(dirs.error_log)
        self._complaint = ""
        self._sessions: list[programs.Process] = []
        self._server = self.begin(kind.choice.start) if kind.choice.start else None

    def begin(self, command: str, stdout: int | None = None, *, what: str = "") -> programs.Process:
        """Start one of its commands in a session of its own; its messages go to the log."""
        for name, value in self._settings.merged().items():
            command = command.replace(f"{{{name}}}", value)
        process = self._starter.start(
            ["sh", "-c", command],
            log_file=self._dirs.error_log,
            cwd=self._dirs.run,
            stdout=stdout,
            env={MARK: f"{self._mark}{what}"},
        )
        self._sessions.append(process)
        return process

    def run(self, what: str, command: str) -> int:
        """Run one of its commands to its end, and return its exit code; what it prints is kept in `IDS`.

        ServerFailedError if it fails (but for `check`), takes too long or prints too much, and if the server
        ends first; then all of its session is killed. Too long is what the study says, and an outcome.
        """
        limit_s = self.choice.limit_s
        printed = self._dirs.log / IDS
        with printed.open("wb") as file:
            process = self.begin(command, file.fileno())
        until = time.monotonic() + limit_s
        try:
            while process.poll() is None:
                self.check_alive()
                if time.monotonic() > until:
                    raise ServerFailedError(f"`{what}` did not end within {limit_s:g} s{self._said()}")
                if printed.stat().st_size > MOST_OUTPUT_BYTES:
                    raise ServerFailedError(f"`{what}` printed more than {MOST_OUTPUT_BYTES >> 20} MiB")
                time.sleep(POLL_S)
        finally:
            programs.kill(process)
            if not any(map(_is_of(process.pid), psutil.pids())):
                self._sessions.remove(process)  # its number may become another program's
        if process.returncode and what != "check":
            raise ServerFailedError(f"`{what}` failed ({describe_end(process.returncode)}){self._said()}")
        return process.returncode

    def check_alive(self) -> None:
        """ServerFailedError if its server has ended."""
        if self._server is not None and self._server.poll() is not None:
            raise ServerFailedError(
                f"`start` ended ({describe_end(self._server.returncode)}), but it has to stay in the "
                f"foreground{self._said()}"
            )

    def ids(self) -> Counter[str]:
        """Return the ids that `check` finds, each with how often; ServerError if it does not print ids."""
        code = self.run("check", self.choice.check)
        self._complaint = f"`check` ended with {describe_end(code)}{self._said()}" if code else ""
        lines = (self._dirs.log / IDS).read_bytes().decode(errors="replace").splitlines()
        for number, line in enumerate(lines, start=1):
            if not is_id(line):
                raise ServerFailedError(
                    f"line {number} of what `check` printed is no id: {line[:MOST_ID_BYTES]!r}{self._said()}"
                )
        return Counter(lines)

    def damage(self) -> list[str]:
        """Return what the check complained about when it was asked for the ids."""
        return [self._complaint] if self._complaint else []

    def _said(self) -> str:
        said = self._log.said().strip()
        return f":\n{self._log.tail(10)}" if said else ""

    @property
    def pids(self) -> list[int]:
        """All its processes, also those that have left their session."""
        return [process.pid for process in self._processes()]

    def _processes(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if self._is_ours(process):
                    yield process

    def _is_ours(self, process: psutil.Process) -> bool:
        """Tell by the session, or by the environment, which a program may have overwritten."""
        if self._is_in_session(process):
            return True
        return process.environ().get(MARK, "").startswith(self._mark)

    def _is_in_session(self, process: psutil.Process) -> bool:
        try:
            return os.getsid(process.pid) in {session.pid for session in self._sessions}
        except ProcessLookupError:
            return True  # it has ended

    def strays(self, load: int) -> list[int]:
        """Return processes of the load that have left its group, so that no signal to it reaches them."""
        found = []
        for process in self._processes():
            with suppress(psutil.Error, ProcessLookupError):
                of_load = process.environ().get(MARK) == f"{self._mark}{LOAD}"
                if of_load and os.getpgid(process.pid) != load:
                    found.append(process.pid)
        return found

    @property
    def alive(self) -> bool:
        """False once its server has ended."""
        return self._server is None or self._server.poll() is None

    @property
    def url(self) -> str:
        """Return nothing: its load is its own."""
        return ""

    def read_settings(self) -> list[Setting]:
        """Return nothing: what a command makes of a variable cannot be read back."""
        return []

    def _observed(self) -> Mapping[str, tuple[str, str]]:
        return {}

    def settle(self) -> None:
        """Do nothing: it has no tables."""

    def preload(self) -> None:
        """Refuse: it has no tables."""
        raise ServerError("a program has no tables to preload")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Refuse: it takes no SQL."""
        raise ServerError(f"a program takes no SQL: {sql}")

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of its messages."""
        return self._log.tail(lines)

    def stop(self, deadline_s: float = END_S) -> bool:
        """End its server in good order; False if it had to be killed."""
        ended = True
        if self._server is not None:
            if self.choice.stop is None:
                with suppress(ProcessLookupError):
                    os.killpg(self._server.pid, signal.SIGTERM)
            else:
                server, self._server = self._server, None  # it may end before the command does
                self.run("stop", self.choice.stop)
                self._server = server
            try:
                self._server.wait(max(deadline_s, self.choice.limit_s))
            except programs.TimedOut:
                ended = False
        self.kill()
        return ended

    def kill(self) -> None:
        """Kill all of its processes at once, then those that have left their sessions."""
        for process in self._sessions:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        left = list(run_processes.end(self._processes, []))
        for process in self._sessions:
            programs.kill(process)
        if stuck := [one.what for one in left if not one.done]:
            raise ServerTooSlowError(f"killed, and still there: {', '.join(stuck)}")


def _is_of(session: int) -> Callable[[int], bool]:
    """Return what tells whether a process is of a session."""

    def is_of(pid: int) -> bool:
        try:
            return os.getsid(pid) == session
        except OSError:
            return False

    return is_of


def is_id(text: str) -> bool:
    """Tell whether a text can be an id: one word of printable characters."""
    return 0 < len(text.encode()) <= MOST_ID_BYTES and text.isprintable() and not any(map(str.isspace, text))
