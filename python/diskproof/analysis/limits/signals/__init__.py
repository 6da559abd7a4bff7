"""Signals that support or contradict a limit: one function an instrument, silent if its figures are open."""

from collections.abc import Callable, Iterator

from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Signal
from diskproof.analysis.limits.signals import computing, files, log, pages, sessions

OF_DATABASES: tuple[Callable[[Observed], Iterator[Signal]], ...] = (
    computing.rate_is_held,
    computing.capacity_is_left,
    log.commits_take,
    log.flushed_by_threads,
    log.flushed_by_disks,
    log.flushed_by_server,
    pages.reads_by_server,
    pages.reads_at_disks,
    pages.reads_by_threads,
    pages.reads_at_models,
    pages.reads_by_clients,
    pages.writes_at_disks,
    pages.writes_by_threads,
    pages.writes_by_server,
    computing.load_uses_most,
    computing.load_by_its_own_account,
    sessions.round_trips_take,
    sessions.sessions_wait_for_clients,
    sessions.network_is_full,
    computing.cpus_are_busy,
    computing.threads_compute,
    computing.nothing_to_wait_for,
    computing.statements_on_pages_in_memory,
    sessions.locks_by_server,
    sessions.locks_by_clients,
    sessions.locks_by_threads,
)

OF_FILES = (files.requests_at_disks, files.requests_at_models, files.load_waits, computing.cpus_are_busy)

OF_JOBS_IN_PART = (log.commits_take, log.write_takes_a_flush)
"""Signals that can be read even if the job timed only a small part of the counted time."""


def signals_of(seen: Observed) -> list[Signal]:
    """Return all that supports or contradicts any limit of a cell."""
    if not seen.speaks_of_the_load:
        return [signal for ask in OF_JOBS_IN_PART for signal in ask(seen)]
    return [signal for ask in (OF_FILES if seen.bare else OF_DATABASES) for signal in ask(seen)]
