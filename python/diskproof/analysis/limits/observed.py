"""What the valid trials of a cell measured, as one record: medians over trials.

A figure of "a transaction" is in microseconds; for a job it is of a statement, for a load on bare files of a
request. A job also makes tables between its parts, which is counted but not timed: `timed` is the share of
the counted time that it timed, and counters are scaled by it. None always means: not observed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import NamedTuple, Self, get_args

from diskproof.analysis.evidence import Side, medians, middle
from diskproof.analysis.gather import Audited, Gathered
from diskproof.analysis.limits.cpu_time import Cpu, cpu_time, taken_share
from diskproof.analysis.limits.disks import MICRO, Disk, counted_disks, virtual_disks
from diskproof.analysis.limits.loaders import Loaders, loaders_of
from diskproof.analysis.limits.threads import Threads, threads_of
from diskproof.analysis.limits.thresholds import MOSTLY_TIMED
from diskproof.families import Family, limit_of_wait, of
from diskproof.families.durability import no_commit_waits
from diskproof.results.limit import Limit
from diskproof.results.load import LoadResult, Rate, StatementType
from diskproof.results.plan import Cell
from diskproof.results.record import Role
from diskproof.results.usage import Party, ServerAccount
from diskproof.stats.grouping import grouped


@dataclass(frozen=True)
class Statements:
    """Times of a transaction's statements by the clients' clock; None: it has none of the kind."""

    commit_us: float | None
    begin_us: float | None
    read_us: float | None
    write_us: float | None
    data_us: float | None
    """Reads and writes."""
    all_us: float | None
    one_read_us: float | None
    """Mean of a single read."""
    one_write_us: float | None


@dataclass(frozen=True)
class Observed(Side):
    """One cell over its valid trials, or over those of one block."""

    def by_block(self) -> dict[int, Self]:
        """Return what each block observed that counted anything."""
        blocks = grouped(self.trials, lambda one: one.trial.block)
        return {block: replace(self, trials=some) for block, some in blocks.items() if _any_counted(some)}

    # ------------------------------------------------------------ the database

    @cached_property
    def family(self) -> Family | None:
        """None for a load on bare files, and for an unknown server."""
        return self.facts.family if self.facts else None

    @cached_property
    def bare(self) -> bool:
        """Whether it is a load on files, without a database."""
        return not self.cell.has_server

    @cached_property
    def embedded(self) -> bool:
        """Whether the database runs inside the load generator."""
        return self.family is not None and of(self.family).embedded

    @cached_property
    def elsewhere(self) -> bool:
        """Whether the server was there already: nothing is known of its CPUs, its threads and its disks."""
        return self.facts is not None and self.facts.address is not None

    @cached_property
    def log_roles(self) -> tuple[Role, ...]:
        """Roles whose flush a commit waits for."""
        return of(self.family).log_roles if self.family else ()

    @cached_property
    def settings(self) -> Mapping[str, str | None]:
        """Variables as the first trial read them back."""
        return {one.name: one.observed for one in self.trials[0].trial.settings}

    @cached_property
    def no_commit_waits(self) -> bool:
        """Whether by those settings no commit waits for a flush; False if they are not known."""
        return self.family is not None and no_commit_waits(self.family, self.settings)

    @cached_property
    def covers_tables(self) -> bool:
        """Whether the server's log and account cover the tables under test; they do not cover MyISAM's."""
        engine = next((one.engine or one.job_engine for one in self.data), None)
        return self.family is None or of(self.family).has_commits(engine)

    # ------------------------------------------------------------ the load

    @cached_property
    def clients(self) -> int:
        """How many transactions can be under way."""
        return max(self.cell.clients, 1)

    @cached_property
    def inside(self) -> int:
        """How many clients the database serves at a time: SQLite's writers enter one by one."""
        return 1 if self.queue_us is not None else self.clients

    @cached_property
    def timed(self) -> float | None:
        """The share of the counted time that a job timed; None for any other load."""
        return None if self.transactional else middle(map(_timed, self.trials))

    @cached_property
    def speaks_of_the_load(self) -> bool:
        """Whether most of what was counted was timed."""
        return self.timed is None or self.timed >= MOSTLY_TIMED

    @cached_property
    def counted_s(self) -> float | None:
        """Seconds that the counters cover."""
        return middle(one.trial.usage.seconds for one in self.trials if one.trial.usage)

    @cached_property
    def per_s(self) -> float | None:
        """What completes in a second: transactions, or requests on bare files."""
        return self._of_load(lambda load: _ratio(load.transactions or None, load.seconds))

    @cached_property
    def latency_us(self) -> float | None:
        """Mean latency of a transaction; for a job, of its statements.

        On bare files it is the time from one request of a client to its next: a request's own latency leaves
        out the syncs after it. For SQLite's writers it is that of Little's law if that is longer: a client
        whose turn does not come completes nothing, so no latency includes its wait.
        """
        by_law = self.clients / self.per_s * MICRO if self.per_s else None
        if self.bare and self.transactional:
            return by_law
        if by_law is None or self.completed_us is None or not self._in_line or self.rates:
            return self.completed_us
        return max(self.completed_us, by_law) if self.transactional else self.completed_us

    @cached_property
    def completed_us(self) -> float | None:
        """Mean latency of completed transactions."""
        return self._of_load(lambda load: load.latency_us.mean if load.latency_us else None)

    @cached_property
    def queue_us(self) -> float | None:
        """What a transaction of SQLite waits for others: all but what completed ones took after BEGIN."""
        begin_us = self.statements.begin_us if self._in_line else None
        if begin_us is None or self.latency_us is None or self.completed_us is None:
            return begin_us
        return self.latency_us - (self.completed_us - begin_us)

    @cached_property
    def own_us(self) -> float | None:
        """The latency without that wait."""
        return None if self.latency_us is None else self.latency_us - (self.queue_us or 0.0)

    @cached_property
    def statements(self) -> Statements:
        """Times of a transaction's statements."""
        return Statements(**medians([vars(one.once(_statements)) for one in self.trials]))

    @cached_property
    def statement_count(self) -> float | None:
        """Statements of a transaction."""
        return self._of_load(lambda load: _ratio(load.statements or None, load.transactions))

    @cached_property
    def commits_per_s(self) -> float | None:
        """Commits of the clients: an autocommitted write is one."""
        return self._of_load(_commits_per_s) if self.writes_anything else None

    @cached_property
    def delay_us(self) -> float | None:
        """What the load generator took to read and parse one reply."""
        return self._of_load(lambda load: load.client.delay_mean_us if load.client else None)

    @cached_property
    def rates(self) -> Sequence[Rate]:
        """Of each trial, if the study sets a rate."""
        return [one.load.rate for one in self.trials if one.load.rate]

    @cached_property
    def workers(self) -> int | None:
        """Threads of the load generator."""
        return next((one.load.client.workers for one in self.trials if one.load.client), None)

    @cached_property
    def loaders(self) -> Loaders | None:
        """The machines of the load; None: it runs beside the server."""
        return loaders_of(self.trials)

    @property
    def _in_line(self) -> bool:
        """Whether writers wait for one another's whole transactions."""
        return self.embedded and self.writes_anything and self.clients > 1

    # ------------------------------------------------------------ the resources

    @cached_property
    def cpu(self) -> Cpu:
        """CPU time."""
        database: Party | None = "server" if not self.elsewhere else None
        if self.embedded or self.bare:
            database = "load"
        return cpu_time(self, self._each, self.per_s, self.inside, database, taken_share(self.trials))

    @cached_property
    def disks(self) -> Sequence[Disk]:
        """As the kernel counted them."""
        return counted_disks(self)

    @cached_property
    def virtual(self) -> Sequence[Disk]:
        """As the virtual disks counted themselves."""
        return virtual_disks(self)

    @cached_property
    def threads(self) -> Threads | None:
        """None: threads were not sampled."""
        return threads_of(self.trials, self.clients, self.log_roles, embedded=self.embedded)

    @cached_property
    def account(self) -> ServerAccount:
        """What the server counted: levels and totals."""
        return self._counted("in_all")

    @cached_property
    def account_per_s(self) -> ServerAccount:
        """The same in a second."""
        return self._counted("per_s")

    @cached_property
    def account_each(self) -> ServerAccount:
        """The same for a transaction."""
        return self._counted("each", 1.0 if self.timed is None else self.timed)

    @cached_property
    def waiting(self) -> Mapping[Limit, float]:
        """Mean number of sessions that waited, by limit; empty if the server does not report it."""
        found = self._sessions
        return {limit: median(one[limit] for one in found) for limit in get_args(Limit)} if found else {}

    @cached_property
    def waiting_at_all(self) -> float | None:
        """Mean number of sessions that waited; 0 if the server reports it and nobody did."""
        return median(sum(one.values()) for one in self._sessions) if self._sessions else None

    @cached_property
    def _accounts(self) -> Sequence["_Account"]:
        found = [one.once(_account) for one in self.trials] if self.covers_tables else []
        return [one for one in found if one is not None]

    @cached_property
    def _sessions(self) -> Sequence[Mapping[Limit, float]]:
        sessions = [one.sessions for one in self._accounts if one.sessions is not None]
        return [
            {
                limit: sum(n for name, n in one.items() if limit_of_wait(name) == limit)
                for limit in get_args(Limit)
            }
            for one in sessions
        ]

    # ------------------------------------------------------------ medians

    def _counted(self, kind: str, factor: float = 1.0) -> ServerAccount:
        counted = medians([getattr(one, kind) for one in self._accounts])
        return ServerAccount(**{name: value and value * factor for name, value in counted.items()})

    def _each(self, value: float | None, one: Audited) -> float | None:
        """Return what of a trial's figure falls to one of its transactions."""
        amount = _ratio(value, one.load.transactions)
        return None if amount is None else amount * (1.0 if self.timed is None else self.timed)

    def _of_load(self, figure: Callable[[LoadResult], float | None]) -> float | None:
        return middle(figure(one.load) for one in self.trials)


def observe(gathered: Gathered, cell: Cell) -> Observed | None:
    """Return what was observed in a cell; None if no valid trial counted anything."""
    seen = Observed.of(gathered, cell)
    return seen if _any_counted(seen.trials) else None


def _any_counted(trials: Sequence[Audited]) -> bool:
    return any(one.trial.usage for one in trials)


# ---------------------------------------------------------------- the clients' clock


def _timed(one: Audited) -> float | None:
    share = _ratio(one.load.seconds or None, one.trial.usage.seconds if one.trial.usage else None)
    return None if share is None else min(share, 1.0)


def _statements(trial: Audited) -> Statements:
    load = trial.load
    timed = [one for one in load.statement_types if one.latency_us and one.count]
    reads = [one for one in timed if one.kind == "read"]
    writes = [one for one in timed if one.kind == "write"]
    of_completed = _of_completed(load)

    def each_us(kinds: Sequence[StatementType]) -> float | None:
        us = _ratio(_total_us(kinds), load.transactions) if kinds else None
        return None if us is None else us * of_completed

    return Statements(
        commit_us=each_us([one for one in timed if _is_commit(one)]),
        begin_us=each_us([one for one in timed if one.name.lower().startswith("begin")]),
        read_us=each_us(reads),
        write_us=each_us(writes),
        data_us=each_us([one for one in timed if one.kind in ("read", "write")]),
        all_us=each_us(timed),
        one_read_us=_ratio(_total_us(reads), sum(one.count for one in reads)),
        one_write_us=_ratio(_total_us(writes), sum(one.count for one in writes)),
    )


def _total_us(types: Sequence[StatementType]) -> float:
    return sum(one.count * one.latency_us.mean for one in types if one.latency_us)


def _of_completed(load: LoadResult) -> float:
    """Return by what the statements' time is multiplied to be that of completed transactions, at most 1.

    The statements of transactions that fail, or that the end of the measurement interrupts, are counted too.
    Without them no statements take longer than the transactions that they belong to.
    """
    counted_us = _total_us(load.statement_types)
    if load.latency_us is None or not load.transactions or not counted_us:
        return 1.0
    return min(load.latency_us.mean * load.transactions / counted_us, 1.0)


def _is_commit(statement: StatementType) -> bool:
    return statement.name.lower().startswith("commit")


def _commits_per_s(load: LoadResult) -> float | None:
    commits = sum(one.count for one in load.statement_types if _is_commit(one))
    writes = sum(one.count for one in load.statement_types if one.kind == "write")
    return _ratio(commits or writes, load.seconds)


# ---------------------------------------------------------------- the server's own account


Counts = Mapping[str, float | None]
"""What a server counted, by the names of `ServerAccount`."""


class _Account(NamedTuple):
    in_all: Counts
    per_s: Counts
    each: Counts
    """For a transaction."""
    sessions: Mapping[str, float] | None
    """Mean number that waited, by the server's own name for what they waited for."""


def _account(one: Audited) -> _Account | None:
    usage = one.trial.usage
    if usage is None or usage.account is None:
        return None
    counted = usage.account.model_dump(exclude={"waiting_sessions"}, exclude_none=True)
    if "log_flush_s" in counted:
        counted["log_flush_s"] += counted.get("binlog_flush_s", 0.0)
    per_s = {name: _ratio(value, usage.seconds) for name, value in counted.items()}
    each = {name: _ratio(value, one.load.transactions) for name, value in counted.items()}
    return _Account(counted, per_s, each, usage.account.waiting_sessions)


def _ratio(value: float | None, of: float | None) -> float | None:
    return value / of if value is not None and of else None
