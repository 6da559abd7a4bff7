"""What speaks for and against the disk of a load on bare files."""

from collections.abc import Iterator

from diskproof.analysis.evidence import FULL_SHARE
from diskproof.analysis.limits.disks import Disk
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.shapes import Signal
from diskproof.analysis.limits.signals.judge import LITTLE, MOST, against, by_time, names, supports
from diskproof.analysis.limits.split import digits_of
from diskproof.analysis.limits.words import milliseconds, share
from diskproof.analysis.words import clients


def requests_at_the_disks(seen: Observed) -> Iterator[Signal]:
    """Ask the kernel how many of the clients' requests are at the disks in the mean."""
    known = [present for one in seen.disks if (present := _present(one)) is not None]
    if not known or len(known) < len(seen.disks):
        return
    busy = max(one.busy or 0.0 for one in seen.disks)
    says = f"{_of_clients(seen, known)} were at {names(seen.disks)}, busy {share(busy)} of the time"
    if busy >= FULL_SHARE and sum(known) / seen.clients >= MOST:
        yield supports("disk", "kernel", says)
    elif sum(known) / seen.clients <= LITTLE and busy < MOST:
        yield against("disk", "kernel", says)


def requests_at_the_models(seen: Observed) -> Iterator[Signal]:
    """Ask the virtual disks for the requests with them."""
    known = [present for one in seen.virtual if (present := _present(one)) is not None]
    if known:
        says = f"{_of_clients(seen, known)} were with the virtual disk {names(seen.virtual)}"
        yield from by_time("disk", "virtual disk", sum(known) / seen.clients, says)


def load_waits(seen: Observed) -> Iterator[Signal]:
    """Ask the load for what it computes of a request: the rest it waits, for a CPU where those are full."""
    used, latency = seen.cpu_us("load"), seen.latency_us
    if used is None or not latency or (seen.cpu_busy or 0.0) >= FULL_SHARE:
        return
    says = f"the load computes {milliseconds(used)} of {milliseconds(latency)}"
    if used / latency <= LITTLE:
        yield supports("disk", "clients", says)
        yield against("CPU", "clients", says)
    elif used / latency >= MOST:
        yield against("disk", "clients", says)
        yield supports("CPU", "clients", says)


def _present(disk: Disk) -> float | None:
    """Return the requests at a disk; flushes count with the writes that ask for them."""
    if disk.read.present is None or disk.write.present is None:
        return None
    return disk.read.present + max(disk.write.present, (disk.flush.present or 0.0) if disk.flush else 0.0)


def _of_clients(seen: Observed, known: list[float]) -> str:
    return f"{digits_of(sum(known))} requests of {clients(str(seen.clients))}"
