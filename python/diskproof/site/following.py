"""A run folder that is followed while it grows: only what is new is read, bounded, and through no link."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Literal, TypeVar

from pydantic import ValidationError

from diskproof.analysis import so_far
from diskproof.analysis.so_far import CellSoFar, Looked, PairSoFar
from diskproof.reading import MIB, UnreadableError, opened, read_bytes
from diskproof.refusal import RefusalError
from diskproof.results.crash import Way
from diskproof.results.cut import CutTrial
from diskproof.results.folder import CUTS, MOST_BYTES, PROOFS, TRIALS
from diskproof.results.live import UnderWay, is_being_made, under_way
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.record import Record
from diskproof.results.trial import Trial

State = Literal["under way", "ended early", "done"]

REPORT = "report.html"

MOST_PLAN_BYTES = 32 * MIB

MOST_NEW_BYTES = 16 * MIB
"""Of a file of records, at a look; the rest comes with the next."""

LOOK_S = 0.9
"""Between two looks at one run."""

WHOLE_S = 5.0
"""Between two looks at all files of a run whose trial goes on."""

MOST_FOLLOWED = 16
"""Runs whose records are kept in memory."""

Read = TypeVar("Read", bound=Record)


@dataclass(frozen=True)
class Cut:
    """What is kept of a cut."""

    cell: str
    way: Way
    tells: bool
    harmed: bool
    took_s: float


@dataclass(frozen=True)
class Now:
    """A run at one moment."""

    path: Path
    plan: Plan
    state: State
    has_report: bool
    version: int
    """Another number once there are more records."""
    trials: int
    """Planned ones that were made."""
    cuts: int
    proofs: int
    """Records of pairs of trials."""
    live: UnderWay | None
    at_s: float
    """Seconds since 1970."""
    left_s: float
    cells: list[CellSoFar]
    pairs: list[PairSoFar]
    deaths: list[tuple[str, Way, int, int]]
    """Cells with their ways to die: cuts that tell something, and those that did harm."""

    @property
    def planned_cuts(self) -> int:
        """How many cuts the run is to make."""
        return len(self.plan.crash.trials) if self.plan.crash else 0


class _Lines:
    """The lines that a file of records has got since the last look."""

    def __init__(self, path: Path, within: Path) -> None:
        self._path, self._within = path, within
        self._seen: tuple[int, int] | None = None
        self._at = 0

    def new(self) -> tuple[bool, list[bytes]]:
        """Return whether the file begins anew, and its new whole lines."""
        try:
            facts = self._path.stat()
            if self._seen == (facts.st_ino, facts.st_size):
                return False, []
            with opened(self._path, MOST_BYTES, self._within) as file:
                facts = os.fstat(file.fileno())
                anew = self._seen is not None and (facts.st_ino != self._seen[0] or facts.st_size < self._at)
                self._at = 0 if anew else self._at
                file.seek(self._at)
                content = file.read(MOST_NEW_BYTES)
        except (OSError, ValueError, UnreadableError):
            return False, []
        end = content.rfind(b"\n") + 1
        # If not all was read, the next look reads on. No record is as long as all that a look reads.
        is_whole = len(content) < MOST_NEW_BYTES
        self._at += end if end or is_whole else len(content)
        self._seen = (facts.st_ino, facts.st_size if is_whole else -1)
        return anew, content[:end].split(b"\n")[:-1]


@dataclass
class _Records:
    """What was read of a run."""

    trials: dict[str, Looked] = field(default_factory=dict)
    cuts: dict[str, Cut] = field(default_factory=dict)
    proofs: int = 0


class Followed:
    """A run that is followed."""

    def __init__(self, path: Path, within: Path) -> None:
        """Follow a run; `within` is a folder without links in its path. RefusalError if it lies outside."""
        if not Path(os.path.realpath(path)).is_relative_to(within):
            raise RefusalError(f"{path} is a link that leads out of {within}")
        self.path, self._within = path, within
        self._files = {name: _Lines(path / name, within) for name in (TRIALS, CUTS, PROOFS)}
        self._read = _Records()
        self._plan: Plan | None = None
        self._plan_seen: tuple[int, int] | None = None
        self._machine: Machine | None = None
        self._version = 0
        self._now: Now | None = None
        self._whole_due_s = 0.0
        self._so_far: tuple[int, list[CellSoFar], list[PairSoFar]] = (-1, [], [])

    def look(self) -> Now:
        """Read what is new; RefusalError if the folder has no plan that can be read."""
        live, at_s = under_way(self.path, self._within), time.time()
        if self._now is None or not self._goes_on(self._now, live):
            self._now = self._whole(live, at_s)
            self._whole_due_s = time.monotonic() + WHOLE_S
            return self._now
        # A trial that goes on needs no other file.
        left_s = max(0.0, self._now.left_s - (at_s - self._now.at_s))
        self._now = replace(self._now, live=live, at_s=at_s, left_s=left_s)
        return self._now

    def _goes_on(self, before: Now, live: UnderWay | None) -> bool:
        """Return whether the same trial is under way as at the last look, and somebody writes its course."""
        if live is None or before.live is None or time.monotonic() >= self._whole_due_s:
            return False
        return live.trial == before.live.trial and live.course != before.live.course

    def _whole(self, live: UnderWay | None, at_s: float) -> Now:
        """Look at all files."""
        made = is_being_made(self.path, self._within)  # first: its last record comes before its end
        plan = self._look_at_plan()
        self._read_on(plan)
        _, cells, pairs = self._so_far
        live = live if made else None
        trials = sum(trial.id in self._read.trials for trial in plan.trials)
        planned_cuts = plan.crash.trials if plan.crash else []
        cuts = sum(cut.id in self._read.cuts for cut in planned_cuts)
        is_whole = trials == len(plan.trials) and cuts == len(planned_cuts)
        return Now(
            path=self.path,
            plan=plan,
            state="under way" if made else "done" if is_whole else "ended early",
            has_report=os.path.lexists(self.path / REPORT),
            version=self._version,
            trials=trials,
            cuts=cuts,
            proofs=self._read.proofs,
            live=live,
            at_s=at_s,
            left_s=self._left_s(plan, len(plan.trials) - trials, len(planned_cuts) - cuts, live, at_s),
            cells=cells,
            pairs=pairs,
            deaths=list(self._deaths(plan)),
        )

    def _read_on(self, plan: Plan) -> None:
        """Read the new records, and what they say with those before."""
        changed = [self._take(name, plan) for name in list(self._files)]
        if any(changed):
            self._version += 1
        if self._so_far[0] != self._version:
            looked = list(self._read.trials.values())
            self._so_far = self._version, so_far.cells(plan, looked), so_far.pairs(plan, looked)

    def report(self) -> bytes:
        """Return the run's own page; UnreadableError if there is none."""
        return read_bytes(self.path / REPORT, MOST_PLAN_BYTES, self._within)

    def _look_at_plan(self) -> Plan:
        path = self.path / "plan.json"
        try:
            facts = path.stat()
            if self._plan is not None and self._plan_seen == (facts.st_ino, facts.st_mtime_ns):
                return self._plan
            plan = Plan.model_validate_json(read_bytes(path, MOST_PLAN_BYTES, self._within))
        except OSError as error:
            raise UnreadableError(f"{path} cannot be read: {error.strerror}") from None
        except ValidationError:
            raise UnreadableError(f"{path} is damaged, or of another version of diskproof") from None
        self._plan, self._plan_seen = plan, (facts.st_ino, facts.st_mtime_ns)
        self._version += 1
        return plan

    def _take(self, name: str, plan: Plan) -> bool:
        """Take the new lines of a file; return whether there were any."""
        anew, lines = self._files[name].new()
        if anew:  # a copy took its place
            self._read, self._version = _Records(), self._version + 1
            self._files = {other: _Lines(self.path / other, self._within) for other in self._files}
            return True
        if name == PROOFS:
            self._read.proofs += len(lines)
        elif name == TRIALS:
            known = {cell.id for cell in plan.cells}
            for trial in _parsed(Trial, lines):
                if trial.cell in known:
                    before = self._read.trials.get(trial.id)
                    if before is None or trial.finished or not before.finished:
                        self._read.trials[trial.id] = so_far.look(trial, plan, self._machine_of_run())
        else:
            for cut in _parsed(CutTrial, lines):
                harmed = cut.tells and cut.has_harm
                self._read.cuts[cut.id] = Cut(cut.cell, cut.way, cut.tells, harmed, cut.timings.total_s)
        return bool(lines)

    def _machine_of_run(self) -> Machine | None:
        if self._machine is None:
            try:
                content = read_bytes(self.path / "machine.json", MOST_PLAN_BYTES, self._within)
                self._machine = Machine.model_validate_json(content)
            except (UnreadableError, ValidationError):
                return None
        return self._machine

    def _deaths(self, plan: Plan) -> Iterator[tuple[str, Way, int, int]]:
        """Yield each cell with each of its ways to die, and what its cuts came to."""
        for cell, way in plan.crash.deaths if plan.crash else ():
            of_it = [cut for cut in self._read.cuts.values() if (cut.cell, cut.way) == (cell.id, way)]
            yield cell.id, way, sum(cut.tells for cut in of_it), sum(cut.harmed for cut in of_it)

    def _left_s(self, plan: Plan, trials: int, cuts: int, live: UnderWay | None, at_s: float) -> float:
        """Return how long the planned trials and cuts will take, by what those before took."""
        took = [one.took_s for one in self._read.trials.values() if one.took_s > 0]
        each_s = fmean(took) if took else plan.estimated_s / max(1, len(plan.trials))
        of_trial_s = min(max(0.0, at_s - live.began_s), each_s) if live and trials else 0.0
        left_s = (each_s * trials - of_trial_s) / max(1, len(plan.hosts) if took else 1)
        if plan.crash:
            took = [cut.took_s for cut in self._read.cuts.values() if cut.took_s > 0]
            each_s = fmean(took) if took else plan.crash.estimated_s / max(1, len(plan.crash.trials))
            left_s += each_s * cuts / max(1, plan.crash.at_once if took else 1)
        return left_s


def _parsed(record: type[Read], lines: list[bytes]) -> Iterator[Read]:
    """Yield the records of some lines; what is none, a damaged line, is left out."""
    for line in lines:
        try:
            yield record.model_validate_json(line)
        except ValidationError:
            continue


Clock = Callable[[], float]


class Following:
    """The runs that somebody looks at, each looked at once a second however many look."""

    def __init__(self, root: Path, clock: Clock = time.monotonic) -> None:
        """Follow runs below a root, which may not be there yet."""
        self.root, self.within = root, root.resolve()
        self._clock = clock
        self._followed: dict[Path, tuple[Followed, float, Now]] = {}

    def now(self, path: Path) -> Now:
        """Return a run as it is; RefusalError if it cannot be read."""
        known = self._followed.pop(path, None)
        if known is None or self._clock() - known[1] >= LOOK_S:
            followed = known[0] if known else Followed(path, self.within)
            known = followed, self._clock(), followed.look()
        self._followed[path] = known
        if len(self._followed) > MOST_FOLLOWED:
            del self._followed[next(iter(self._followed))]
        return known[2]

    def report(self, path: Path) -> bytes:
        """Return the page of a run that `now` has found."""
        return self._followed[path][0].report()
