"""The clients whose commits are cut: a load of diskproof-load's, and the file of its acknowledgements."""

import os
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from diskproof import load
from diskproof.refusal import RefusalError
from diskproof.results.plan import Phases
from diskproof.study.crash import LINGER_S
from diskproof.study.loads.base import Load
from diskproof.system.dilation import REAL, TrialTime
from diskproof.system.processes import Starter
from diskproof.wording import Message, say
from diskproof.wording import seconds as seconds_
from diskproof.workload.arguments import run_arguments

ACKNOWLEDGEMENTS = "acknowledgements"
"""File in which the clients record each acknowledged commit."""

BEYOND_S = 600.0
"""How much longer the load may run than until the latest moment of a cut: it never ends by itself."""

FIRST_ANSWER_S = 60.0
"""Limit for the first commit: a slow disk under a cold server takes a second."""

ACTIVE_WITHIN_S = 1.0
"""A cut needs an acknowledged commit within this time before it, or it is the cut of an idle server. A full
write cache of a hard disk takes half a second to flush, and commits wait for it. The cache has most to lose
then, so a shorter time would spare the worst moments."""

LOOK_S = 0.002
"""Time between two looks at the file; the moment of a cut is random anyway."""

TAIL_BYTES = 256
"""What is read of the file's end; it contains the last line, which has six numbers at most."""


class NobodyAnsweredError(RefusalError):
    """No commit was acknowledged: a cut could take nothing."""


@dataclass(frozen=True)
class Waited:
    """The outcome of waiting for the moment of a cut."""

    put_off_s: float
    """Extra time until a commit was acknowledged."""
    silent_because: Message | None
    """Why there was none; None: there was one."""


class Committing(ABC):
    """What commits until the cut, and how the moment of the cut is waited for."""

    first_answer_s = FIRST_ANSWER_S
    _time: TrialTime

    def connect(self) -> None:  # noqa: B027 - a program connects when it begins
        """Wait until all clients are connected."""

    def begin(self) -> None:
        """Let the clients begin, and wait for the first acknowledged commit."""
        self._go_on()
        until = self._time.now_s() + self.first_answer_s
        while self._last_us() is None:
            self._check_alive()
            if self._time.now_s() > until:
                raise NobodyAnsweredError(f"no commit was acknowledged within {self.first_answer_s:g} s")
            time.sleep(LOOK_S)

    def wait(self, seconds: float) -> Waited:
        """Wait, and a little longer until a commit was acknowledged within `ACTIVE_WITHIN_S`."""
        self._time.sleep(seconds)
        drawn = self._time.now_s()
        put_off_s = 0.0
        while not self._is_active():
            self._check_alive()
            if self._time.now_s() > drawn + LINGER_S:
                why = say(
                    "no commit was acknowledged in the last {active} before the cut, which waited {linger} "
                    "for one: an idle server has nothing to lose",
                    active=seconds_(ACTIVE_WITHIN_S),
                    linger=seconds_(LINGER_S),
                )
                return Waited(LINGER_S, why)
            time.sleep(LOOK_S)
            put_off_s = self._time.now_s() - drawn
        self._check_alive()
        return Waited(put_off_s, None)

    def _is_active(self) -> bool:
        last_us = self._last_us()
        return last_us is not None and self._time.now_s() - last_us / 1e6 <= ACTIVE_WITHIN_S

    def freeze(self) -> None:  # noqa: B027 - a client that waits for answers gets none
        """Stop it just before the cut, if it could otherwise acknowledge something after the cut."""

    @property
    @abstractmethod
    def has_ended(self) -> bool:
        """Whether it ended by itself: clients give up if no connection can be made for too long."""

    @property
    @abstractmethod
    def pids(self) -> list[int]:
        """Its processes."""

    @abstractmethod
    def kill(self) -> None:
        """Kill the program, and wait until it is gone."""

    @abstractmethod
    def told(self) -> str:
        """Return the lines about acknowledged commits."""

    @abstractmethod
    def _go_on(self) -> None:
        """Let the clients begin."""

    @abstractmethod
    def _last_us(self) -> int | None:
        """Return the time of the last acknowledged commit; None before the first."""

    @abstractmethod
    def _check_alive(self) -> None:
        """Raise the program's own message if it has ended: the cut would hit no client."""


class Clients(Committing):
    """The running clients of a database."""

    def __init__(
        self,
        starter: Starter,
        url: str,
        workload: Load,
        longest_s: float,
        clients: int,
        seed: int,
        folder: Path,
        own_time: TrialTime = REAL,
        *,
        bear_errors: bool = False,
    ) -> None:
        """Start the program; it connects, and then waits. All times are those of `own_time`.

        The latest cut comes `longest_s` after the first answer.
        `folder` takes its log and the acknowledgements; it does not lie on a disk that is cut. If clients
        `bear_errors`, they write them down there and continue.
        """
        self._time = own_time
        self._is_recorded = workload.is_recorded
        self._file = folder / ACKNOWLEDGEMENTS
        phases = Phases(warm_up_s=0.0, measure_s=longest_s + BEYOND_S)
        arguments = [
            *run_arguments(workload, phases, clients, seed, dilation=own_time.dilation),
            *("--acknowledgements", str(self._file)),
            *(["--bear-errors"] if bear_errors else []),
        ]
        self._load = load.Load(starter, url, workload.kind, arguments, folder / "load.log")
        self._events = self._load.events(longest_s=0.0)

    def connect(self) -> None:
        """Wait until all clients are connected; LoadFailedError if they cannot connect."""
        event = next(self._events)
        if event["event"] != "ready":
            raise load.LoadFailedError(f"diskproof-load reported `{event['event']}` before it was ready")

    def _go_on(self) -> None:
        self._load.go_on()

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended: for too long no client had a connection."""
        return not self._load.alive

    @property
    def pids(self) -> list[int]:
        """Its processes."""
        return self._load.pids

    def kill(self) -> None:
        """Kill the program, and wait until it is gone."""
        self._load.end()

    def told(self) -> str:
        """Return the lines that the clients wrote about acknowledged commits."""
        try:
            return self._file.read_text(encoding="ascii", errors="replace")
        except FileNotFoundError:
            return ""

    def _last_us(self) -> int | None:
        try:
            with self._file.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
                whole = file.read().rpartition(b"\n")[0]
        except FileNotFoundError:
            return None
        fields = whole.rpartition(b"\n")[2].split()
        return int(fields[-1]) if fields else None

    def _check_alive(self) -> None:
        if self._load.alive:
            return
        for _ in self._events:
            pass
        why = ": the log must last longer, or `cut_before_s` be smaller" if self._is_recorded else ""
        raise load.LoadFailedError(f"diskproof-load ended before the cut, without an error{why}")
