"""Time that passes several times slower in a trial: for its disks, its load and its server alike.

Gupta et al., "To Infinity and Beyond: Time-Warped Network Emulation", NSDI 2006. A trial's own second takes
`dilation` seconds of the machine. Disks and load divide their clocks, and a library that a server is started
with divides the server's (crates/clock). The kernel's counters are converted here, where they are read.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from diskproof.results.record import Record
from diskproof.system import endings
from diskproof.system.programs import environment

Counted = TypeVar("Counted", bound=Record)

FOLLOWS = 0.8
"""A program that sleeps or works for a smaller share of its time by the lab's clock keeps other time."""


@dataclass(frozen=True)
class TrialTime:
    """The time of the trials of a run."""

    dilation: int = 1
    """Seconds of the machine in one of a trial."""
    cpus_count: int = 1
    """Each CPU counts so many times for server and load: `dilation` if nothing holds them back."""

    def now_s(self) -> float:
        """Return the monotonic clock, as slow as the trial: that of its disks and its acknowledgements."""
        return time.monotonic() / self.dilation

    def sleep(self, seconds: float) -> None:
        """Sleep for seconds of the trial."""
        endings.sleep(self.real_s(seconds))

    def real_s(self, seconds: float) -> float:
        """Return how long seconds of the trial take."""
        return seconds * self.dilation

    def own(self, counted: Counted, *, by: int | None = None) -> Counted:
        """Return a record with its seconds as the trial's; `by`: another divisor than the dilation."""
        divisor = by or self.dilation
        if divisor == 1:
            return counted
        return counted.model_copy(
            update={
                name: value / divisor
                for name, value in counted
                if name.endswith("_s") and isinstance(value, float)
            }
        )

    def held_by_server_and_load(self, cpu_s: float) -> float:
        """Return by how much CPU time of server and load counts more than others': they have fewer CPUs."""
        return cpu_s / self.cpus_count - cpu_s / self.dilation

    @property
    def cpu_share(self) -> float:
        """Return the share of its CPUs that server and load may use."""
        return self.cpus_count / self.dilation

    def environment(self, library: Path) -> dict[str, str]:
        """Return what a server is started with so that its clocks and timers follow, by the library."""
        if self.dilation == 1:
            return {}
        preloaded = environment().get("LD_PRELOAD", "")
        return {
            "LD_PRELOAD": ":".join(filter(None, (str(library), preloaded))),
            "DISKPROOF_CLOCK": f"{self.dilation} {time.time_ns()}",
        }


REAL = TrialTime()
"""The machine's own time."""
