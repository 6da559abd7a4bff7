"""What the valid trials of a cell measured, as one record: medians over trials.

A figure of "a transaction" is in microseconds; for a job it is of a statement, for a load on bare files of a
request. A job also makes tables between its parts, which is counted but not timed: `timed` is the share of
the counted time that it timed, and counters are scaled by it. None always means: not observed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import get_args

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
    """One cell over its valid trials."""

    family: Family | None
    """None for a load on bare files, and for an unknown server."""
    bare: bool
    """Whether it is a load on files, without a database."""
    embedded: bool
    """Whether the database runs inside the load generator."""
    elsewhere: bool
    """Whether the server was there already: nothing is known of its CPUs, its threads and its disks."""
    log_roles: tuple[Role, ...]
    """Roles whose flush a commit waits for."""
    settings: Mapping[str, str | None]
    """Variables as the first trial read them back."""
    no_commit_waits: bool
    """Whether by those settings no commit waits for a flush; False if they are not known."""
    covers_tables: bool
    """Whether the server's log and account cover the tables under test; they do not cover MyISAM's."""
    rows: int | None

    clients: int
    """How many transactions can be under way."""
    inside: int
    """How many clients the database serves at a time: SQLite's writers enter one by one."""
    transactional: bool
    """Whether its latency is of one kind of transaction, unlike that of a job of many operations."""
    timed: float | None
    """The share of the counted time that a job timed; None for any other load."""
    counted_s: float | None
    per_s: float | None
    """What completes in a second: transactions, or requests on bare files."""
    latency_us: float | None
    """Mean latency of a transaction; for a job, of its statements.

    On bare files it is the time from one request of a client to its next: a request's own latency leaves out
    the syncs after it. For SQLite's writers it is that of Little's law if that is longer: a client whose turn
    does not come completes nothing, so no latency includes its wait.
    """
    completed_us: float | None
    """Mean latency of completed transactions."""
    queue_us: float | None
    """What a transaction of SQLite waits for other writers: all but what completed ones took after BEGIN."""
    own_us: float | None
    """The latency without that wait."""
    statements: Statements
    statement_count: float | None
    """Statements of a transaction."""
    commits_per_s: float | None
    """Commits of the clients: an autocommitted write is one."""
    delay_us: float | None
    """What the load generator took to read and parse one reply."""
    rates: Sequence[Rate]
    """Of each trial, if the study sets a rate."""
    replayed: bool
    """Whether it is a log's load."""
    workers: int | None
    loaders: Loaders | None
    """The machines of the load; None: it runs beside the server."""

    cpu: Cpu
    disks: Sequence[Disk]
    """As the kernel counted them."""
    virtual: Sequence[Disk]
    """As the virtual disks counted themselves."""
    threads: Threads | None
    """None: threads were not sampled."""
    account: ServerAccount
    """Levels and totals."""
    account_per_s: ServerAccount
    account_each: ServerAccount
    """A transaction."""
    waiting: Mapping[Limit, float]
    """Mean number of sessions that waited, by limit; empty if the server does not report it."""
    waiting_at_all: float | None

    @property
    def speaks_of_the_load(self) -> bool:
        """Whether most of what was counted was timed."""
        return self.timed is None or self.timed >= MOSTLY_TIMED


def observe(gathered: Gathered, cell: Cell) -> Observed | None:
    """Return what was observed in a cell; None if no valid trial counted anything."""
    side, machine = Side.of(gathered, cell), gathered.machine_of(cell)
    trials = side.trials
    if not any(one.trial.usage for one in trials):
        return None
    server = machine.server(cell.server) if machine else None
    family = server.family if server else None
    facts = of(family) if family else None
    embedded, log_roles = (facts.embedded, facts.log_roles) if facts else (False, ())
    bare, clients = not cell.has_server, max(cell.clients, 1)
    found = trials[-1].trial.places or (machine.places if machine else [])
    places = [place for place in found if place.storage == cell.storage]
    settings = {one.name: one.observed for one in trials[0].trial.settings}
    covers_tables = facts is None or facts.has_commits(side.engine)
    transactional = not any(one.load.operations or one.load.iterations for one in trials)
    rates = [one.load.rate for one in trials if one.load.rate]

    timed = None if transactional else middle(_timed(one) for one in trials)
    per_s = _of_load(trials, lambda load: _ratio(load.transactions or None, load.seconds))
    statements = Statements(**medians([vars(one.once(_statements)) for one in trials]))
    in_line = embedded and side.writes_anything and clients > 1
    completed_us = latency_us = _of_load(
        trials, lambda load: load.latency_us.mean if load.latency_us else None
    )
    if transactional and (bare or (in_line and completed_us is not None and per_s and not rates)):
        by_law = clients / per_s * MICRO if per_s else None
        latency_us = by_law if bare or by_law is None else max(completed_us or 0.0, by_law)
    queue_us = statements.begin_us if in_line else None
    if queue_us is not None and latency_us is not None and completed_us is not None:
        queue_us = latency_us - (completed_us - queue_us)
    inside = 1 if queue_us is not None else clients

    elsewhere = server is not None and server.address is not None
    database: Party | None = "load" if embedded or bare else None if elsewhere else "server"

    def each(value: float | None, one: Audited) -> float | None:
        amount = _ratio(value, one.load.transactions)
        return None if amount is None else amount * (1.0 if timed is None else timed)

    accounted = trials if covers_tables else []
    waiting, waiting_at_all = _waiting(accounted)
    account, account_per_s, account_each = _accounts(accounted, timed)
    return Observed(
        **vars(side),
        family=family,
        bare=bare,
        embedded=embedded,
        elsewhere=elsewhere,
        log_roles=log_roles,
        settings=settings,
        no_commit_waits=family is not None and no_commit_waits(family, settings),
        covers_tables=covers_tables,
        rows=next((one.trial.data.rows for one in trials if one.trial.data), None),
        clients=clients,
        inside=inside,
        transactional=transactional,
        timed=timed,
        counted_s=middle(one.trial.usage.seconds for one in trials if one.trial.usage),
        per_s=per_s,
        latency_us=latency_us,
        completed_us=completed_us,
        queue_us=queue_us,
        own_us=None if latency_us is None else latency_us - (queue_us or 0.0),
        statements=statements,
        statement_count=_of_load(trials, lambda load: _ratio(load.statements or None, load.transactions)),
        commits_per_s=_of_load(trials, _commits_per_s) if side.writes_anything else None,
        delay_us=_of_load(trials, lambda load: load.client.delay_mean_us if load.client else None),
        rates=rates,
        replayed=any(one.load.replay for one in trials),
        workers=next((one.load.client.workers for one in trials if one.load.client), None),
        loaders=loaders_of(trials),
        cpu=cpu_time(side, each, per_s, inside, database, taken_share(trials)),
        disks=counted_disks(trials, places, side.one_at_a_time, counts_flushes=side.counts_flushes),
        virtual=virtual_disks(trials, places),
        threads=threads_of(trials, clients, log_roles, embedded=embedded),
        account=account,
        account_per_s=account_per_s,
        account_each=account_each,
        waiting=waiting,
        waiting_at_all=waiting_at_all,
    )


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


Counted = dict[str, float | None]
"""What a server counted, by the names of `ServerAccount`."""


def _accounts(trials: Sequence[Audited], timed: float | None) -> list[ServerAccount]:
    """Return what the server counted: in all, in a second, and for a transaction."""
    counted = [found for one in trials if (found := one.once(_account)) is not None]
    in_all, per_s, each = ([one[kind] for one in counted] for kind in range(3))
    if timed is not None:
        each = [{name: value and value * timed for name, value in one.items()} for one in each]
    return [ServerAccount.model_validate(medians(figures)) for figures in (in_all, per_s, each)]


def _account(one: Audited) -> tuple[Counted, Counted, Counted] | None:
    usage = one.trial.usage
    if usage is None or usage.account is None:
        return None
    counted = usage.account.model_dump(exclude={"waiting_sessions"}, exclude_none=True)
    if "log_flush_s" in counted:
        counted["log_flush_s"] += counted.get("binlog_flush_s", 0.0)
    seconds, transactions = usage.seconds, one.load.transactions
    per_s = {name: _ratio(value, seconds) for name, value in counted.items()}
    return counted, per_s, {name: _ratio(value, transactions) for name, value in counted.items()}


def _waiting(trials: Sequence[Audited]) -> tuple[dict[Limit, float], float | None]:
    """Return how many sessions waited on average; if the server reports it and nobody waited, that is 0."""
    accounts = [one.trial.usage.account for one in trials if one.trial.usage and one.trial.usage.account]
    sessions = [one.waiting_sessions for one in accounts if one.waiting_sessions is not None]
    by_limit = [
        {
            limit: sum(n for name, n in one.items() if limit_of_wait(name) == limit)
            for limit in get_args(Limit)
        }
        for one in sessions
    ]
    if not by_limit:
        return {}, None
    known = {limit: median(one[limit] for one in by_limit) for limit in get_args(Limit)}
    return known, median(sum(one.values()) for one in by_limit)


# ---------------------------------------------------------------- medians


def _ratio(value: float | None, of: float | None) -> float | None:
    return value / of if value is not None and of else None


def _of_load(trials: Sequence[Audited], figure: Callable[[LoadResult], float | None]) -> float | None:
    return middle(figure(one.load) for one in trials)
