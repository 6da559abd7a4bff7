"""What the threads of a database were found at, while it was measured."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import get_args

from diskproof.analysis.gather import Audited
from diskproof.analysis.limits.thresholds import KNOWN_TO_SERVE
from diskproof.results.record import ROLES, Role
from diskproof.results.usage import Act, Activity, Doing

EVERY_ACT: tuple[Act, ...] = get_args(Act)
EVERY_ROLE: tuple[Role | None, ...] = (*ROLES, None)

Done = Mapping[tuple[Act, Role | None], Doing]
"""What threads were found at, by act and role."""


@dataclass(frozen=True)
class Found:
    """What threads of the database were found at, over all moments of all trials."""

    share: float
    """Share of moments with a thread at it; of several roles the largest, since they may overlap."""
    threads: float
    """Mean number of threads."""


@dataclass(frozen=True)
class Threads:
    """What threads were found at: means over all moments of all trials, since each trial has few."""

    watched: Sequence[tuple[Activity, Done]]
    """Of the trials in which somebody could look."""
    clients: int
    log_roles: Collection[Role]
    embedded: bool

    def at(self, acts: Collection[Act], roles: Collection[Role | None] = EVERY_ROLE) -> Found:
        """Return what was found of some acts, on files of some roles."""
        doings = [_at(done, acts, roles) for _, done in self.watched]
        return Found(
            share=self._pooled(max((one.share for one in some), default=0.0) for some in doings) or 0.0,
            threads=self._pooled(sum(one.threads for one in some) for some in doings) or 0.0,
        )

    def serving(
        self, acts: Collection[Act] = EVERY_ACT, roles: Collection[Role | None] = EVERY_ROLE
    ) -> float | None:
        """Return the mean number of threads that serve clients at that; all but those that wait for them.

        None: too few threads were known to serve.
        """
        return self._pooled(
            None
            if activity.serving is None or activity.serving < KNOWN_TO_SERVE * self.clients
            else sum(one.serving or 0.0 for one in _at(done, acts, roles))
            for activity, done in self.watched
        )

    def logging(self, roles: Collection[Role]) -> Found:
        """Return what was found at logs of these roles: without a cache the write is the flush.

        An embedded database's log is one of its data files, which are written for other reasons too: flushing
        alone.
        """
        return self.at(["flushing"] if self.embedded else ["flushing", "writing"], roles)

    @cached_property
    def at_log(self) -> Found:
        """Flushing or writing a log that a commit waits for."""
        found, share = self.logging(self.log_roles), self._pooled(one.log_share for one, _ in self.watched)
        return found if share is None or not self.log_roles or self.embedded else replace(found, share=share)

    def _pooled(self, figures: Iterable[float | None]) -> float | None:
        of_each = zip(self.watched, figures, strict=True)
        known = [(value, activity.moments) for (activity, _), value in of_each if value is not None]
        moments = sum(count for _, count in known)
        return sum(value * count for value, count in known) / moments if moments else None


def threads_of(
    trials: Sequence[Audited], clients: int, log_roles: Collection[Role], *, embedded: bool
) -> Threads | None:
    """Return what threads were found at; None if nobody could look."""
    watched = [seen for one in trials if (seen := one.once(_watched)) is not None]
    return Threads(watched, clients, log_roles, embedded) if watched else None


def _watched(trial: Audited) -> tuple[Activity, Done] | None:
    activity = trial.trial.usage.activity if trial.trial.usage else None
    if activity is None or not activity.moments:
        return None
    return activity, {(one.act, one.role): one for one in activity.doings}


def _at(done: Done, acts: Iterable[Act], roles: Iterable[Role | None]) -> list[Doing]:
    return [done[kind] for kind in product(acts, roles) if kind in done]
