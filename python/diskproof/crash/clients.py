"""The clients whose commits are cut: diskproof-load's ledger, and the file of what they were told."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from diskproof import load
from diskproof.refusal import RefusalError
from diskproof.results.crash_plan import CrashCell
from diskproof.results.plan import Phases
from diskproof.run.cutcells import LINGER_S
from diskproof.study.crash import CrashChoice
from diskproof.system.processes import Starter
from diskproof.workload.arguments import run_arguments

ACKNOWLEDGEMENTS = "acknowledgements"
"""Name of the file in which the clients write what they are told."""

BEYOND_S = 600.0
"""How much longer the load is asked to run than until the latest moment of a cut: it never ends by itself."""

FIRST_ANSWER_S = 60.0
"""How long the first commit may take: a slow disk under a cold server takes a second."""

ACTIVE_WITHIN_S = 0.25
"""Somebody must have been told of a commit within so much before a cut, or the cut is one of an idle server:
eight clients on a disk of 5,400 rpm are told of some sixty in a second."""

LOOK_S = 0.002
"""Between two looks at the file: what it adds to the moment of a cut is at random all the same."""

TAIL_BYTES = 256
"""What is read of the file's end: the last line, of three numbers, is in it."""


class NobodyAnsweredError(RefusalError):
    """No commit was acknowledged: there is nothing that a cut could take."""


@dataclass(frozen=True)
class Order:
    """Which clients are to come, and where they write what they were told."""

    url: str
    cell: CrashCell
    crash: CrashChoice
    seed: int
    acknowledgements: Path
    """Not on a disk that is cut; it must not be there yet."""
    log: Path


@dataclass(frozen=True)
class Waited:
    """What came of waiting for the moment of a cut."""

    put_off_s: float
    """How much longer it took than was asked, until somebody was told of a commit."""
    silent_because: str | None
    """Why nobody was; None: somebody was."""


class Clients:
    """Clients under way."""

    def __init__(self, order: Order, starter: Starter) -> None:
        """Start the program; it connects, and then waits."""
        self._file = order.acknowledgements
        self._order = order
        phases = Phases(warm_up_s=0.0, measure_s=order.crash.cut_before_s + BEYOND_S)
        arguments = [
            *run_arguments(order.crash.ledger, phases, order.cell.clients, order.seed),
            *("--acknowledgements", str(order.acknowledgements)),
        ]
        self._load = load.Load(starter, order.url, order.crash.ledger.kind, arguments, order.log)
        self._events = self._load.events(longest_s=0.0)

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._load.pid

    def connect(self) -> None:
        """Wait until all clients are connected; LoadFailedError if they cannot be."""
        event = next(self._events)
        if event["event"] != "ready":
            raise load.LoadFailedError(f"diskproof-load said `{event['event']}` before it was ready")

    def begin(self) -> None:
        """Let the clients begin, and wait until the first was told of a commit."""
        self._load.go_on()
        until = time.monotonic() + FIRST_ANSWER_S
        while self._last_us() is None:
            self._see_that_they_live()
            if time.monotonic() > until:
                raise NobodyAnsweredError(f"no commit was acknowledged within {FIRST_ANSWER_S:g} s")
            time.sleep(LOOK_S)

    def wait(self, seconds: float) -> Waited:
        """Wait, and a little longer until somebody was told of a commit within `ACTIVE_WITHIN_S`."""
        time.sleep(seconds)
        drawn = time.monotonic()
        put_off_s = 0.0
        while not self._is_active():
            self._see_that_they_live()
            if time.monotonic() > drawn + LINGER_S:
                return Waited(
                    LINGER_S,
                    f"no commit was acknowledged in the last {ACTIVE_WITHIN_S:g} s before the cut, though it "
                    f"was put off by {LINGER_S:g} s: an idle server has nothing to lose",
                )
            time.sleep(LOOK_S)
            put_off_s = time.monotonic() - drawn
        self._see_that_they_live()
        return Waited(put_off_s, None)

    def kill(self) -> None:
        """Kill the program, and wait until it is gone."""
        self._load.end()

    def told(self) -> str:
        """Return what the clients wrote of what they were told."""
        try:
            return self._file.read_text(encoding="ascii", errors="replace")
        except FileNotFoundError:
            return ""

    def _is_active(self) -> bool:
        last_us = self._last_us()
        return last_us is not None and time.monotonic() - last_us / 1e6 <= ACTIVE_WITHIN_S

    def _last_us(self) -> int | None:
        """Return when the last commit was acknowledged; None before the first."""
        try:
            with self._file.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
                whole = file.read().rpartition(b"\n")[0]
        except FileNotFoundError:
            return None
        fields = whole.rpartition(b"\n")[2].split()
        return int(fields[-1]) if fields else None

    def _see_that_they_live(self) -> None:
        """Raise the program's own words where it has ended: nobody would be cut."""
        if self._load.alive:
            return
        for _ in self._events:
            pass
        raise load.LoadFailedError("diskproof-load ended before the cut, without an error")
