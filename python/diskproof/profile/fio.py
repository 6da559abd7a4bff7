"""fio, the instrument: found, started, and read."""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from diskproof.refusal import RefusalError
from diskproof.system.processes import Starter

OLDEST = (3, 24)
"""The first with `sync=dsync`."""

ENGINES = ("libaio", "io_uring")
"""In the order of preference: libaio is what servers of all ages use, and needs no new kernel."""

SILENCE_S = 60.0
"""A job that ends this much later than it should has hung."""

Result = dict[str, Any]


class FioError(RefusalError):
    """fio is missing, too old, or could not do a job; the message says what to do."""


def version() -> str:
    """Return fio's version; FioError with the remedy where there is none, or one that is too old."""
    program = shutil.which("fio")
    if program is None:
        raise FioError("fio is not installed; as root on Debian or Ubuntu: apt-get install fio")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    oldest = ".".join(map(str, OLDEST))
    number = re.match(r"fio-(\d+)\.(\d+)", said)
    if number is None:
        raise FioError(f"{program} does not say its version but `{said}`; install fio {oldest} or newer")
    if (int(number[1]), int(number[2])) < OLDEST:
        raise FioError(f"{program} is {said}; install fio {oldest} or newer")
    return said.removeprefix("fio-")


@cache
def engine() -> str:
    """Return the engine for many requests at a time; FioError where this fio was built without one."""
    said = subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=False).stdout.split()
    for name in ENGINES:
        if name in said:
            return name
    raise FioError("this fio has neither libaio nor io_uring; install your distribution's fio")


def run(starter: Starter, job_file: Path, longest_s: float) -> Result:
    """Run one job file to its end and return its JSON; FioError says in fio's words what went wrong.

    The process is ended if this function is left in any way.
    """
    log, out = job_file.with_suffix(".err"), job_file.with_suffix(".json")
    log.unlink(missing_ok=True)
    argv = ["fio", "--output-format=json+", f"--output={out}", str(job_file)]
    process = starter.start(argv, log_file=log, cwd=job_file.parent)
    try:
        process.wait(timeout=longest_s + SILENCE_S)
    except subprocess.TimeoutExpired:
        raise FioError(f"fio did not end within {longest_s + SILENCE_S:.0f} s") from None
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    if process.returncode != 0:
        raise FioError(_complaint(log, out) or f"fio ended with {process.returncode}")
    return _parsed(out)


def _parsed(out: Path) -> Result:
    text = out.read_text(errors="replace")
    try:
        # A warning may stand before it.
        result: Result = json.loads(text[text.index("{") :])["jobs"][0]
    except (ValueError, KeyError, IndexError):
        raise FioError(f"fio's answer cannot be read: {text[:200]!r}") from None
    return result


def _complaint(log: Path, out: Path) -> str:
    """Return what fio said last that is no figure."""
    said = [
        line
        for path in (log, out)
        if path.is_file()
        for line in path.read_text(errors="replace").splitlines()
        if line.startswith("fio:")
    ]
    return said[0].removeprefix("fio:").strip() if said else ""
