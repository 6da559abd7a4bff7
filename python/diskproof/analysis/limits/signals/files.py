"""Signals about the disk of a load on bare files."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.limits.disks import Disk, named
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Signal
from diskproof.analysis.limits.signals.judge import against, by_time, supports
from diskproof.analysis.limits.thresholds import FULL_SHARE, LITTLE, MOST
from diskproof.wording import counted, say, share, us


def requests_at_disks(seen: Observed) -> Iterator[Signal]:
    """Judge by the kernel how many of the clients' requests are at the disks on average."""
    known = _present(seen.disks)
    if not known or len(known) < len(seen.disks):
        return
    busy = max(one.busy or 0.0 for one in seen.disks)
    says = say(
        "{n:2} {n:request|requests} of {clients} {n:was|were} at {disks}, busy {busy} of the time",
        n=sum(known),
        clients=counted(seen.clients, "client"),
        disks=named(seen.disks),
        busy=share(busy),
    )
    if busy >= FULL_SHARE and sum(known) / seen.clients >= MOST:
        yield supports("disk", "kernel", says)
    elif sum(known) / seen.clients <= LITTLE and busy < MOST:
        yield against("disk", "kernel", says)


def requests_at_models(seen: Observed) -> Iterator[Signal]:
    """Judge by the virtual disks how many requests they had on average."""
    known = _present(seen.virtual)
    if known:
        says = say(
            "{n:2} {n:request|requests} of {clients} {n:was|were} at the virtual disk {disks}",
            n=sum(known),
            clients=counted(seen.clients, "client"),
            disks=named(seen.virtual),
        )
        yield from by_time("disk", "virtual disk", sum(known) / seen.clients, says)


def load_waits(seen: Observed) -> Iterator[Signal]:
    """Judge by the load what it computes of a request: the rest it waits, for a CPU if those are full."""
    used, latency = seen.cpu.used_us.get("load"), seen.latency_us
    if used is None or not latency or (seen.cpu.busy or 0.0) >= FULL_SHARE:
        return
    says = say("the load computes {time} of {whole}", time=us(used), whole=us(latency))
    if used / latency <= LITTLE:
        yield supports("disk", "clients", says)
        yield against("CPU", "clients", says)
    elif used / latency >= MOST:
        yield against("disk", "clients", says)
        yield supports("CPU", "clients", says)


def _present(disks: Sequence[Disk]) -> list[float]:
    """Return the mean number of requests at each disk; flushes count with the writes that ask for them."""
    return [
        one.read.present + max(one.write.present, one.flushing)
        for one in disks
        if one.read.present is not None and one.write.present is not None
    ]
