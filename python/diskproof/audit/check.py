"""What a check is, and what it looks at."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, Literal, TypeVar

from diskproof.results.article import Article
from diskproof.results.imported import Beside, ImportedResult, Settings
from diskproof.results.load import LoadResult
from diskproof.results.machine import Machine, Place, ServerFacts
from diskproof.results.plan import Cell, Metric, Plan
from diskproof.results.record import NotRecordedError, Role
from diskproof.results.trial import Finding, Severity, Trial


@dataclass(frozen=True)
class Evidence:
    """One measured trial and what is known around it."""

    trial: Trial
    cell: Cell
    plan: Plan
    machine: Machine | None = None
    throughputs_per_s: Sequence[float] = ()
    """Transactions per second of each interval of the measured phase; empty where none were kept."""
    result: ImportedResult | None = None
    """What another tool's output told besides, where it was read from there."""
    beside: Beside | None = None
    """What was given of its server beside such a result, where it is established that it is its server's."""

    @property
    def imported(self) -> bool:
        """Whether another tool measured it: then nothing but its output is known of it."""
        return self.plan.imported or self.trial.imported is not None

    @property
    def interval_s(self) -> float | None:
        """Seconds of each interval, where the output itself tells them."""
        return self.result.interval_s if self.result else None

    @property
    def load(self) -> LoadResult:
        """What the load generator measured; a trial without it is not asked further."""
        assert self.trial.load is not None
        return self.trial.load

    @property
    def metric(self) -> Metric:
        """What a verdict on the trial's workload is about."""
        return self.plan.metric(self.cell)

    def place(self, role: Role) -> Place | None:
        """Return where a role of the trial's storage lay; None where nothing tells it."""
        places = self.trial.places or (self.machine.places if self.machine else [])
        return next((at for at in places if (at.storage, at.role) == (self.cell.storage, role)), None)

    @property
    def server(self) -> ServerFacts | None:
        """The server under test; None where the machine's facts are missing."""
        servers = self.machine.servers if self.machine else []
        return next((one for one in servers if one.name == self.cell.server), None)

    @property
    def embedded(self) -> bool:
        """Whether the database runs inside the load generator."""
        return self.server is not None and self.server.family == "sqlite"

    @property
    def untold_settings(self) -> str:
        """What is missing where no settings are known to be this server's."""
        return (self.beside.why_not if self.beside else "") or "the server's settings"

    @property
    def one_pass(self) -> bool:
        """Whether the load ends by itself when its files have been gone through once."""
        return self.load.file_requests is not None and self.load.file_requests.one_pass

    @property
    def work(self) -> str:
        """What is counted: transactions, or the requests of a load on bare files."""
        return "requests" if self.metric == "requests_per_s" else "transactions"


@dataclass(frozen=True)
class Run:
    """All trials of a run that count, and what is known around them."""

    plan: Plan
    machine: Machine | None
    valid: Sequence[Trial]
    results: Mapping[str, ImportedResult] = field(default_factory=dict)
    """By trial, what the output of another tool told besides, where a trial was read from there."""
    beside: Mapping[str, Beside] = field(default_factory=dict)
    """By trial, what was given of its server beside such a result."""

    @cached_property
    def _by_cell(self) -> dict[str, list[Trial]]:
        by_cell: dict[str, list[Trial]] = {}
        for trial in self.valid:
            by_cell.setdefault(trial.cell, []).append(trial)
        return by_cell

    def trials_of(self, cell: Cell) -> list[Trial]:
        """Return the cell's valid trials."""
        return self._by_cell.get(cell.id, [])


@dataclass(frozen=True)
class Configuration:
    """Settings of a server as somebody asked for them, and what is known around them."""

    settings: Settings
    observed: Settings | None = None
    """What the server answered, where it was asked."""
    level: str = ""
    """The name that the settings go by: a tuning level, or the file that they stand in."""
    beside: tuple["Configuration", ...] = ()
    """The other levels of the same experiment."""
    differs_in: tuple[str, ...] | None = None
    """The options that the levels are said to differ in; None where nobody says."""
    server: str | None = None
    """Family and version, where something else than the settings tells: ``Percona Server 5.7.27-30``."""
    memory_bytes: int | None = None
    """The machine's, where it is told."""


@dataclass(frozen=True)
class Problem:
    """What a check found. Its remedy is the check's own unless it knows a better one."""

    severity: Severity
    message: str
    remedy: str | None = None
    cells: tuple[str, ...] = ()
    """Ids of the cells concerned; of a run's check only, and empty where it is the whole run."""


@dataclass(frozen=True)
class Untold:
    """Why a check cannot tell: something that it looks at was not recorded."""

    missing: str
    """What was not recorded: ``the number of clients``."""


@dataclass(frozen=True)
class Apart:
    """Why a check has nothing to look at in this subject: it neither passes nor fails."""

    why: str


Subject = TypeVar("Subject", Evidence, Run, Configuration, Article)

Said = Problem | Untold | Apart
"""What a check yields of a subject; nothing at all: it passed."""

State = Literal["passed", "failed", "cannot be told", "does not apply"]


@dataclass(frozen=True)
class Outcome:
    """What a check says of a subject."""

    check: str
    state: State
    problems: tuple[Problem, ...] = ()
    """What failed, and what is merely noted."""
    missing: tuple[str, ...] = ()
    """What was not recorded, where it cannot be told."""
    why_apart: str = ""


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
    """What to do about another tool's result, where `remedy` speaks of study files."""
    bars_from: Severity | None = None
    """The mildest finding that makes a cell incomparable.

    ``warning``: though the trial's own figures stand. ``invalid``: for gates that a trial's own speed
    decides. They fail at one end of the scatter, so the trials of the cell that passed are a biased choice.
    """

    def remedy_of(self, problem: Problem, *, imported: bool) -> str:
        """Return what to do: of another tool's result never in the words of a study file."""
        if imported and self.elsewhere:
            return self.elsewhere
        return self.remedy if problem.remedy is None else problem.remedy

    def findings(self, subject: Subject) -> list[tuple[Finding, tuple[str, ...]]]:
        """Return what the check finds, each with the cells it names.

        What cannot be told is no finding.
        """
        return [
            (
                Finding(
                    check=self.name,
                    severity=problem.severity,
                    message=problem.message,
                    remedy=self.remedy_of(problem, imported=_is_imported(subject)),
                ),
                problem.cells,
            )
            for problem in self._said(subject)
            if isinstance(problem, Problem)
        ]

    def outcome(self, subject: Subject) -> Outcome:
        """Return whether the check passed; a note alone is no failure, a failure outweighs what is untold."""
        said = list(self._said(subject))
        problems = tuple(one for one in said if isinstance(one, Problem))
        missing = tuple(dict.fromkeys(one.missing for one in said if isinstance(one, Untold)))
        apart = next((one.why for one in said if isinstance(one, Apart)), "")
        state: State = "passed"
        if any(problem.severity != "note" for problem in problems):
            state = "failed"
        elif missing:
            state = "cannot be told"
        elif apart and not problems:
            state = "does not apply"
        return Outcome(self.name, state, problems, missing, apart)

    def _said(self, subject: Subject) -> Iterator[Said]:
        """Yield what the check says, up to the figure that it needs and that was not recorded."""
        try:
            yield from self.find(subject)
        except NotRecordedError as error:
            yield Untold(error.what)


def _is_imported(subject: object) -> bool:
    """Whether another tool measured it: nobody can run its study again."""
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
