"""Starts every program of the lab, in one way.

Each program carries the run's mark, so that it is found after a kill. It has a session of its own, so that
Ctrl-C reaches only the lab. The kernel kills it when the thread that started it ends. It gets those parts of
the user's environment that programs need; only the user's own commands get all but the passwords.
"""

import os
import pwd
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from diskproof.reading import closed_at_end
from diskproof.refusal import RefusalError

MARK = "DISKPROOF_RUN"
"""Environment variable that every process of a run carries."""

NOT_INHERITED = "DISKPROOF_PASSWORD"
"""The password for the user's own servers; the run's own servers have none, and refuse one. Only a load on a
server that is there already gets it."""

NEEDED = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|TZDIR|TMPDIR|LANG|LANGUAGE|LC_[A-Z]+|XDG_[A-Z_]+|SSL_CERT_(FILE|DIR)|"
    "OPENSSL_CONF|LD_LIBRARY_PATH|LD_PRELOAD|MALLOC_[A-Z_]+|GLIBC_TUNABLES|LUA_C?PATH|MKE2FS_[A-Z_]+|"
    "DISKPROOF_(STATE|HOST(_OUT)?|TEST_[A-Z_]+)|DBUS_SESSION_BUS_ADDRESS|CONTAINER_HOST|CONTAINERS_[A-Z_]+|DOCKER_(HOST|CONFIG|CONTEXT)|"
    "PYTHON(PATH|HOME)|VIRTUAL_ENV|RUST_BACKTRACE"
)
"""Environment variables that a program may need: where files and programs are, the language, the allocator,
how to reach an engine of containers. All others may be secrets."""

_hidden = {NOT_INHERITED}


def hide(variable: str) -> None:
    """Keep a variable that has a password from every program."""
    _hidden.add(variable)


ANSWER_S = 120.0
"""How long a program may take by default: enough to start from a slow disk and to measure a moment."""

DYING_S = 5.0
"""How long a killed program may take to end; one that waits for a dead disk may never end."""

PIPE = subprocess.PIPE
NOTHING = subprocess.DEVNULL
Process = subprocess.Popen[bytes]
TimedOut = subprocess.TimeoutExpired
ProgramError = subprocess.SubprocessError


class Started(Protocol):
    """A program that was started: a process of ours, or of a container."""

    @property
    def pid(self) -> int:
        """Its number."""

    @property
    def returncode(self) -> int:
        """How it ended."""

    def poll(self) -> int | None:
        """Return how it ended; None if it has not."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; TimedOut if that takes longer."""

    def send_signal(self, number: int, /) -> None:
        """Send it a signal."""


@dataclass
class _Run:
    mark: str | None = None


_current = _Run()


def carry(mark: str | None) -> None:
    """Give all programs that start from now on the mark of a run; None: no run is under way."""
    _current.mark = mark


def under_way() -> bool:
    """Return whether programs carry the mark of a run."""
    return _current.mark is not None


def environment(*, marked: bool = True, whole: bool = False) -> dict[str, str]:
    """Return the environment of a program: the needed parts, and a path to the system's programs.

    `whole` is for the user's own commands, and for parts of the lab: all but the passwords. Only the user's
    own commands are not `marked`: their daemons are the user's to end.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in _hidden | {MARK} and (whole or NEEDED.fullmatch(name))
    }
    inherited["PATH"] = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    return {**inherited, **({MARK: _current.mark} if marked and _current.mark else {})}


def find_program(name: str) -> Path | None:
    """Return a program that lies beside this Python, or on PATH; None if there is none."""
    beside = Path(sys.executable).with_name(name)
    if beside.is_file():
        return beside
    elsewhere = shutil.which(name)
    return Path(elsewhere) if elsewhere else None


def start(
    argv: Sequence[str],
    *,
    stdin: int | IO[bytes] = NOTHING,
    stdout: int | IO[bytes] = NOTHING,
    stderr: int | IO[bytes] = NOTHING,
    user: str | None = None,
    cwd: Path | str | None = None,
    env: dict[str, str] | None = None,
    outlives: bool = False,
    marked: bool = True,
    whole: bool = False,
) -> Process:
    """Start a program; FileNotFoundError if it is missing.

    `user` drops privileges if this process has them. `env` is added to `environment`. The kernel kills the
    program when the calling thread ends, unless it `outlives` the lab. If a program is not `marked`, the
    processes that it leaves are not ended with the run.
    """
    variables = {**environment(marked=marked, whole=whole), **(env or {})}
    if shutil.which(argv[0], mode=os.F_OK, path=variables["PATH"]) is None:
        raise FileNotFoundError(f"{argv[0]} is missing: install the package that has it")
    return subprocess.Popen(
        [*_wrapper(user, variables["PATH"], tied=not outlives), *argv],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=cwd,
        env=variables,
        start_new_session=True,
    )


@dataclass(frozen=True)
class Ended:
    """A program that has ended."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """What it said, or else its exit code."""
        return self.err.strip() or self.out.strip() or f"exit code {self.code}"


def run(
    argv: Sequence[str],
    *,
    limit_s: float = ANSWER_S,
    stdin: int | IO[bytes] = NOTHING,
    env: dict[str, str] | None = None,
    marked: bool = True,
    whole: bool = False,
    watch: Callable[[], str | None] | None = None,
) -> Ended:
    """Run a program to its end, and return what it said in English.

    FileNotFoundError if it is missing. TimedOut if it takes longer than `limit_s`: then it is killed with
    all of its session; also if `watch`, which is called now and then, returns a reason (RefusalError). The
    output goes to memory: a daemon that it starts would keep a pipe open.
    """
    with in_memory() as out, in_memory() as err:
        in_english = {"LC_ALL": "C", **(env or {})}
        process = start(argv, stdin=stdin, stdout=out, stderr=err, env=in_english, marked=marked, whole=whole)
        try:
            while watch and limit_s > 0.5 and process.poll() is None:
                if reason := watch():
                    raise RefusalError(reason)  # noqa: TRY301 - it kills, too
                with suppress(TimedOut):
                    _await(process, 0.5)
                limit_s -= 0.5
            _await(process, limit_s)
        except BaseException:
            kill(process)
            raise
        return Ended(process.returncode, _said(out), _said(err))


def _await(process: Process, limit_s: float) -> None:
    """Wait for the end of a program: TimedOut after the limit. Popen.wait only looks every 50 ms."""
    ends = select.poll()
    with (
        suppress(OSError),  # before Linux 5.3 there are none
        closed_at_end(os.pidfd_open(process.pid)) as descriptor,
    ):
        ends.register(descriptor, select.POLLIN)
        if not ends.poll(limit_s * 1000):
            raise TimedOut(process.args, limit_s)
    process.wait(limit_s)


def kill(process: Process) -> bool:
    """Kill a program and all of its session; return whether it has ended.

    A process that waits for a disk that does not answer stays until the disk fails.
    """
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    try:
        process.wait(DYING_S)
    except TimedOut:
        return False
    return True


def first_line(output: IO[bytes], limit_s: float) -> bytes:
    """Read up to the first line's end, or what came of it until the end or the limit."""
    until = time.monotonic() + limit_s
    line = b""
    poll = select.poll()  # select() takes no descriptor above 1,023
    poll.register(output, select.POLLIN)
    while not line.endswith(b"\n"):
        ready = poll.poll(1000 * max(0.0, until - time.monotonic()))
        more = output.readline() if ready else b""
        if not more:
            break
        line += more
    return line


def in_memory() -> IO[bytes]:
    """Return a file without a name, which ends with its last descriptor."""
    return os.fdopen(os.memfd_create("output"), "w+b")


def _said(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _wrapper(user: str | None, path: str, *, tied: bool) -> list[str]:
    """Return the setpriv call that ties a program to our life and, if requested, to another user."""
    if not tied and not user:
        return []
    if shutil.which("setpriv", path=path) is None:
        if user:
            raise FileNotFoundError("setpriv is missing: install util-linux")
        return []
    wrapper = ["setpriv", *(["--pdeathsig", "KILL"] if tied else [])]
    if user and os.geteuid() == 0:
        account = pwd.getpwnam(user)
        wrapper += [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--init-groups"]
    return [*wrapper, "--"]
