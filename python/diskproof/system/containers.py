"""Programs of an image, run by Podman or Docker: with our directories at the paths that they have here.

So an option file, a link and an open file have the same names inside and outside. A container has no network,
and our user runs its program. It carries the label of its run, by which the journal finds it again.
"""

import os
import pwd
import secrets
import shutil
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from diskproof.refusal import RefusalError
from diskproof.system import programs
from diskproof.system.programs import MARK, Ended, Process

ENGINES = ("podman", "docker")
"""The first one that has the image is used."""

LABEL = "diskproof"

SHARED_MEMORY = "1g"
"""Largest size of /dev/shm, where PostgreSQL's parallel workers meet. The engines' 64 MB are too few."""

ANSWER_S = 30.0
"""How long an engine may take to answer, or to remove a container; it takes 0.1 s."""

POLL_S = 0.1


class ImageNotFoundError(RefusalError):
    """No engine here has the image."""


@dataclass(frozen=True)
class Image:
    """An image that an engine of this machine has."""

    engine: str
    name: str
    """As the study names it."""
    id: str
    """What is run: a name may be given to another image meanwhile."""

    @property
    def short_id(self) -> str:
        """The identifier as the engines list it."""
        return self.id.removeprefix("sha256:")[:12]

    def around(
        self, command: Sequence[str], folders: Iterable[Path] = (), *options: str, user: str | None = None
    ) -> list[str]:
        """Return the command that runs a program of the image as `user`, or as the user that we are.

        `folders` are seen inside, each under its own path.
        """
        account = pwd.getpwnam(user) if user else None
        ids = (account.pw_uid, account.pw_gid) if account else (os.geteuid(), os.getegid())
        rootless = self.engine == "podman" and os.geteuid() != 0
        paths = dict.fromkeys(path for folder in folders for path in (folder.absolute(), folder.resolve()))
        return [
            *(self.engine, "run", "--rm", "--pull=never", "--network=none", "--log-driver=none"),
            *("--security-opt=label=disable", "--pids-limit=-1", f"--shm-size={SHARED_MEMORY}"),
            *(f"--user={ids[0]}:{ids[1]}", *(["--userns=keep-id"] if rootless else [])),
            f"--env={MARK}",  # without a value: it is our own
            # initdb refuses a user without a name, and the image has other users than this machine.
            "--mount=type=bind,src=/etc/passwd,dst=/etc/passwd,readonly",
            *(f"--mount=type=bind,src={path},dst={path}" for path in paths),
            *options,
            f"--entrypoint={command[0]}",
            self.id,
            *command[1:],
        ]

    def program(self, *names: str) -> Path | None:
        """Return the path of the first of some programs that the image has on its PATH."""
        wanted = " || ".join(f"command -v {name}" for name in names)
        ended = self._ask(["sh", "-c", wanted])
        return Path(ended.out.strip()) if ended.code == 0 and ended.out.startswith("/") else None

    def text_of(self, file: Path) -> str | None:
        """Return the text of a file of the image; None if it has no such file."""
        ended = self._ask(["cat", str(file)])
        return ended.out if ended.code == 0 else None

    def _ask(self, command: Sequence[str]) -> Ended:
        try:
            return _asked(self.around(command))
        except programs.TimedOut:
            raise ImageNotFoundError(
                f"{self.engine} has not run `{command[0]}` of image {self.name} within {ANSWER_S:g} s"
            ) from None


def engines() -> dict[str, str | None]:
    """Return the engines of this machine, each with why it does not answer; None if it does."""
    return {engine: _why_silent(engine) for engine in ENGINES if shutil.which(engine)}


def _asked(argv: Sequence[str]) -> Ended:
    """Ask an engine; outside of a run, end what it leaves behind.

    Without root, Podman leaves a process that keeps all mounts of this moment busy.
    """
    if programs.under_way():
        return programs.run(argv, limit_s=ANSWER_S)
    from diskproof.system.run_processes import processes_of  # noqa: PLC0415 - it uses this module

    mark = secrets.token_hex(4)
    programs.carry(mark)
    try:
        return programs.run(argv, limit_s=ANSWER_S)
    finally:
        programs.carry(None)
        for process in processes_of(mark):
            with suppress(psutil.Error):
                process.kill()


def _why_silent(engine: str) -> str | None:
    try:
        # Without root, any other question to Podman starts a process that stays.
        alone = ["--version"] if engine == "podman" and os.geteuid() != 0 else ["ps", "--quiet"]
        ended = programs.run([engine, *alone], limit_s=ANSWER_S)
    except programs.TimedOut:
        return f"{engine} did not answer within {ANSWER_S:g} s"
    return f"{engine}: {ended.complaint.splitlines()[-1]}" if ended.code else None


def find_image(name: str) -> Image:
    """Find an image that was pulled or built before; ImageNotFoundError says what to do."""
    found = [engine for engine in ENGINES if shutil.which(engine)]
    if not found:
        raise ImageNotFoundError(
            f"the server is in image {name}, and this machine has neither podman nor docker: install one "
            f"(apt-get install podman), then `podman pull {name}`"
        )
    said = []
    for engine in found:
        try:
            answer = _asked([engine, "image", "inspect", "--format", "{{.Id}}", name])
        except programs.TimedOut:
            said.append(f"{engine} did not answer within {ANSWER_S:g} s")
            continue
        if answer.code == 0:
            return Image(engine, name, answer.out.strip())
        said.append(f"{engine}: {answer.complaint.splitlines()[-1]}")
    raise ImageNotFoundError(
        f"image {name} is not on this machine ({'; '.join(said)}), and diskproof pulls none: "
        f"`{found[0]} pull {name}`"
    )


class Contained:
    """A program in a container, with the verbs of a process.

    It ends when the engine's client ends, which waits for it. Its number is that of the program itself.
    """

    def __init__(self, engine: str, name: str, client: Process, mark: str) -> None:
        """Hold the client that was started just now, for the run of a mark."""
        self._engine, self._name, self._client, self._mark = engine, name, client, mark
        self._pid = 0

    @property
    def pid(self) -> int:
        """The number of the program; the client's as long as the program has not begun."""
        if not self._pid and self._client.poll() is None:
            with suppress(programs.TimedOut, ValueError):
                asked = [self._engine, "inspect", "--format", "{{.State.Pid}}", self._name]
                pid = int(programs.run(asked, limit_s=ANSWER_S).out)
                self._pid = pid if self._is_ours(pid) else 0
        return self._pid or self._client.pid

    @property
    def is_seen(self) -> bool:
        """Whether it is a process of this machine: some engines run a virtual machine of their own."""
        return self.pid != self._client.pid

    def _is_ours(self, pid: int) -> bool:
        """Return whether a process has our mark: in another machine, its number is another process's here."""
        try:
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False
        return f"{MARK}={self._mark}".encode() in variables

    @property
    def returncode(self) -> int:
        """How the program ended; the client's end if that was killed."""
        return self._client.returncode

    def poll(self) -> int | None:
        """Return how it ended; None if it has not."""
        return self._client.poll()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end. A client that was killed leaves its container, which is removed."""
        code = self._client.wait(timeout)
        if code < 0:
            with suppress(programs.TimedOut):
                programs.run([self._engine, "rm", "--force", self._name], limit_s=ANSWER_S)
        return code

    def send_signal(self, number: int, /) -> None:
        """Send the program a signal."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def on_cpus(engine: str, cpus: Collection[int]) -> list[str]:
    """Return the option that holds a container to CPUs; Podman's inherit them from the client."""
    return [f"--cpuset-cpus={','.join(map(str, sorted(cpus)))}"] if engine == "docker" else []


def remove_labelled(engine: str, label: str) -> tuple[int, str | None]:
    """Remove all containers with a label; return how many there were, and why some are left."""
    if engine not in ENGINES:
        return 0, "no engine of this name"
    asked = [engine, "ps", "--all", "--quiet", "--filter", f"label={label}"]
    end = time.monotonic() + ANSWER_S
    seen: set[str] = set()
    while True:
        listed = programs.run(asked, limit_s=ANSWER_S, marked=False)
        if listed.code:
            return len(seen), listed.complaint
        if not (found := listed.out.split()):
            return len(seen), None
        seen.update(found)
        # The engine itself may be removing one that has ended: then this fails, and the next look is empty.
        removed = programs.run([engine, "rm", "--force", *found], limit_s=ANSWER_S, marked=False)
        if time.monotonic() > end:
            return len(seen), removed.complaint
        time.sleep(POLL_S)
