"""A run while it is made: whether a process makes it, and the throughput of its trial second by second."""

import fcntl
import math
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from diskproof.reading import MIB, UnreadableError, opened
from diskproof.results.durable import begin_passing
from diskproof.results.plan import THROUGHPUTS

LIVE = "live"

HELD = "study.toml"
"""The file whose lock says that a run is being made: no other file of a run is there from its beginning and
never replaced."""

MOST_BYTES = 64 * MIB
"""Of a trial's course: a line of some 30 bytes a second, for weeks."""

TAIL_BYTES = 8 * 1024
"""What is read of it: some minutes."""

TRIES, AGAIN_S = 10, 0.01
"""Who looks whether a run is being made holds its lock for some microseconds."""


def hold(run: Path) -> ExitStack:
    """Show that this process makes a run, until what is returned is closed or the process ends."""
    held = ExitStack()
    with suppress(OSError, UnreadableError):  # without locks of files, nobody sees that it is being made
        file = held.enter_context(opened(run / HELD, MOST_BYTES))
        for _ in range(TRIES):
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(AGAIN_S)
    return held


def is_being_made(run: Path, within: Path | None = None) -> bool:
    """Return whether a process of this machine makes a run; the kernel knows it also after a kill."""
    try:
        with opened(run / HELD, MOST_BYTES, within) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (OSError, UnreadableError):
        return False
    return False


class Course:
    """Writes the course of the trial under way, for those who watch; it is removed with the trial's end.

    That of an interrupted trial stays until the next one begins. No flush is waited for, and the kernel
    writes it when it likes: the trial may be measuring that disk.
    """

    def __init__(self, run: Path, trial_id: str) -> None:
        """Begin a trial's course; what an earlier one left is gone."""
        self._path = run / LIVE
        self._file: TextIO | None = None
        with suppress(OSError):
            self._file = begin_passing(self._path)
        self._say(f"{trial_id} {time.time():.0f}")

    def add(self, row: tuple[float, str, str, float]) -> None:
        """Add a row of the trial's series if it is a throughput."""
        t_s, source, metric, value = row
        if source == "load" and metric in THROUGHPUTS:
            self._say(f"{t_s:.3f} {value:.6g}")

    def end(self) -> None:
        """Remove it: the series has it all."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
                self._path.unlink()
            self._file = None

    def _say(self, line: str) -> None:
        """Write a line; nobody misses it if it cannot be written."""
        if self._file is not None:
            try:
                self._file.write(line + "\n")
            except OSError:
                self._file = None


@dataclass(frozen=True)
class UnderWay:
    """The trial under way."""

    trial: str
    began_s: float
    """When it began, in seconds since 1970."""
    course: tuple[tuple[float, float], ...]
    """Its last seconds: time, negative in the warm-up, and throughput a second."""


def under_way(run: Path, within: Path | None = None) -> UnderWay | None:
    """Read the course of the trial under way; None if there is none."""
    try:
        with opened(run / LIVE, MOST_BYTES, within) as file:
            first = file.readline(200)
            size = file.seek(0, 2)
            file.seek(max(len(first), size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).split(b"\n")
    except (OSError, UnreadableError):
        return None
    trial, _, began = first.decode(errors="replace").strip().rpartition(" ")
    # The last line has no end yet, and the first may have lost its beginning.
    whole = lines[size - TAIL_BYTES > len(first) : -1]
    points = [point for line in whole if (point := _figures(line))]
    known = _figures(began.encode() + b" 0")
    return UnderWay(trial, known[0], tuple(points)) if trial and known else None


def _figures(line: bytes) -> tuple[float, float] | None:
    try:
        one, other = map(float, line.split())
    except ValueError:
        return None
    return (one, other) if math.isfinite(one) and math.isfinite(other) else None
