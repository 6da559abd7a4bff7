"""What the threads of a database were found at, while it was measured."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import get_args

from diskproof.analysis.gather import Audited
from diskproof.analysis.limits.disks import BINLOG, DATA, REDO
from diskproof.analysis.limits.thresholds import KNOWN_TO_SERVE
from diskproof.results.record import ROLES, Role
from diskproof.results.usage import Act, Activity, Doing

EVERY_ACT: tuple[Act, ...] = get_args(Act)
EVERY_ROLE: tuple[Role | None, ...] = (*ROLES, None)


@dataclass(frozen=True)
class Found:
    """What threads of the database were found at, over all moments of all trials."""

    share: float
    """Share of moments with a thread at it; of several roles the largest, since they may overlap."""
    threads: float
    """Mean number of threads."""


@dataclass(frozen=True)
class Threads:
    """What the threads of the database were found at."""

    computing: Found
    asleep: Found
    at_log: Found
    """Flushing or writing a log that a commit waits for: without a cache the write is the flush. An embedded
    database's log is one of its data files, which are written for other reasons too: flushing alone."""
    at_redo: Found
    at_binlog: Found
    writing_log: Found
    flushing_log: Found
    flushing_redo: Found
    flushing_binlog: Found
    flushing_data: Found
    serving_reads: float | None
    """Mean number of threads that serve clients and read data. None: too few threads were known to serve."""
    serving_writes: float | None
    serving_flushes: float | None
    serving: float | None = None
    """Mean number of threads that serve clients and do anything but wait for them."""


def threads_of(
    trials: Sequence[Audited], clients: int, log_roles: Collection[Role], *, embedded: bool
) -> Threads | None:
    """Return what threads were found at: means over all moments of all trials, since each trial has few."""
    watched = [seen for one in trials if (seen := one.once(_watched)) is not None]
    if not watched:
        return None

    def pooled(figures: Iterable[float | None]) -> float | None:
        of_each = zip(watched, figures, strict=True)
        known = [(value, activity.moments) for (activity, _), value in of_each if value is not None]
        moments = sum(count for _, count in known)
        return sum(value * count for value, count in known) / moments if moments else None

    def found(acts: Collection[Act], roles: Collection[Role | None] = EVERY_ROLE) -> Found:
        doings = [_at(done, acts, roles) for _, done in watched]
        return Found(
            share=pooled(max((one.share for one in some), default=0.0) for some in doings) or 0.0,
            threads=pooled(sum(one.threads for one in some) for some in doings) or 0.0,
        )

    def serving(acts: Collection[Act], roles: Collection[Role | None] = EVERY_ROLE) -> float | None:
        return pooled(
            None
            if activity.serving is None or activity.serving < KNOWN_TO_SERVE * clients
            else sum(one.serving or 0.0 for one in _at(done, acts, roles))
            for activity, done in watched
        )

    at: tuple[Act, ...] = ("flushing",) if embedded else ("flushing", "writing")
    at_log, log_share = found(at, log_roles), pooled(activity.log_share for activity, _ in watched)
    if log_share is not None and log_roles and not embedded:
        at_log = replace(at_log, share=log_share)
    return Threads(
        computing=found(["computing"]),
        asleep=found(["waiting"]),
        at_log=at_log,
        at_redo=found(at, REDO),
        at_binlog=found(at, BINLOG),
        writing_log=found(["writing"], log_roles),
        flushing_log=found(["flushing"], log_roles),
        flushing_redo=found(["flushing"], REDO),
        flushing_binlog=found(["flushing"], BINLOG),
        flushing_data=found(["flushing"], DATA),
        serving_reads=serving(["reading"], DATA),
        serving_writes=serving(["writing"], DATA),
        serving_flushes=serving(["flushing"], DATA),
        serving=serving(EVERY_ACT),
    )


Done = Mapping[tuple[Act, Role | None], Doing]


def _watched(trial: Audited) -> tuple[Activity, Done] | None:
    """Return what threads were found at, also by act and role; None if nobody could look."""
    activity = trial.trial.usage.activity if trial.trial.usage else None
    if activity is None or not activity.moments:
        return None
    return activity, {(one.act, one.role): one for one in activity.doings}


def _at(done: Done, acts: Iterable[Act], roles: Iterable[Role | None]) -> list[Doing]:
    return [done[kind] for kind in product(acts, roles) if kind in done]
