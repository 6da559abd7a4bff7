"""Commands as processes of their own, without Python's start: forks of a process that has loaded all.

Run as a program, this is that process. It is sent what to run, with three descriptors: for both outputs, and
for how it went. There another process, the command's parent, writes its number first, and its status at its
end.
"""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
from functools import cache
from pathlib import Path
from threading import Thread
from typing import IO

LONGEST_BYTES = 1 << 20


class Forked:
    """A command under way: what tests use of `subprocess.Popen`."""

    def __init__(self, arguments: tuple[str, ...], cwd: Path, env: dict[str, str]) -> None:
        """Begin it."""
        pipes = [os.pipe() for _ in range(3)]
        asked = json.dumps({"arguments": arguments, "cwd": str(cwd), "env": env}).encode()
        socket.send_fds(_maker(), [asked], [write for _, write in pipes])
        for _, write in pipes:
            os.close(write)
        self.stdout, self.stderr, self._told = (os.fdopen(read) for read, _ in pipes)
        self.args = ["diskproof", *arguments]
        self.returncode: int | None = None
        self.pid = int(self._told.readline())

    def wait(self, timeout: float | None = None) -> int:
        """Return how it ended; `subprocess.TimeoutExpired` if that takes longer."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = os.waitstatus_to_exitcode(int(self._told.readline()))
        return self.returncode

    def poll(self) -> int | None:
        """Return how it ended; None if it has not."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return what it said until its end."""
        until = None if timeout is None else time.monotonic() + timeout
        said: dict[IO[str], str] = {self.stdout: "", self.stderr: ""}

        def read(file: IO[str]) -> None:
            with file:
                said[file] = file.read()

        readers = [Thread(target=read, args=(file,), daemon=True) for file in said]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(until and max(until - time.monotonic(), 0))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(until and max(until - time.monotonic(), 0))
        return said[self.stdout], said[self.stderr]

    def send_signal(self, number: int) -> None:
        """Send it a signal if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def prepare() -> None:
    """Start the process that forks: forks of this one share it."""
    _maker()


@cache
def _maker() -> socket.socket:
    """Start the process that forks; it ends with this one and its forks."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "support.forks", str(theirs.fileno())]
    # It must find what this process finds.
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    theirs.close()
    return ours


def main() -> None:
    """Fork for each command that is asked for; only the process of a command returns."""
    commands = socket.socket(fileno=int(sys.argv[1]))
    _load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for parents
    while True:
        message, descriptors, _, _ = socket.recv_fds(commands, LONGEST_BYTES, 3)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            break
        for descriptor in descriptors:
            os.close(descriptor)
    commands.close()
    out, err, told = descriptors
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if pid := os.fork():
        os.close(out)
        os.close(err)
        os.write(told, f"{pid}\n".encode())
        os.write(told, f"{os.waitpid(pid, 0)[1]}\n".encode())
        os._exit(0)
    os.close(told)
    _become(json.loads(message), out, err)


def _become(asked: dict[str, object], out: int, err: int) -> None:
    for descriptor, number in ((out, 1), (err, 2)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    env, arguments = asked["env"], asked["arguments"]
    assert isinstance(env, dict)
    assert isinstance(arguments, list)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(str(asked["cwd"]))
    sys.argv = ["diskproof", *arguments]


def _load() -> None:
    """Load all that a run needs, and what stands in for parts of it."""
    drawing = types.ModuleType("vl_convert")
    drawing.vegalite_to_svg = lambda _: "<svg></svg>"  # type: ignore[attr-defined]
    sys.modules["vl_convert"] = drawing
    from diskproof.cli import crash, run  # noqa: F401, PLC0415
    from diskproof.report import html  # noqa: F401, PLC0415
    from diskproof.storage import path_cost  # noqa: PLC0415
    from support import disk_path, fresh  # noqa: PLC0415

    for kind in fresh.MAKERS:
        kind.initialise = fresh.initialise  # type: ignore[method-assign, assignment]
    path_cost._measured_us = disk_path.shared_us  # type: ignore[assignment]
    _run_once()
    gc.collect()
    gc.freeze()


def _run_once() -> None:
    """Make a run here: what its first one loads and builds, each command would again."""
    from support.command import diskproof_here  # noqa: PLC0415
    from support.small import write_small  # noqa: PLC0415

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with tempfile.TemporaryDirectory() as folder:
        done = diskproof_here(Path(folder), "run", write_small(Path(folder), blocks=1))
    assert done.returncode in (0, 12), done.stderr
    for number, handler in before.items():
        signal.signal(number, handler)


if __name__ == "__main__":
    main()
    from diskproof.__main__ import run

    run()
