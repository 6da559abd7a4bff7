"""The program fio: found, started, and its result read."""

import json
import re
import resource
import shutil
import time
from functools import cache
from pathlib import Path
from typing import Any

from diskproof.reading import MIB, read_bytes
from diskproof.refusal import RefusalError
from diskproof.system.processes import Starter, has_dead_children
from diskproof.system.programs import TimedOut, kill
from diskproof.system.programs import run as run_program

OLDEST = (3, 24)
"""The first version with `sync=dsync`."""

ENGINES = ("libaio", "io_uring")
"""In order of preference: servers of all ages use libaio, and it needs no new kernel."""

SILENCE_S = 60.0
"""A job that exceeds its time by this much hangs."""

LOOK_S = 1.0

BEREFT_S = 5.0
"""How long fio may take to end after one of its workers died: it may wait for that worker without end."""

MOST_THREADS = 2_000
"""fio's own table holds about 4,000, and half of that if it gets too little memory (init.c)."""

FEW_DESCRIPTORS = 64
"""What fio opens beside the files of a load, with a reserve."""

MOST_BYTES = 64 * MIB
"""Of its result, which has a histogram for each kind of request of a job."""

OWN_CLOCK = "clocksource=clock_gettime\n"
"""Of a job in slow time: a CPU's own counter has no other time."""

Result = dict[str, Any]


class FioError(RefusalError):
    """fio is missing, too old, or failed; the message says what to do."""


def version() -> str:
    """Return fio's version; FioError if it is missing or too old."""
    program = shutil.which("fio")
    if program is None:
        raise FioError("fio is not installed; as root on Debian or Ubuntu: apt-get install fio")
    said = run_program([program, "--version"]).out.strip()
    oldest = ".".join(map(str, OLDEST))
    number = re.match(r"fio-(\d+)\.(\d+)", said)
    if number is None:
        raise FioError(f"{program} reports `{said}` as its version; install fio {oldest} or newer")
    if (int(number[1]), int(number[2])) < OLDEST:
        raise FioError(f"{program} is {said}; install fio {oldest} or newer")
    return said.removeprefix("fio-")


@cache
def engine() -> str:
    """Return the engine for many requests at a time; FioError if this fio was built without one."""
    said = run_program(["fio", "--enghelp"]).out.split()
    for name in ENGINES:
        if name in said:
            return name
    raise FioError("this fio has neither libaio nor io_uring; install your distribution's fio")


class Job:
    """One running job file."""

    def __init__(
        self,
        starter: Starter,
        job_file: Path,
        *,
        cwd: Path | None = None,
        descriptors: int = FEW_DESCRIPTORS,
        environment: dict[str, str] | None = None,
    ) -> None:
        """Start fio in `cwd`, or beside the job file; it may hold `descriptors` files open at a time."""
        self._log, self._out = job_file.with_suffix(".err"), job_file.with_suffix(".json")
        self._log.unlink(missing_ok=True)
        argv = ["fio", "--output-format=json+", f"--output={self._out}", str(job_file)]
        self._process = starter.start(
            [*_allowing(descriptors), *argv],
            log_file=self._log,
            cwd=cwd or job_file.parent,
            env=environment,
        )

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._process.pid

    def ended(self, within_s: float) -> bool:
        """Wait for its end for so long; return whether it has ended."""
        try:
            self._process.wait(timeout=within_s)
        except TimedOut:
            return False
        return True

    def result(self, longest_s: float) -> Result:
        """Wait for its end and return its JSON; FioError carries fio's message."""
        began_s = well_s = time.monotonic()
        while not self.ended(LOOK_S):
            now_s = time.monotonic()
            if not self._has_lost_worker():
                well_s = now_s
            if now_s > well_s + BEREFT_S:
                raise FioError(
                    f"a worker of fio died, and fio did not end within {BEREFT_S:.0f} s; find what killed "
                    "it (`dmesg` names victims of too little memory), then start again"
                )
            if now_s > began_s + longest_s + SILENCE_S:
                raise FioError(f"fio did not end within {longest_s + SILENCE_S:.0f} s")
        if self._process.returncode != 0:
            raise FioError(_complaint(self._log, self._out) or f"fio ended with {self._process.returncode}")
        return _parsed(self._out)

    def _has_lost_worker(self) -> bool:
        """Return whether a worker was killed: fio reports it, or has not even noticed yet."""
        return has_dead_children(self.pid) or "got signal=" in _said(self._log)

    def end(self) -> None:
        """Kill it if it still runs."""
        kill(self._process)


def run(starter: Starter, job_file: Path, longest_s: float) -> Result:
    """Run one job file to its end and return its JSON; FioError carries fio's message.

    The process is killed if this function is left in any other way.
    """
    job = Job(starter, job_file)
    try:
        return job.result(longest_s)
    finally:
        job.end()


def escaped(path: Path) -> str:
    """Return a path for a job file, in which a colon separates files."""
    return str(path).replace(":", r"\:")


def check_descriptors(descriptors: int) -> None:
    """Refuse a load for which fio would hold more files open than this user may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and descriptors > hard:
        raise FioError(
            f"fio needs {descriptors:,} open files, but {hard:,} are allowed (`ulimit -Hn`): "
            "lower `files` or `clients`, or raise the limit"
        )


def check_threads(threads: int) -> None:
    """Refuse a load of more threads than fio is certain to accept."""
    if threads > MOST_THREADS:
        raise FioError(f"fio takes up to {MOST_THREADS:,} threads, not {threads:,}: lower `clients`")


def _allowing(descriptors: int) -> list[str]:
    """Return the prlimit call that lets a program hold so many files open; nothing if it may anyway.

    Only fio's limit is raised: a server under test sets its own limits from those that it finds.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    check_descriptors(descriptors)
    if soft == resource.RLIM_INFINITY or descriptors <= soft:
        return []
    highest = "unlimited" if hard == resource.RLIM_INFINITY else str(hard)
    return ["prlimit", f"--nofile={descriptors}:{highest}", "--"]


def _parsed(out: Path) -> Result:
    text = _said(out)
    try:
        # A warning may come first.
        result: Result = json.loads(text[text.index("{") :])["jobs"][0]
    except (ValueError, KeyError, IndexError):
        raise FioError(f"fio's result cannot be read: {text[:200]!r}") from None
    return result


def _said(path: Path) -> str:
    return read_bytes(path, MOST_BYTES).decode(errors="replace")


def _complaint(log: Path, out: Path) -> str:
    """Return fio's first error message."""
    said = [
        line
        for path in (log, out)
        if path.is_file()
        for line in _said(path).splitlines()
        if line.startswith(("fio:", "error:"))
    ]
    return said[0].removeprefix("fio:").removeprefix("error:").strip() if said else ""
