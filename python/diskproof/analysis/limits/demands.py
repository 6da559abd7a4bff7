"""For how long a transaction keeps each centre busy, and the bounds that follow (D = U m / X)."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.limits.disks import DATA, MICRO, holding
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Demand
from diskproof.analysis.limits.thresholds import DEEP
from diskproof.results.limit import Limit
from diskproof.stats.operational import Centre, saturation, utilisation


def demands_of(seen: Observed) -> list[Demand]:
    """Return the known service demands of a transaction; none if nothing completed.

    None also for a job that timed too little of what was counted.
    """
    if not seen.per_s or not seen.speaks_of_the_load:
        return []
    centres = [*_cpus(seen), *_log(seen, seen.per_s), *_writer(seen), *_arms(seen, seen.per_s), *_pages(seen)]
    return [
        Demand(
            centre=name,
            limit=limit,
            servers=centre.servers,
            demand_us=centre.demand * MICRO,
            utilisation=min(utilisation(seen.per_s, centre), 1.0),
            bound_per_s=saturation([centre]) if bounds else None,
        )
        for name, limit, centre, bounds in centres
    ]


def lowest_bound(demands: Sequence[Demand]) -> Demand | None:
    """Return the demand with the lowest bound."""
    known = [one for one in demands if one.bound_per_s is not None]
    return min(known, key=lambda one: one.bound_per_s or 0.0, default=None)


Found = Iterator[tuple[str, Limit, Centre, bool]]
"""A centre: its name, its limit, its demand in seconds, and whether it bounds throughput."""


def _cpus(seen: Observed) -> Found:
    if seen.cpu.all_us and seen.cpu.count:
        yield "CPU", "CPU", Centre(seen.cpu.all_us / MICRO, seen.cpu.count), True
    own_us = seen.cpu.used_us.get("load")
    if own_us and seen.workers and not seen.embedded and not seen.bare:
        yield "load generator", "load generator", Centre(own_us / MICRO, seen.workers), True


def _log(seen: Observed, per_s: float) -> Found:
    """Yield the flush of the log: one at a time, but all who wait share it, so it bounds nothing."""
    logs = [one for one in holding(seen.disks, seen.log_roles) if one.flush]
    if seen.threads is not None:
        busy = seen.threads.at_log.share
    else:
        shares = [one.flush.serial_share or 0.0 for one in logs if one.flush]
        busy = max(shares, default=0.0)
    if busy > 0 and not seen.bare:
        name = f"log flush on {logs[0].name}" if len(logs) == 1 else "log flush"
        yield name, "log flush", Centre(busy / per_s), False


def _writer(seen: Observed) -> Found:
    """Yield SQLite's one writer: others wait for it at BEGIN IMMEDIATE."""
    if seen.queue_us is not None and seen.own_us:
        yield "one writer at a time", "locks", Centre(seen.own_us / MICRO), True


def _arms(seen: Observed, per_s: float) -> Found:
    """Yield each disk that serves one request at a time, with what it was mostly asked for."""
    for disk in seen.disks:
        if not disk.one_at_a_time or not disk.busy:
            continue
        reads, writes = disk.read.present or 0.0, disk.write.present or 0.0
        if not seen.bare and (disk.flushing > reads or writes > reads):
            continue  # many commits share a flush; pages are written later
        limit: Limit = "disk" if seen.bare else "data reads"
        yield disk.name, limit, Centre(disk.busy / per_s), reads + writes >= DEEP


def _pages(seen: Observed) -> Found:
    """Yield the disk that writes pages, as if each changed page were written on its own.

    It bounds nothing: pages are written later, and once for many changes.
    """
    pages = seen.account_each.page_writes
    disks = [one for one in holding(seen.virtual or seen.disks, DATA) if one.one_at_a_time]
    if pages and len(disks) == 1 and disks[0].write.mean_us:
        name = f"page writes on {disks[0].name}"
        yield name, "page writes", Centre(pages * disks[0].write.mean_us / MICRO), False
