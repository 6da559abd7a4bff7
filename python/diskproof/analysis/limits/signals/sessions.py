"""Signals about sessions that wait: for locks, and for what lies between them and their clients."""

from collections.abc import Iterator

from diskproof.analysis.limits.disks import MICRO
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Signal
from diskproof.analysis.limits.signals.judge import against, by_sessions, by_time, supports
from diskproof.analysis.limits.split import load_generator, network
from diskproof.analysis.limits.thresholds import FAR_LONGER, FULL_SHARE, IDLE_SHARE, LITTLE, MOST
from diskproof.wording import say, share, us


def locks_by_server(seen: Observed) -> Iterator[Signal]:
    """Judge by the server's account: sessions that wait for locks, or its time in lock waits."""
    if "locks" in seen.waiting:
        yield from by_sessions(seen, "locks", "{n:2} of {clients} sessions waited for a lock on average")
        return
    timed_s, own = seen.account_each.lock_wait_s, seen.latency_us
    if timed_s is not None and own and not seen.embedded:
        waited_us = min(timed_s * MICRO, own)  # transactions that do not complete wait too
        says = say("the server counted {time} of lock waits in {whole}", time=us(waited_us), whole=us(own))
        yield from by_time("locks", "server", waited_us / own, says)


def locks_by_clients(seen: Observed) -> Iterator[Signal]:
    """Judge by the clients' clock whether writes take far longer than reads: both find the same pages."""
    times, own = seen.statements, seen.own_us
    total, write, read = times.write_us, times.one_write_us, times.one_read_us
    if times.commit_us is None or seen.embedded or total is None or not own or write is None:
        return
    says = say("writes before COMMIT take {time} of {whole}", time=us(total), whole=us(own))
    if total / own <= LITTLE:
        yield against("locks", "clients", says)
    elif total / own >= MOST and (read is None or write >= FAR_LONGER * read):
        yield supports("locks", "clients", says)


def locks_by_threads(seen: Observed) -> Iterator[Signal]:
    """Count how many threads slept while no log was flushed: those who share a flush sleep as well."""
    if seen.threads is None or seen.embedded:
        return
    asleep = seen.threads.at(["waiting"]).threads
    says = say("{n:2} threads were asleep for one another on average", n=asleep)
    if asleep / seen.inside <= LITTLE:
        yield against("locks", "threads", says)
    elif asleep / seen.inside >= MOST and seen.threads.at_log.share <= IDLE_SHARE:
        yield supports("locks", "threads", says)


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
    working = seen.threads.serving()
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
