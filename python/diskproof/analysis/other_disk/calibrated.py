"""By how much a cell's demands must be off for the model to give what was measured.

A model of clients, cores and logs is not the server. On the recorded storage its error is known: the
simulated throughput beside the measured one. The error is laid on the parts of a transaction's time by their
size. If it waits for the disk most of the time, the number of flushes and reads must be off; if it computes,
its CPU time. This is the mode of a posterior with normal priors on both logarithms (ridge regression). The
method of Gauss and Newton finds it, with the parts' shares as the gradient: d ln R / d ln part = part / R.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from diskproof.analysis.other_disk.records import Load, Simulated
from diskproof.results.plan import Cell

Simulate = Callable[[str, Sequence[Load]], Sequence[Simulated]]
"""Runs loads on a device, each on a new one."""

ROUNDS = 4
PRIOR = 0.4
"""Standard deviation of a demand's error, as a logarithm, before the recorded throughput is known."""
ERROR = 0.03
"""That of a throughput that was measured and simulated."""
MOST = math.log(4)

FLUSH_ROUNDS, DAMPED, MOST_WORK = 3, 0.7, 2.5
"""Rounds to find the work on logs, the exponent of a step, and the most work."""

LEAST_DOUBT = 0.15
"""Of a record that the model agrees with before it is corrected."""

TRUSTED = math.log(1.6)
"""A demand that must be off by more is not the one that was counted: something else took the time."""


@dataclass(frozen=True)
class Source:
    """A recorded cell."""

    cell: Cell
    load: Load
    device: str
    """The model of its disk."""
    per_s: float
    mean_us: float
    p95_us: float | None
    flushes: float | None = None
    """Of its disk, a transaction; None: not counted, or there are none."""


@dataclass(frozen=True)
class Scales:
    """What demands are multiplied with, as logarithms."""

    cpu: float = 0.0
    disk: float = 0.0

    @property
    def largest(self) -> float:
        """The larger correction, up or down."""
        return max(abs(self.cpu), abs(self.disk))

    def of(self, load: Load) -> Load:
        """Return a load with its demands multiplied."""
        cpu, disk = math.exp(self.cpu), math.exp(self.disk)
        return load.model_copy(
            update={
                "cpu_us": load.cpu_us * cpu,
                "behind_us": load.behind_us * cpu,
                "log_work": load.log_work * disk,
                "reads": load.reads * disk,
            }
        )


@dataclass(frozen=True)
class Calibrated:
    """A recorded cell, and what makes the model agree with it."""

    source: Source
    scales: Scales
    simulated: Simulated
    """The recorded cell with these scales."""

    @property
    def explains(self) -> bool:
        """Whether the demands are nearly those that were counted."""
        return self.scales.largest <= TRUSTED

    @property
    def doubt(self) -> float:
        """How far predictions may be off, in no unit: more if the demands had to be corrected more.

        Intervals are proportional to it (locally weighted conformal prediction: Lei et al., 2018, 5.2).
        """
        return LEAST_DOUBT + self.scales.largest

    @property
    def left(self) -> float:
        """The measured throughput over that, as a logarithm: what no scale explains."""
        return math.log(self.source.per_s / self.simulated.per_s)


def calibrate(sources: Sequence[Source], simulate: Simulate) -> list[Calibrated]:
    """Return each source with its scales; sources whose simulation completes nothing are left out."""
    scales = [Scales() for _ in sources]
    sources = _with_counted_flushes(sources, simulate)
    made = _simulated(sources, scales, simulate)
    for _ in range(ROUNDS):
        scales = [
            _step(source, scale, made[place]) if place in made else scale
            for place, (source, scale) in enumerate(zip(sources, scales, strict=True))
        ]
        made = _simulated(sources, scales, simulate)
    return [Calibrated(sources[place], scales[place], one) for place, one in sorted(made.items())]


def _with_counted_flushes(sources: Sequence[Source], simulate: Simulate) -> Sequence[Source]:
    """Return the sources with as much work on their logs as gives the counted flushes.

    How commits form groups depends on when threads wake, which the model does not know.
    """
    for _ in range(FLUSH_ROUNDS):
        made = _simulated(sources, [Scales() for _ in sources], simulate)
        sources = [
            _with_flushes(source, made[place].flushes) if place in made else source
            for place, source in enumerate(sources)
        ]
    return sources


def _with_flushes(source: Source, simulated: float) -> Source:
    if not source.flushes or not simulated or not source.load.logs:
        return source
    work = source.load.log_work * (source.flushes / simulated) ** DAMPED
    work = min(max(work, 1 / MOST_WORK), MOST_WORK)
    return replace(source, load=source.load.model_copy(update={"log_work": work}))


def _simulated(
    sources: Sequence[Source], scales: Sequence[Scales], simulate: Simulate
) -> Mapping[int, Simulated]:
    found: dict[int, Simulated] = {}
    for device in sorted({one.device for one in sources}):
        places = [place for place, one in enumerate(sources) if one.device == device]
        loads = [scales[place].of(sources[place].load) for place in places]
        found |= zip(places, simulate(device, loads), strict=True)
    return {place: one for place, one in found.items() if one.per_s > 0}


def _step(source: Source, scales: Scales, made: Simulated) -> Scales:
    longer = math.log(made.per_s / source.per_s)
    known = made.cpu_us + made.log_us + made.reads_us
    if known <= 0:
        return scales
    cpu, disk = made.cpu_us / known, (made.log_us + made.reads_us) / known
    needed = longer + cpu * scales.cpu + disk * scales.disk
    size = needed * PRIOR**2 / ((cpu**2 + disk**2) * PRIOR**2 + ERROR**2)
    return Scales(*(min(max(one * size, -MOST), MOST) for one in (cpu, disk)))
