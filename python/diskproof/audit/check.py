"""A check, the subjects that it looks at, and its possible answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Generic, Literal, TypeVar

from diskproof.families import of
from diskproof.results.imported import Beside, ImportedResult, Settings
from diskproof.results.load import FileRequests, LoadResult
from diskproof.results.machine import Machine, Place, PoolFacts, ServerFacts
from diskproof.results.plan import Cell, Metric, Plan
from diskproof.results.record import ROLES, NotRecordedError, Role, recorded
from diskproof.results.trial import Finding, Severity, Trial
from diskproof.stats.grouping import grouped
from diskproof.wording import NOTHING, Item, Message, as_message, say

Filling = Item | float | Sequence[Item | float]
"""What fills a gap of a form."""


@dataclass(frozen=True)
class Evidence:
    """One measured trial and what is known around it."""

    trial: Trial
    cell: Cell
    plan: Plan
    machine: Machine | None = None
    throughputs_per_s: Sequence[float] = ()
    """Transactions per second of each interval of the measured phase; empty if none were kept."""
    result: ImportedResult | None = None
    """What another tool's output says besides, if it was read from there."""
    beside: Beside | None = None
    """The settings given beside such a result, if they are its server's."""

    @property
    def imported(self) -> bool:
        """Whether another tool measured it: only its output is known then."""
        return self.plan.imported or self.trial.imported is not None

    @property
    def interval_s(self) -> float | None:
        """Seconds of each interval, if the output says them."""
        return self.result.interval_s if self.result else None

    @property
    def load(self) -> LoadResult:
        """What the load generator measured; trials without it are not checked."""
        assert self.trial.load is not None
        return self.trial.load

    @property
    def metric(self) -> Metric:
        """What a verdict on the trial's workload is about."""
        return self.plan.metric(self.cell)

    def place(self, role: Role) -> Place | None:
        """Return where a role of the trial's storage lay; None if unknown."""
        places = self.trial.places or (self.machine.places if self.machine else [])
        return next((at for at in places if (at.storage, at.role) == (self.cell.storage, role)), None)

    @property
    def pools(self) -> list[PoolFacts]:
        """The ZFS pools of the trial's storage, each once."""
        places = [self.place(role) for role in ROLES]
        return list({place.pool.name: place.pool for place in places if place and place.pool}.values())

    @property
    def server(self) -> ServerFacts | None:
        """The server under test; None if the machine's facts are missing."""
        return self.machine.server(self.cell.server) if self.machine else None

    @property
    def embedded(self) -> bool:
        """Whether the database runs inside the load generator."""
        return self.server is not None and of(self.server.family).embedded

    @property
    def elsewhere(self) -> bool:
        """Whether the server was there already: its files, its threads and its machine cannot be seen."""
        return self.server is not None and self.server.address is not None

    @property
    def one_pass(self) -> bool:
        """Whether the load ends when it has gone through its files once."""
        return self.load.file_requests is not None and self.load.file_requests.one_pass

    @property
    def steady_load(self) -> LoadResult:
        """The load; NothingToCheckError if it ends by itself, as a job or one pass over files does."""
        if self.metric == "seconds" or self.one_pass:
            raise NothingToCheckError("a load that ends by itself is not a steady one")
        return self.load

    @property
    def bare_files(self) -> FileRequests:
        """What a load on bare files asked for; NothingToCheckError of any other load."""
        if self.load.file_requests is None:
            raise NothingToCheckError("no load on bare files")
        return self.load.file_requests

    def needs_server(self, why: str = "no server") -> None:
        """Raise NothingToCheckError if there is no server."""
        if not self.cell.has_server:
            raise NothingToCheckError(why)

    @property
    def table(self) -> str:
        """The table of the study that says how long the trial is warmed up and measured."""
        own = self.cell.workload in self.plan.phases
        return f"[workloads.{self.cell.workload}]" if own else "[design]"

    @property
    def work(self) -> str:
        """What is counted: transactions, or requests of a load on bare files."""
        return "requests" if self.metric == "requests_per_s" else "transactions"


@dataclass(frozen=True)
class Run:
    """All trials of a run that count, and what is known around them."""

    plan: Plan
    machine: Machine | None
    valid: Sequence[Trial]
    results: Mapping[str, ImportedResult] = field(default_factory=dict)
    """By trial, what another tool's output says besides, if a trial was read from there."""
    beside: Mapping[str, Beside] = field(default_factory=dict)
    """By trial, the settings given beside such a result."""

    @cached_property
    def _by_cell(self) -> dict[str, list[Trial]]:
        return grouped(self.valid, lambda trial: trial.cell)

    def trials_of(self, cell: Cell) -> list[Trial]:
        """Return the cell's valid trials."""
        return self._by_cell.get(cell.id, [])

    def speeds_of(self, cell: Cell) -> list[tuple[Trial, float]]:
        """Return the cell's valid trials that have a speed, each with it."""
        metric = self.plan.metric(cell)
        found = ((trial, trial.load.speed(metric)) for trial in self.trials_of(cell) if trial.load)
        return [(trial, speed) for trial, speed in found if speed is not None]

    def machines_of(self, cell: Cell) -> list[Machine]:
        """Return the machines that run a cell; NotRecordedError if nothing is known of them."""
        return recorded(self.machine, "where the storages lay").running(cell.host)


@dataclass(frozen=True)
class Configuration:
    """The requested settings of a server, with what is known around them."""

    settings: Settings
    observed: Settings | None = None
    """What the server answered, if it was asked."""
    level: str = ""
    """The name that the settings go by: a tuning level, or the file that they stand in."""
    server: str | None = None
    """Family and version, if something else than the settings says so: ``Percona Server 5.7.27-30``."""


@dataclass(frozen=True)
class Problem:
    """What a check found. Its remedy is the check's own unless it has a better one."""

    severity: Severity
    message: Message
    remedy: Message | str | None = None
    cells: Sequence[str] = ()
    """Ids of the cells concerned; of a run's check only, and empty if it is the whole run."""


def problem(
    severity: Severity,
    form: str,
    /,
    remedy: Message | str | None = None,
    cells: Sequence[str] = (),
    **values: Filling,
) -> Problem:
    """Return a problem from the form of its message and what fills its gaps."""
    return Problem(severity, say(form, **values), remedy, cells)


invalid = partial(problem, "invalid")
"""A problem that makes the figures worthless."""

warning = partial(problem, "warning")
"""A problem that limits what the figures can support."""

note = partial(problem, "note")
"""Something that a reader of the figures must know."""


class Untold:
    """Why a check cannot tell: something that it looks at was not recorded."""

    def __init__(self, missing: Message | str, /, **values: Filling) -> None:
        """Take a noun phrase, a form with its values, or a message; most are never read."""
        self._missing, self._values = missing, values

    @property
    def missing(self) -> Message:
        """What was not recorded: ``the number of clients``."""
        given = self._missing
        return given if isinstance(given, Message) else say(given, **self._values)


@dataclass(frozen=True)
class Apart:
    """Why a check has nothing to look at in this subject: it neither passes nor fails."""

    why: Message | str


class NothingToCheckError(Exception):
    """Ends a check that has nothing to look at in this subject; its text says why."""


Subject = TypeVar("Subject", Evidence, Run, Configuration)

Said = Problem | Untold | Apart
"""What a check yields of a subject. If it yields nothing, it passed."""

State = Literal["passed", "failed", "cannot be told", "does not apply"]


@dataclass(frozen=True)
class Outcome:
    """What a check says of a subject."""

    check: str
    state: State
    problems: tuple[Problem, ...] = ()
    """Failures and notes."""
    missing: tuple[Message, ...] = ()
    """What was not recorded."""
    why_apart: Message = NOTHING


@dataclass(frozen=True)
class Check(Generic[Subject]):
    """One thing that can be wrong with a measurement."""

    name: str
    reason: str
    """Why it matters."""
    remedy: str
    """What to do, in the words of the study file."""
    source: str
    """Who says so."""
    find: Callable[[Subject], Iterator[Said]]
    elsewhere: str = ""
    """What to do about another tool's result, if `remedy` names keys of study files."""
    bars_from: Severity | None = None
    """The mildest finding that makes a cell incomparable.

    ``warning``: the trial's own figures stand, but not a comparison. ``invalid``: for checks that a trial's
    own speed decides. Those fail at one end of the scatter, so the trials that passed are a biased choice.
    """

    def remedy_of(self, problem: Problem, *, imported: bool) -> Message:
        """Return what to do: of another tool's result never in the words of a study file."""
        if imported and self.elsewhere and problem.remedy != "":
            return as_message(self.elsewhere)
        return as_message(self.remedy if problem.remedy is None else problem.remedy)

    def findings(self, subject: Subject) -> list[tuple[Finding, Sequence[str]]]:
        """Return what the check finds, each with the cells it names.

        A missing record is no finding.
        """
        found = []
        with suppress(NotRecordedError, NothingToCheckError):
            for problem in self.find(subject):
                if isinstance(problem, Problem):
                    remedy = self.remedy_of(problem, imported=_is_imported(subject))
                    made = Finding(
                        check=self.name, severity=problem.severity, message=problem.message, remedy=remedy
                    )
                    found.append((made, problem.cells))
        return found

    def outcome(self, subject: Subject) -> Outcome:
        """Return whether the check passed. A note is no failure; a failure outweighs a missing figure."""
        said = list(self._said(subject))
        problems = tuple(one for one in said if isinstance(one, Problem))
        missing = tuple(dict.fromkeys(one.missing for one in said if isinstance(one, Untold)))
        apart = next((as_message(one.why) for one in said if isinstance(one, Apart)), NOTHING)
        state: State = "passed"
        if any(problem.severity != "note" for problem in problems):
            state = "failed"
        elif missing:
            state = "cannot be told"
        elif apart and not problems:
            state = "does not apply"
        return Outcome(self.name, state, problems, missing, apart)

    def _said(self, subject: Subject) -> Iterator[Said]:
        """Yield what the check says, until it needs a figure that was not recorded."""
        try:
            yield from self.find(subject)
        except NotRecordedError as error:
            yield Untold(error.what)
        except NothingToCheckError as error:
            yield Apart(str(error))


def _is_imported(subject: object) -> bool:
    """Whether another tool measured it: it has no study to run again."""
    if isinstance(subject, Evidence):
        return subject.imported
    return isinstance(subject, Run) and subject.plan.imported


def check(
    name: str,
    *,
    reason: str,
    remedy: str,
    source: str,
    elsewhere: str = "",
    bars_from: Severity | None = None,
) -> Callable[[Callable[[Subject], Iterator[Said]]], Check[Subject]]:
    """Make a check of a function that yields problems."""

    def make(find: Callable[[Subject], Iterator[Said]]) -> Check[Subject]:
        return Check(name, reason, remedy, source, find, elsewhere, bars_from)

    return make
