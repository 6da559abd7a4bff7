"""What the valid trials of a cell observed about where its time goes: medians over trials, None-safe.

Figures of "a transaction" are in microseconds; of a job they are of a statement, of a load on bare files of a
request. Shares are of the counted time, and "present" is a mean number at any moment. A job makes tables
between its parts, which is counted and not timed: how much of what was counted is timed is told by `timed`.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from diskproof.analysis.evidence import Side
from diskproof.analysis.gather import Audited, Gathered
from diskproof.analysis.limits.disks import MICRO, Disk, counted_disks, middle, virtual_disks
from diskproof.results.load import LoadResult, StatementType
from diskproof.results.machine import Place
from diskproof.results.plan import Cell
from diskproof.results.record import Role
from diskproof.results.usage import Act, Activity, Doing, Party, ServerAccount, Usage
from diskproof.server.durability import LOG_ROLE, no_commit_waits
from diskproof.study.part import Family

LOG_ROLES: dict[Family, tuple[Role, ...]] = {
    "mysql": ("redo", "binlog"),
    "postgresql": ("redo",),
    "sqlite": (LOG_ROLE["sqlite"],),
}
"""Roles whose flush a commit waits for."""

KNOWN_TO_SERVE = 0.9
"""Of the clients' threads: those that were never found waiting for a client would be missed at the disks."""

MOSTLY = 0.8
"""Of the counted time, what a job must have timed for its counters to speak of it; a fifth decides little."""

WITH_ACCOUNT = "innodb"
"""The engine of the MySQL family whose pages, log and locks the server counts."""

PARTIES: tuple[Party, ...] = ("server", "load", "disks")


@dataclass(frozen=True)
class Observed:
    """One cell over its valid trials."""

    side: Side
    family: Family | None
    """None of a load on bare files, and of an unknown server."""
    places: Sequence[Place]
    data_bytes: int | None
    workers: int | None

    @staticmethod
    def of(gathered: Gathered, cell: Cell) -> "Observed | None":
        """Return what was observed in a cell; None where no valid trial counted anything."""
        side = Side.of(gathered, cell, None)
        if not any(one.trial.usage for one in side.trials):
            return None
        machine = gathered.machine
        places = [
            place
            for place in side.trials[-1].trial.places or (machine.places if machine else [])
            if place.storage == cell.storage
        ]
        known = {server.name: server.family for server in (machine.servers if machine else [])}
        return Observed(
            side=side,
            family=known.get(cell.server),
            places=places,
            data_bytes=side.data_bytes,
            workers=next((one.load.client.workers for one in side.trials if one.load.client), None),
        )

    # ------------------------------------------------------------ the load

    @property
    def cell(self) -> Cell:
        """The cell."""
        return self.side.cell

    @property
    def trials(self) -> Sequence[Audited]:
        """Its valid trials."""
        return self.side.trials

    @property
    def bare(self) -> bool:
        """Whether it is a load on files, without any database."""
        return not self.cell.has_server

    @property
    def embedded(self) -> bool:
        """Whether the database runs inside the load generator."""
        return self.family == "sqlite"

    @cached_property
    def transactional(self) -> bool:
        """Whether its latency is that of one kind of transaction, and no job's of many operations."""
        return not any(one.load.operations or one.load.iterations for one in self.trials)

    @cached_property
    def per_s(self) -> float | None:
        """What completes in a second: transactions, or requests on bare files."""
        return self._load(
            lambda load: load.transactions / load.seconds if load.transactions and load.seconds else None
        )

    @cached_property
    def timed(self) -> float | None:
        """Return which share of the time that was counted a job timed; None of any other load."""
        if self.transactional:
            return None
        return middle(
            min(one.load.seconds / one.trial.usage.seconds, 1.0)
            for one in self.trials
            if one.load.seconds and one.trial.usage and one.trial.usage.seconds
        )

    @cached_property
    def counted_s(self) -> float | None:
        """Return for how long a trial was counted."""
        return self._usage(lambda usage: usage.seconds)

    @property
    def speaks_of_the_load(self) -> bool:
        """Whether what was counted is mostly of what was timed."""
        return self.timed is None or self.timed >= MOSTLY

    @cached_property
    def latency_us(self) -> float | None:
        """Mean latency of a transaction; of a job, of its statements by the clients' clock.

        Of a load on bare files it is the time from one request to the next of the same client: the latency
        of a request has no part of the syncs that follow it. Of SQLite's writers it is that of Little's law
        where that is longer: a client whose turn does not come completes nothing, and its wait is in no
        latency.
        """
        if not self.transactional:
            return self.completed_us
        by_law = self.clients / self.per_s * MICRO if self.per_s else None
        if self.bare:
            return by_law
        completed = self.completed_us
        if completed is None or by_law is None or not self._take_turns or self._open_loop:
            return completed
        return max(completed, by_law)

    @cached_property
    def completed_us(self) -> float | None:
        """Mean latency of the transactions that completed, by the clients' clock; None where not told."""
        return self._load(lambda load: load.latency_us.mean if load.latency_us else None)

    @property
    def clients(self) -> int:
        """How many transactions can be under way."""
        return max(self.cell.clients, 1)

    @cached_property
    def inside(self) -> int:
        """How many clients can be at work in the database at a time.

        SQLite's writers come in one by one, and wait for each other at BEGIN IMMEDIATE.
        """
        return 1 if self.queue_us is not None else self.clients

    @cached_property
    def own_us(self) -> float | None:
        """Mean latency without the wait for other writers before a transaction may begin."""
        return None if self.latency_us is None else self.latency_us - (self.queue_us or 0.0)

    @cached_property
    def queue_us(self) -> float | None:
        """What a transaction of SQLite waits for other writers; None where nobody waits so.

        All but what those that completed took once they had begun.
        """
        begin = self.time_in(begins)
        if not self._take_turns or begin is None:
            return None
        if self.latency_us is None or self.completed_us is None:
            return begin
        return self.latency_us - (self.completed_us - begin)

    @property
    def _take_turns(self) -> bool:
        """Whether several clients write to one SQLite database, one at a time."""
        return self.embedded and bool(self.side.writes_anything) and self.clients > 1

    @property
    def _open_loop(self) -> bool:
        return any(one.load.rate for one in self.trials)

    def time_in(self, chosen: Callable[[StatementType], bool]) -> float | None:
        """Return the time of a transaction in some of its statements; None where there are none."""

        def share(load: LoadResult) -> float | None:
            found = [one for one in load.statement_types if chosen(one) and one.latency_us and one.count]
            if not found or not load.transactions:
                return None
            return sum(one.count * one.latency_us.mean for one in found if one.latency_us) / load.transactions

        return self._load(share)

    def mean_of(self, chosen: Callable[[StatementType], bool]) -> float | None:
        """Return the mean latency of some statements; None where there are none."""

        def mean(load: LoadResult) -> float | None:
            found = [one for one in load.statement_types if chosen(one) and one.latency_us and one.count]
            count = sum(one.count for one in found)
            return (
                sum(one.count * one.latency_us.mean for one in found if one.latency_us) / count
                if count
                else None
            )

        return self._load(mean)

    @cached_property
    def statements(self) -> float | None:
        """Statements of a transaction."""
        return self._load(
            lambda load: (
                load.statements / load.transactions if load.statements and load.transactions else None
            )
        )

    @property
    def brackets(self) -> bool:
        """Whether its transactions end with a COMMIT of their own."""
        return self.time_in(commits) is not None

    @property
    def commits_per_s(self) -> float | None:
        """Commits of the clients: an autocommitted write is one."""

        def rate(load: LoadResult) -> float | None:
            if not load.seconds:
                return None
            named = sum(one.count for one in load.statement_types if commits(one))
            return (
                named or sum(one.count for one in load.statement_types if one.kind == "write")
            ) / load.seconds

        return self._load(rate) if self.side.writes_anything else None

    @cached_property
    def delay_us(self) -> float | None:
        """What the load generator took to read and understand one reply."""
        return self._load(lambda load: load.client.delay_mean_us if load.client else None)

    # ------------------------------------------------------------ CPU

    def cpu_us(self, party: Party) -> float | None:
        """Return the CPU time that a party used for a transaction."""

        def used(one: Audited) -> float | None:
            usage = one.trial.usage
            if usage and party in usage.cpu:
                return usage.cpu[party].used_s
            if party == "server":
                return usage.server_cpu_s if usage else None
            return one.load.client.cpu_s if party == "load" and one.load.client else None

        return self._a_transaction(used)

    def waited_us(self, party: Party) -> float | None:
        """Return the time for which a party's threads were ready to run and had no CPU, a transaction."""

        def waited(one: Audited) -> float | None:
            usage = one.trial.usage
            if usage and party in usage.cpu:
                return usage.cpu[party].waited_s
            return one.load.client.waited_for_cpu_s if party == "load" and one.load.client else None

        return self._a_transaction(waited)

    @cached_property
    def work_us(self) -> float | None:
        """CPU time that the database used for a transaction, its background threads included."""
        return self.cpu_us("load" if self.embedded or self.bare else "server")

    @property
    def parties(self) -> tuple[Party, ...]:
        """Those that share the CPUs of server and load: virtual disks too, unless they keep to others."""
        return tuple(party for party in PARTIES if party != "disks" or not self.side.disks_apart)

    @cached_property
    def all_cpu_us(self) -> float | None:
        """CPU time for a transaction of all parties that share those CPUs."""
        known = [used for party in self.parties if (used := self.cpu_us(party)) is not None]
        return sum(known) if known and self.work_us is not None else None

    @cached_property
    def cpu_busy(self) -> float | None:
        """Share of the usable CPUs that was busy: with whoever, where that is known."""
        share = self.side.machine_share
        if share is not None:
            return share
        used, per_s, cpus = self.all_cpu_us, self.per_s, self.side.cpus
        return min(used * per_s / MICRO / cpus, 1.0) if used is not None and per_s and cpus else None

    @cached_property
    def others_share(self) -> float | None:
        """The share of the CPUs' busy time that other work on the machine had; None: not known.

        It is known where the busy time is that of the very CPUs that server and load could use.
        """
        busy, used, cpus = self.side.machine_share, self.all_cpu_us, self.side.cpus
        if not busy or used is None or not self.per_s or not cpus or self.side.counted_cpus != cpus:
            return None
        return max(1 - used * self.per_s / MICRO / (busy * cpus), 0.0)

    @cached_property
    def cpus_each(self) -> float | None:
        """How many CPUs each client keeps busy, with whoever works for it."""
        used, per_s = self.all_cpu_us, self.per_s
        return used * per_s / MICRO / self.inside if used is not None and per_s else None

    @cached_property
    def runnable(self) -> float | None:
        """Threads that ran or were ready to, in the mean."""
        return self._usage(lambda usage: usage.runnable_mean)

    # ------------------------------------------------------------ disks

    @property
    def log_roles(self) -> tuple[Role, ...]:
        """The roles whose flush a commit waits for."""
        return LOG_ROLES[self.family] if self.family else ()

    @cached_property
    def disks(self) -> list[Disk]:
        """The disks below the storage, as the kernel counted them."""
        return counted_disks(
            [one.trial for one in self.trials],
            self.places,
            self.side.one_at_a_time,
            counts_flushes=self.side.counts_flushes,
        )

    @cached_property
    def virtual(self) -> list[Disk]:
        """The virtual disks below the storage, as they counted themselves."""
        return virtual_disks([one.trial for one in self.trials], self.places)

    # ------------------------------------------------------------ threads

    @cached_property
    def watched(self) -> bool:
        """Whether the threads of the database were looked at."""
        return any(usage.activity for usage in self._usages())

    def found(self, act: Act, roles: Collection[Role] | None = None) -> tuple[float, float] | None:
        """Return the share of moments in which a thread was at it, and how many were in the mean.

        Of several roles the share is the largest of theirs: they may overlap. None where nobody looked.
        """
        return self._found((act,), roles)

    def at_the_log(self, roles: Collection[Role] | None = None) -> tuple[float, float] | None:
        """Return the share of moments in which a thread flushed or wrote a log, and how many did in the mean.

        Without `roles` of any log that a commit waits for. A log is written with its flush where the disk has
        no cache to be flushed; an embedded database's is one of the files of its data, which are written for
        other reasons too.
        """
        acts: tuple[Act, ...] = ("flushing",) if self.embedded else ("flushing", "writing")
        found = self._found(acts, self.log_roles if roles is None else roles)
        together = self._moments(lambda activity: activity.log_share)
        if found is None or together is None or roles is not None or self.embedded or not self.log_roles:
            return found
        return together, found[1]

    def served(self, act: Act, roles: Collection[Role]) -> float | None:
        """Return how many threads that serve clients were at it in the mean.

        None where nobody looked, or where fewer threads were known to serve than there are clients.
        """

        def threads(activity: Activity) -> float | None:
            if activity.serving is None or activity.serving < KNOWN_TO_SERVE * self.clients:
                return None
            return sum(one.serving or 0.0 for one in activity.doings if one.act == act and one.role in roles)

        return self._moments(threads)

    def _found(self, acts: Collection[Act], roles: Collection[Role] | None) -> tuple[float, float] | None:
        def doings(activity: Activity) -> list[Doing]:
            return [
                one for one in activity.doings if one.act in acts and (roles is None or one.role in roles)
            ]

        share = self._moments(lambda activity: max((one.share for one in doings(activity)), default=0.0))
        threads = self._moments(lambda activity: sum(one.threads for one in doings(activity)))
        return None if share is None or threads is None else (share, threads)

    def _moments(self, figure: Callable[[Activity], float | None]) -> float | None:
        """Return a mean over all moments of all trials: few were taken in each."""
        watched = [usage.activity for usage in self._usages() if usage.activity and usage.activity.moments]
        known = [(value, one.moments) for one in watched if (value := figure(one)) is not None]
        moments = sum(count for _, count in known)
        return sum(value * count for value, count in known) / moments if moments else None

    # ------------------------------------------------------------ the server's own account

    @cached_property
    def covers_tables(self) -> bool:
        """Whether the server's log and account are of the tables under test; of MyISAM's they are not."""
        engine = self.side.engine
        return self.family != "mysql" or engine is None or engine.lower() == WITH_ACCOUNT

    def account(self, figure: Callable[[ServerAccount], float | None]) -> float | None:
        """Return a figure of the server's account that is a level or a rate."""
        return self._usage(
            lambda usage: figure(usage.account) if usage.account and self.covers_tables else None
        )

    def account_per_s(self, figure: Callable[[ServerAccount], float | None]) -> float | None:
        """Return a figure of the server's account, a second."""

        def rate(usage: Usage) -> float | None:
            value = figure(usage.account) if usage.account and self.covers_tables else None
            return value / usage.seconds if value is not None and usage.seconds else None

        return self._usage(rate)

    def account_each(self, figure: Callable[[ServerAccount], float | None]) -> float | None:
        """Return a figure of the server's account, a transaction."""

        def amount(one: Audited) -> float | None:
            account = one.trial.usage.account if one.trial.usage else None
            value = figure(account) if account and self.covers_tables else None
            return value / one.load.transactions if value is not None and one.load.transactions else None

        return self._of_what_was_timed(middle(amount(one) for one in self.trials))

    def sessions(self, chosen: Callable[[str], bool]) -> float | None:
        """Return how many sessions waited for something in the mean; None where the server does not tell.

        Where it tells and nobody ever waited, that is 0.
        """
        return self.account(
            lambda account: (
                sum(count for name, count in account.waiting_sessions.items() if chosen(name))
                if account.waiting_sessions is not None
                else None
            )
        )

    def setting(self, name: str) -> str | None:
        """Return what the server answered about a variable that the study asked for."""
        settings = self.trials[0].trial.settings if self.trials else []
        return next((one.observed for one in settings if one.name == name), None)

    @cached_property
    def no_commit_waits(self) -> bool:
        """Whether by the settings that were read back no commit waits for a flush; False where not known."""
        settings = self.trials[0].trial.settings if self.trials else []
        observed = {one.name: one.observed for one in settings}
        return self.family is not None and no_commit_waits(self.family, observed)

    # ------------------------------------------------------------ medians

    def _usages(self) -> list[Usage]:
        return [one.trial.usage for one in self.trials if one.trial.usage]

    def _a_transaction(self, seconds: Callable[[Audited], float | None]) -> float | None:
        """Return a counter's seconds as microseconds a transaction; of a job those of what it timed."""

        def share(one: Audited) -> float | None:
            spent = seconds(one)
            return (
                spent / one.load.transactions * MICRO if spent is not None and one.load.transactions else None
            )

        return self._of_what_was_timed(middle(share(one) for one in self.trials))

    def _of_what_was_timed(self, counted: float | None) -> float | None:
        """Return what of a figure that was counted falls to the timed part of a job, as if spread evenly."""
        return None if counted is None else counted * (1.0 if self.timed is None else self.timed)

    def _load(self, figure: Callable[[LoadResult], float | None]) -> float | None:
        return middle(figure(one.load) for one in self.trials)

    def _usage(self, figure: Callable[[Usage], float | None]) -> float | None:
        return middle(figure(usage) for usage in self._usages())


def commits(statement: StatementType) -> bool:
    """Tell whether a statement ends a transaction."""
    return statement.name.lower().startswith("commit")


def begins(statement: StatementType) -> bool:
    """Tell whether a statement begins a transaction."""
    return statement.name.lower().startswith("begin")
