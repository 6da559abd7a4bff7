"""Signals about the network between the load's machines and the server's."""

from collections.abc import Iterator

from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Signal
from diskproof.analysis.limits.signals.judge import by_time, supports
from diskproof.analysis.limits.split import load_generator, network
from diskproof.analysis.limits.thresholds import FULL_SHARE
from diskproof.wording import say, share, us


def round_trips_take(seen: Observed) -> Iterator[Signal]:
    """Judge by the number of statements and a round trip before the load, which no server shortens."""
    part = network(seen)
    if part is None or not seen.own_us:
        return
    says = say("round trips take {time} of {whole}", time=us(part.mean_us), whole=us(seen.own_us))
    yield from by_time("network", "clients", part.mean_us / seen.own_us, says)


def sessions_wait_for_clients(seen: Observed) -> Iterator[Signal]:
    """Judge by the server's threads whether their clients keep them waiting, beyond the load's own time."""
    if seen.loaders is None or seen.threads is None or not seen.own_us:
        return
    working = seen.threads.serving
    if working is None:
        return
    own = load_generator(seen)
    waiting = 1 - working / seen.clients - (own.mean_us / seen.own_us if own else 0.0)
    form = "on average {n:2} of {clients} sessions worked, the others waited for their client"
    says = say(form, n=working, clients=seen.clients)
    yield from by_time("network", "threads", max(waiting, 0.0), says)


def network_is_full(seen: Observed) -> Iterator[Signal]:
    """Judge by the bytes of the load's network interface against the throughput that was measured before."""
    used = seen.loaders.network_share if seen.loaders else None
    if used is not None and used >= FULL_SHARE:
        form = "the network carries {used} of what one connection could carry before"
        yield supports("network", "kernel", say(form, used=share(used)))
