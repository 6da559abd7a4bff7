"""Runs that grow, and `diskproof serve` as a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from diskproof.results.folder import RunFolder
from diskproof.results.trial import Trial
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

    process: subprocess.Popen[str]
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


def _lower(headers: object) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}  # type: ignore[attr-defined]


Serve = Callable[..., Served]
"""Serves a folder, with options of the command."""


@contextmanager
def serving(where: Path) -> Iterator[Serve]:
    """Yield what serves folders, each until the end."""
    started: list[subprocess.Popen[str]] = []

    def begin(folder: Path, *words: str) -> Served:
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
        return Served(process, address)

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
    folder.write_machine(make_machine(plan))
    every = make_trials(plan)
    for trial in every[:trials]:
        folder.append_trial(trial)
    folder.hold()
    return folder, every[trials:]
