"""What a transaction asks of each centre, and the throughput that none can exceed (D = U m / X)."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.limits.disks import MICRO, Disk, holding
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.shapes import Demand
from diskproof.analysis.limits.split import DATA
from diskproof.results.limit import Limit
from diskproof.stats.operational import Centre, saturation, utilisation

DEEP = 4
"""From so many requests under way on, a disk's order of serving them has little more to gain: its demand at
that depth is a bound. With fewer, more of them would be served in less time each."""


def demands_of(seen: Observed) -> list[Demand]:
    """Return the service demands of a transaction that are known; empty where nothing completed.

    Empty, too, of a job of which too much was counted and not timed.
    """
    if not seen.per_s or not seen.speaks_of_the_load:
        return []
    return [*_cpus(seen), *_log(seen), *_writer(seen), *_arms(seen), *_pages(seen)]


def bound_of(demands: Sequence[Demand]) -> float | None:
    """Return the lowest of the demands' bounds."""
    return min((one.bound_per_s for one in demands if one.bound_per_s is not None), default=None)


def _cpus(seen: Observed) -> Iterator[Demand]:
    used, cpus = seen.all_cpu_us, seen.side.cpus
    if used and cpus:
        yield _demand(seen, "CPU", "CPU", cpus, used, bounds=True)
    own = seen.cpu_us("load")
    if own and seen.workers and not seen.embedded and not seen.bare:
        yield _demand(seen, "load generator", "load generator", seen.workers, own, bounds=True)


def _log(seen: Observed) -> Iterator[Demand]:
    """Yield the flush of the log: one at a time, shared by all who wait for it, so that it bounds nothing."""
    busy = flush_busy(seen)
    if busy is None:
        return
    share, who = busy
    if share > 0 and seen.per_s and not seen.bare:
        yield _demand(
            seen, f"log flush {who}".strip(), "log flush", 1, share / seen.per_s * MICRO, bounds=False
        )


def _writer(seen: Observed) -> Iterator[Demand]:
    """Yield SQLite's one place for a writer: others wait for it at BEGIN IMMEDIATE."""
    if seen.queue_us is not None and seen.own_us:
        yield _demand(seen, "one writer at a time", "locks", 1, seen.own_us, bounds=True)


def flush_busy(seen: Observed) -> tuple[float, str] | None:
    """Return the share of time with a log's flush under way, and where: by the threads, else the disks."""
    found = seen.at_the_log()
    logs = [one for one in holding(seen.disks, seen.log_roles) if one.flush]
    where = f"on {logs[0].name}" if len(logs) == 1 else ""
    if found is not None:
        return found[0], where
    shares = [one.flush.serial_share for one in logs if one.flush and one.flush.serial_share is not None]
    return (max(shares), where) if shares else None


def _arms(seen: Observed) -> Iterator[Demand]:
    """Yield each disk that serves one request at a time, with what it was mostly asked for."""
    for disk in seen.disks:
        if not disk.one_at_a_time or not disk.busy or not seen.per_s:
            continue
        reads, writes = disk.read.present or 0.0, disk.write.present or 0.0
        flushes = (disk.flush.present or 0.0) if disk.flush else 0.0
        if not seen.bare and flushes > reads:
            continue  # what a flush keeps busy, many commits share
        limit: Limit = "disk" if seen.bare else "data reads" if reads >= writes else "page writes"
        if limit != "page writes":
            deep = reads + writes >= DEEP
            yield _demand(seen, disk.name, limit, 1, disk.busy / seen.per_s * MICRO, bounds=deep)


def _pages(seen: Observed) -> Iterator[Demand]:
    """Yield the disk that writes pages, were each page that is changed written for itself.

    It bounds nothing: pages are written later, and once for many changes.
    """
    pages = seen.account_each(lambda account: account.page_writes)
    disks = [one for one in holding(seen.virtual or seen.disks, DATA) if one.one_at_a_time]
    if not pages or len(disks) != 1 or not disks[0].write.mean_us:
        return
    yield _demand(
        seen,
        f"page writes on {disks[0].name}",
        "page writes",
        1,
        pages * disks[0].write.mean_us,
        bounds=False,
    )


def _demand(
    seen: Observed, centre: str, limit: Limit, servers: int, demand_us: float, *, bounds: bool
) -> Demand:
    of_it = Centre(demand_us / MICRO, servers)
    return Demand(
        centre=centre,
        limit=limit,
        servers=servers,
        demand_us=demand_us,
        utilisation=min(utilisation(seen.per_s or 0.0, of_it), 1.0),
        bound_per_s=saturation([of_it]) if bounds else None,
    )


def busiest(disks: Sequence[Disk]) -> Disk | None:
    """Return the disk that had most to do; None of none."""
    return max(disks, key=lambda one: one.busy or 0.0, default=None)


def parties_of_cpu(seen: Observed) -> dict[str, float]:
    """Return what share of the CPUs that they have in common each party had; empty: it is not known."""
    used = {party: cpu for party in seen.parties if (cpu := seen.cpu_us(party))}
    total = sum(used.values())
    return {party: cpu / total for party, cpu in used.items()} if total else {}
