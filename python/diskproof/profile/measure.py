"""A profile from beginning to end: refuse early, take the machine, measure cell by cell, give it back."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from diskproof import __version__
from diskproof.disk import write_clock
from diskproof.fio import program as fio
from diskproof.fio.program import OWN_CLOCK
from diskproof.profile.jobs import (
    FILEIO_FILES,
    FILEIO_MOST_ROUNDS,
    FILEIO_REQUESTS_PER_SYNC,
    Length,
    Target,
    fileio_log,
    job_text,
)
from diskproof.profile.notes import Taken, notes
from diskproof.profile.parse import to_cell
from diskproof.profile.place import Ready, Wanted, look_at
from diskproof.profile.plan import THE_WRITING_PASS, Effort, estimated_s, plan_cells
from diskproof.results.profile import Probe, Profile, ProfileCell, ProfileMachine, ProfilePlace
from diskproof.system.counters import HostCounters, host_counters
from diskproof.system.cpus import usable
from diskproof.system.dilation import FOLLOWS, TrialTime
from diskproof.system.journal import Journal, machine_taken
from diskproof.system.machine import describe_machine
from diskproof.system.processes import Starter
from diskproof.system.undoing import Undone

LINK = "disk"
"""Name of the place in fio's log of fileio, whose lines fio cuts at white space."""

MANY_ROUNDS = 10
"""From so many rounds of fileio on, part of a round more or less does not matter."""

MOST_RAMP_S = 2.0
"""Longest time for a queue to form; a disk of 100 requests a second has answered 200 by then."""

FILEIO_TRIES = 3
"""The first try may show a wrong pace: it was disturbed, or ended at once."""

MOST_FILEIO_S = 120.0
"""Limit for a single round: no disk takes half a second per request."""


class Watcher(Protocol):
    """Receives the events of a profile: a terminal, a test."""

    def begins(self, probes: Sequence[Probe], left_s: float) -> None:
        """Announce all cells before the first."""

    def cell_begins(self, probe: Probe, left_s: float) -> None:
        """Announce a cell, and about how long all remaining cells will take."""

    def cell_ends(self, cell: ProfileCell) -> None:
        """Show what was measured."""

    def left_behind(self, undone: Undone) -> None:
        """Report something that could not be cleared away."""


Plan = Callable[[ProfilePlace], Sequence[Probe]]
"""The cells to measure at a place."""


def profile(wanted: Wanted, effort: Effort, only: Sequence[str], watcher: Watcher) -> Profile:
    """Measure a place. Nothing of ours is left on it, however this ends."""
    return profile_of(
        wanted, effort, lambda place: plan_cells(effort, writable=place.writable, only=only), watcher
    )


def profile_of(wanted: Wanted, effort: Effort, plan: Plan, watcher: Watcher) -> Profile:
    """Measure cells of one's own choice at a place, as `profile` does."""
    version, engine = fio.version(), fio.engine()
    ready = look_at(wanted)
    probes = plan(ready.place)
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    before = _cpu_times()
    place, cells = _measure_all(effort, ready, probes, engine, watcher, wanted.time)
    taken = _taken_between(before, _cpu_times())
    return Profile(
        diskproof_version=__version__,
        fio_version=version,
        engine=engine,
        started_at=started_at,
        quick=effort.quick,
        seconds_per_cell=effort.seconds,
        ramp_s=effort.ramp_s,
        place=place,
        machine=describe(),
        cells=cells,
        notes=notes(place, cells, taken),
    )


CpuTimes = tuple[HostCounters, os.times_result]
"""CPU time of the machine, and of this process with its ended children."""


def _cpu_times() -> CpuTimes:
    return host_counters(), os.times()


def _taken_between(before: CpuTimes, after: CpuTimes) -> Taken:
    (host, ours), (host_then, ours_then) = before, after
    cpus = os.cpu_count() or 1
    whole_s = (ours_then.elapsed - ours.elapsed) * cpus
    other_s = host_then.host_cpu_busy_s - host.host_cpu_busy_s - (sum(ours_then[:4]) - sum(ours[:4]))
    if len(usable()) < cpus:
        other_s = 0.0  # what others do on CPUs that are not ours takes nothing
    return Taken(
        other=other_s / whole_s, stolen=(host_then.host_cpu_steal_s - host.host_cpu_steal_s) / whole_s
    )


def describe() -> ProfileMachine:
    """Describe this machine as far as a disk's figures depend on it."""
    machine = describe_machine([], [], load_version="")
    return ProfileMachine(**{name: getattr(machine, name) for name in ProfileMachine.model_fields})


class Bench:
    """Where fio works, cell after cell."""

    def __init__(self, journal: Journal, length: Length, own_time: TrialTime) -> None:
        """Make the folder for jobs and results. fio's clock is that of the place."""
        self._folder = journal.directory(Path("/tmp") / f"diskproof-{journal.mark}-fio")  # noqa: S108
        self._length = length
        self._time = own_time
        clock = self._folder / "clock.so"
        if own_time.dilation > 1:
            write_clock(clock)
        self._starter = Starter(journal).with_variables(own_time.environment(clock))
        self._alone_s: dict[tuple[str, int], float] = {}

    def real_s(self, seconds: float) -> float:
        """Return how long seconds of the place's time take."""
        return self._time.real_s(seconds)

    def measure(self, probe: Probe, target: Target, longest_s: float) -> ProfileCell:
        """Measure one probe; a job that fails is a cell with an error."""
        if probe.pattern == "fileio":
            return self._fileio(probe, target, longest_s)
        cell = self._run(probe, job_text(probe, target, self._with_its_queue(probe)), longest_s)
        if cell.requests and probe.depth == 1:
            self._alone_s[probe.pattern, probe.block_bytes] = cell.requests.mean_us / 1e6
        return cell

    def _with_its_queue(self, probe: Probe) -> Length:
        """Return a length that lets a slow disk answer a queue's first requests unmeasured."""
        alone_s = self._alone_s.get((probe.pattern, probe.block_bytes), 0.0)
        queue_s = min(probe.depth * alone_s, MOST_RAMP_S)
        return replace(self._length, ramp_s=max(self._length.ramp_s, queue_s))

    def _fileio(self, probe: Probe, target: Target, longest_s: float) -> ProfileCell:
        """Measure as many rounds of requests and their syncs as the time holds, if they are many.

        A few rounds are measured again from the first request to the last sync. Otherwise a slow disk would
        be stopped in mid-round, or before it ever syncs.
        """
        cell = self._replay(probe, target, self._length, longest_s)
        if _rounds_of(cell) >= MANY_ROUNDS:
            return cell
        for _ in range(FILEIO_TRIES):
            whole = Length(MOST_FILEIO_S, 0.0, rounds=_rounds_within(self._length.seconds, cell))
            cell = self._replay(probe, target, whole, MOST_FILEIO_S)
            if cell.seconds >= self._length.seconds / 2:
                break
        if cell.requests is None or _is_whole(cell, whole):
            return cell
        why = (
            f"no round of {FILEIO_REQUESTS_PER_SYNC} requests and their syncs finished in {MOST_FILEIO_S:g} s"
        )
        return ProfileCell(probe=probe, job=cell.job, error=why)

    def _replay(self, probe: Probe, target: Target, length: Length, longest_s: float) -> ProfileCell:
        link = self._folder / LINK
        link.unlink(missing_ok=True)
        link.symlink_to(target.file)
        target = replace(target, file=Path(LINK))
        log = self._folder / "fileio.log"
        log.write_text("\n".join(fileio_log(target, probe, length)) + "\n")
        return self._run(probe, job_text(probe, target, length, Path(log.name)), longest_s)

    def _run(self, probe: Probe, text: str, longest_s: float) -> ProfileCell:
        job_file = self._folder / f"{probe.name}.fio"
        if self._time.dilation > 1:
            text += OWN_CLOCK
        job_file.write_text(text)
        began_s = self._time.now_s()
        try:
            cell = to_cell(probe, text, fio.run(self._starter, job_file, self.real_s(longest_s)))
        except fio.FioError as error:
            return ProfileCell(probe=probe, job=text, error=str(error))
        if self._time.now_s() - began_s < FOLLOWS * cell.seconds:
            raise fio.FioError(
                "fio does not take the disk's slow time (is it linked statically?): install another"
            )
        share = cell.cpu_share  # of a second of the machine
        return cell.model_copy(update={"cpu_share": share and share / self._time.dilation})


def _rounds_of(cell: ProfileCell) -> float:
    return cell.requests.requests / FILEIO_REQUESTS_PER_SYNC if cell.requests else 0.0


def _rounds_within(seconds: float, cell: ProfileCell) -> int:
    """Return the whole rounds that this time holds at a cell's pace; at least one."""
    rounds = _rounds_of(cell) * seconds / cell.seconds if cell.seconds else 0.0
    return max(1, min(FILEIO_MOST_ROUNDS, int(rounds)))


def _is_whole(cell: ProfileCell, length: Length) -> bool:
    rounds = length.rounds or 1
    flushed = cell.flushes.requests if cell.flushes else 0
    return _rounds_of(cell) >= rounds and flushed >= rounds * FILEIO_FILES


def _measure_all(
    effort: Effort, ready: Ready, probes: Sequence[Probe], engine: str, watcher: Watcher, own_time: TrialTime
) -> tuple[ProfilePlace, list[ProfileCell]]:
    with (
        machine_taken(f"profile of {ready.place.name}", watcher.left_behind) as journal,
        ready.open(journal) as (place, file),
    ):
        target = Target(file, place.size_bytes, place.direct, engine)
        bench = Bench(journal, Length(effort.seconds, effort.ramp_s), own_time)
        if ready.makes_file:  # first the pass that writes it, even if the choice of cells leaves it out
            probes = [THE_WRITING_PASS, *(probe for probe in probes if probe != THE_WRITING_PASS)]
        return place, _one_by_one(bench, effort, target, probes, watcher)


def _one_by_one(
    bench: Bench, effort: Effort, target: Target, probes: Sequence[Probe], watcher: Watcher
) -> list[ProfileCell]:
    estimates_s = [bench.real_s(estimated_s(probe, effort, target.size_bytes)) for probe in probes]
    watcher.begins(probes, sum(estimates_s))
    began, cells = time.monotonic(), []
    for done, probe in enumerate(probes):
        # A slow disk needs longer for queues and passes; the pace so far is the best estimate.
        pace = (time.monotonic() - began) / sum(estimates_s[:done]) if done else 1.0
        watcher.cell_begins(probe, pace * sum(estimates_s[done:]))
        cell = bench.measure(probe, target, longest_s=_longest_s(probe, effort, target))
        watcher.cell_ends(cell)
        cells.append(cell)
        if cell.error and probe == THE_WRITING_PASS:
            raise fio.FioError(f"{target.file} could not be written: {cell.error}")
    return cells


SLOWEST_BYTES_PER_S = 1e6
"""A pass that is slower than this hangs."""


def _longest_s(probe: Probe, effort: Effort, target: Target) -> float:
    if probe.pattern.startswith("pass-"):
        return probe.span_of(target.size_bytes) / SLOWEST_BYTES_PER_S
    return effort.seconds + effort.ramp_s
