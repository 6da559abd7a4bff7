"""All signals of a cell."""

from collections.abc import Callable, Iterator

from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.shapes import Signal
from diskproof.analysis.limits.signals import cpu, files, load, locks, log, pages

Ask = Callable[[Observed], Iterator[Signal]]

OF_DATABASES: tuple[Ask, ...] = (
    load.rate_is_held,
    load.capacity_is_left,
    log.commits_take,
    log.flushed_by_threads,
    log.flushed_by_disks,
    log.flushed_by_models,
    log.flushed_by_the_server,
    pages.reads_by_the_server,
    pages.reads_at_the_disks,
    pages.reads_by_threads,
    pages.reads_at_the_models,
    pages.reads_by_clients,
    pages.writes_at_the_disks,
    pages.writes_by_threads,
    pages.writes_by_the_server,
    load.load_uses_most,
    load.load_tells_of_itself,
    cpu.cpus_are_busy,
    cpu.threads_compute,
    cpu.nothing_to_wait_for,
    cpu.statements_on_pages_in_memory,
    locks.locks_by_the_server,
    locks.locks_by_clients,
    locks.locks_by_threads,
)

OF_FILES: tuple[Ask, ...] = (
    files.requests_at_the_disks,
    files.requests_at_the_models,
    files.load_waits,
    cpu.cpus_are_busy,
)


OF_JOBS_IN_PART: tuple[Ask, ...] = (log.commits_take, log.write_takes_a_flush)
"""Those that need no share of the counted time, of which the job itself had too little."""


def signals_of(seen: Observed) -> list[Signal]:
    """Return all that speaks for or against any limit of a cell."""
    asked = OF_FILES if seen.bare else OF_DATABASES
    return [signal for ask in (asked if seen.speaks_of_the_load else OF_JOBS_IN_PART) for signal in ask(seen)]
