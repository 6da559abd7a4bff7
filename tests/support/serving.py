"""Runs that grow, and what serves them: a thread of this process, or `diskproof serve` as a user has it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

import pytest
import uvicorn

from diskproof.results.folder import RunFolder
from diskproof.results.trial import Trial
from diskproof.site import serve
from diskproof.site.serve import QuietServer, server_of
from support.command import environment
from support.runs import STUDY_TEXT
from support.trials import make_machine, make_plan, make_trials

EARLY, LATE = "20260314-090000", "20260315-090000"


@dataclass
class Answer:
    """What a server answered."""

    code: int
    text: str
    headers: dict[str, str]
    """By their names in lower case."""


class _NotFollowed(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Leave it to the test where an answer leads."""


@dataclass
class Served:
    """A server under way."""

    address: str
    """With a slash, and the token if there is one."""

    def get(self, path: str = "", **headers: str) -> Answer:
        """Ask for a page."""
        request = Request(self.address.partition("?")[0] + path, headers=headers)
        try:
            with build_opener(_NotFollowed).open(request, timeout=20) as answer:
                return Answer(answer.status, answer.read().decode(), _lower(answer.headers))
        except HTTPError as error:
            return Answer(error.code, error.read().decode(), _lower(error.headers))


@dataclass
class ServedApart(Served):
    """A server that is a process."""

    process: subprocess.Popen[str]


def _lower(headers: object) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}  # type: ignore[attr-defined]


Serve = Callable[[Path], Served]
"""Serves a folder."""

ServeApart = Callable[..., ServedApart]
"""Serves a folder by a process, with options of the command."""


@contextmanager
def serving() -> Iterator[Serve]:
    """Yield what serves folders by threads of this process, each until the end."""
    started: list[tuple[QuietServer, Thread]] = []

    def begin(folder: Path) -> Served:
        listener, server = socket.create_server(("127.0.0.1", 0)), server_of(folder, None)
        thread = Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        started.append((server, thread))
        return Served(f"http://127.0.0.1:{listener.getsockname()[1]}/")

    with pytest.MonkeyPatch.context() as patch:
        # Signals are the main thread's. With the processor to itself a server looks each second.
        patch.setattr(QuietServer, "main_loop", uvicorn.Server.main_loop)
        patch.setattr(serve, "MOST_WAIT_S", serve.EVERY_S)
        yield begin
        for server, _ in started:
            server.should_exit = server.force_exit = True  # viewers are let go
        for _, thread in started:
            thread.join()


@contextmanager
def serving_apart(where: Path) -> Iterator[ServeApart]:
    """Yield what serves folders by processes, each until the end."""
    started: list[subprocess.Popen[str]] = []

    def begin(folder: Path, *words: str) -> ServedApart:
        process = subprocess.Popen(
            [sys.executable, "-m", "diskproof", "serve", str(folder), "--port", "0", *words],
            cwd=where,
            env=environment(where),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout
        assert process.stderr
        address = process.stdout.readline().strip()
        assert address, process.stderr.read()
        return ServedApart(address, process)

    yield begin
    for process in started:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()


def grown(
    root: Path, study: str = "mine", name: str = LATE, trials: int = 16
) -> tuple[RunFolder, list[Trial]]:
    """Return a run that this process makes, as long as the folder is in use, and its further trials."""
    plan = make_plan(blocks=3)
    (root / study).mkdir(parents=True, exist_ok=True)
    folder = RunFolder.create(root / study / name, STUDY_TEXT, plan)
    folder.write(make_machine(plan))
    every = make_trials(plan)
    for trial in every[:trials]:
        folder.append(trial)
    folder.hold()
    return folder, every[trials:]
