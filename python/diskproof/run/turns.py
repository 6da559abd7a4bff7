"""Trials that take turns: each side's place in the order of the windows, and when all go on together.

The loads compute their windows alike, from one moment that the lab names when all are connected. The order is
forward and backward, A B B A for two sides ("duet benchmarking": Bulej et al., Duet Benchmarking: Improving
Measurement Accuracy in the Cloud, ICPE 2020).
"""

import math
import threading
import time
from collections.abc import Callable, Sequence

from diskproof.refusal import RefusalError
from diskproof.results.plan import Phases

GAP_S = 0.02
"""Between two windows. Most transactions take less, and end in it."""

LEAD_NS = 200_000_000
"""From when all sides are ready to the first window: their loads must hear of it before."""


class TurnEndedError(RefusalError):
    """Another side broke off, so this one cannot go on."""


class Turns:
    """What the sides of one group share."""

    def __init__(self, trials: Sequence[str], window_s: float) -> None:
        """Let trials, by their ids and in this order, take turns in windows of at most `window_s`."""
        self.trials = list(trials)
        self.window_s = window_s
        self.processes: dict[str, Callable[[], list[int]]] = {}
        self._start_ns = 0
        self._barrier = threading.Barrier(len(self.trials), self._name_the_start)

    def turn(self, trial: str) -> "Turn":
        """Return one trial's part."""
        return Turn(self, self.trials.index(trial))

    def wait(self) -> int:
        """Wait until all sides are here; return when the first window opens, if it has not yet."""
        try:
            self._barrier.wait()
        except threading.BrokenBarrierError:
            raise TurnEndedError("a trial that it takes turns with broke off") from None
        return self._start_ns

    def give_up(self) -> None:
        """Let all sides break off that wait for others, now or later."""
        self._barrier.abort()

    def _name_the_start(self) -> None:
        self._start_ns = time.monotonic_ns() + LEAD_NS


class Alone:
    """A trial that takes no turns: nothing else is up."""

    runs = 1
    """How many sides there are."""
    others: Sequence[str] = ()
    """The trials of the other sides."""

    def join(self, processes: Callable[[], list[int]]) -> None:
        """Name this side's processes, so that the other sides do not count them as foreign work."""

    def processes_of_others(self) -> list[int]:
        """Return the processes of the other sides now."""
        return []

    def starts_at_ns(self) -> int | None:
        """Wait until all sides are ready; return when the first window opens, by the monotonic clock."""
        return None

    def wait_for_others(self) -> None:
        """Wait until all sides are measured: what follows would fall into their windows."""

    def arguments(self, phases: Phases) -> list[str]:  # noqa: ARG002
        """Return the load generator's arguments for the windows."""
        return []

    def warming_s(self, phases: Phases) -> float:
        """Return the seconds from the start of this side's warm-up to that of its measurement."""
        return phases.warm_up_s


class Turn(Alone):
    """One trial among those that take turns."""

    def __init__(self, turns: Turns, place: int) -> None:
        self._turns, self._place = turns, place
        self.runs = len(turns.trials)
        self.others = [trial for at, trial in enumerate(turns.trials) if at != place]

    def join(self, processes: Callable[[], list[int]]) -> None:
        """Name this side's processes."""
        self._turns.processes[self._turns.trials[self._place]] = processes

    def processes_of_others(self) -> list[int]:
        """Return the processes of the other sides now."""
        known = (self._turns.processes.get(trial) for trial in self.others)
        return [pid for processes in known if processes for pid in processes()]

    def starts_at_ns(self) -> int:
        """Wait until all sides are ready; return when the first window opens."""
        return self._turns.wait()

    def wait_for_others(self) -> None:
        """Wait until all sides are measured."""
        self._turns.wait()

    def arguments(self, phases: Phases) -> list[str]:
        """Return place, length and gap of the windows."""
        window_s = length_s(phases.measure_s, self._turns.window_s)
        place = f"{self._place + 1}/{self.runs}"
        return ["--turn", place, "--window", f"{window_s:.6f}", "--window-gap", f"{GAP_S:g}"]

    def warming_s(self, phases: Phases) -> float:
        """Return the seconds from this side's first window to its first measured one."""
        window_s = length_s(phases.measure_s, self._turns.window_s)
        windows = math.ceil(round(phases.warm_up_s / window_s, 6))
        return (self._slot(windows) - self._slot(0)) * (window_s + GAP_S)

    def _slot(self, window: int) -> int:
        """Return the number of this side's window among those of all sides."""
        back = window % 2
        return window // 2 * 2 * self.runs + (2 * self.runs - 1 - self._place if back else self._place)


def length_s(measure_s: float, longest_s: float) -> float:
    """Return the length of windows: an even number of them makes up the measured time.

    It is rounded up to microseconds, so that there is not one more.
    """
    return math.ceil(measure_s / (2 * math.ceil(measure_s / (2 * longest_s))) * 1e6 - 1e-3) / 1e6


ALONE = Alone()
