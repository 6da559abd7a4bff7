"""Signals about the CPUs, the load generator, and a rate that the study sets."""

from collections.abc import Iterator

from diskproof.analysis.limits.disks import MICRO
from diskproof.analysis.limits.loaders import Loaders, load_machine_busy
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import Signal
from diskproof.analysis.limits.signals.judge import against, by_time, full_log, supports
from diskproof.analysis.limits.split import data_reads, load_generator, page_writes
from diskproof.analysis.limits.thresholds import FULL_SHARE, IDLE_SHARE, LITTLE, MOST, SELDOM
from diskproof.wording import Message, say, share, us


def cpus_busy(cpus: int | None, busy: float) -> Message:
    """Say how busy CPUs are: ``the 2 CPUs are 96% busy``, ``the only CPU is 96% busy``."""
    if cpus is None:
        return say("the CPUs are {busy} busy", busy=share(busy))
    form = "the only CPU is {busy} busy" if cpus == 1 else "the {cpus} CPUs are {busy} busy"
    return say(form, busy=share(busy), **({} if cpus == 1 else {"cpus": cpus}))


def each_client(seen: Observed) -> Message:
    """Say of whom a figure a client is."""
    return say("the one client") if seen.inside == 1 else say("each of {n} clients", n=seen.inside)


# ---------------------------------------------------------------- CPUs


def cpus_are_busy(seen: Observed) -> Iterator[Signal]:
    """Judge by the kernel whether the CPUs are full, or as busy as few clients can keep them."""
    busy, cpus, each = seen.cpu.busy, seen.cpu.count, seen.cpu.each_client
    if busy is None or not cpus:
        return
    said = cpus_busy(cpus, busy)
    if busy >= FULL_SHARE:
        if seen.cpu.runnable:
            said = say("{busy}, {n:2} threads are ready to run", busy=said, n=seen.cpu.runnable)
        yield supports("CPU", "kernel", said)
    elif each is not None and seen.inside < cpus and each >= MOST:
        form = "{who} keeps {n:2} of a CPU busy, of {cpus}"
        yield supports("CPU", "kernel", say(form, who=each_client(seen), n=min(each, 1.0), cpus=cpus))
    elif busy <= IDLE_SHARE and (each is None or seen.inside >= cpus or each <= IDLE_SHARE):
        yield against("CPU", "kernel", say("{busy} with this load", busy=said) if seen.bare else said)


def threads_compute(seen: Observed) -> Iterator[Signal]:
    """Count how many threads of the database computed, or were ready to.

    With a single client few are no evidence: a look takes a CPU itself, and the client may have to wait.
    """
    if seen.threads is not None:
        threads = seen.threads.at(["computing"]).threads
        says = say("on average {n:2} threads computed or waited for a CPU", n=threads)
        for signal in by_time("CPU", "threads", threads / seen.inside, says):
            if signal.supports or seen.inside > 1:
                yield signal


def nothing_to_wait_for(seen: Observed) -> Iterator[Signal]:
    """Judge by the server's account whether there was anything but a CPU to wait for."""
    waiting = seen.waiting_at_all
    if waiting is not None:
        form = "{n:2} of {clients} sessions waited for disks or locks on average"
        if waiting / seen.clients >= MOST:
            yield against("CPU", "server", say(form, n=waiting, clients=seen.clients))
        elif waiting / seen.clients <= LITTLE:
            yield supports("CPU", "server", say(f"only {form}", n=waiting, clients=seen.clients))
        return
    full = full_log(seen)
    if full is not None:  # clients may wait for room in a log by trying again and again
        yield against("CPU", "server", full)
        return
    each = seen.account_each
    needed = [each.page_reads, *([each.log_flushes] if seen.writes_anything else [])]
    known = [one for one in (*needed, each.clean_page_waits, each.lock_waits) if one is not None]
    if None not in needed and max(known) < SELDOM:
        says = say("the server hardly reads pages, flushes its log or waits for locks")
        yield supports("CPU", "server", says)


def statements_on_pages_in_memory(seen: Observed) -> Iterator[Signal]:
    """Judge by the clients' clock whether work on pages in memory takes the time: then they compute.

    Writes of one of many clients may wait for locks, those of one alone for room in the log or in the buffer
    pool, and COMMIT for the log, which the clients cannot tell apart.
    """
    if seen.elsewhere:
        return  # nothing shows whether that server computes
    own, commit = seen.own_us, seen.statements.commit_us
    what, work = say("reads"), seen.statements.read_us
    if (
        seen.inside == 1 and commit is not None and not _writes_wait(seen)
    ):  # else the flush is part of a write
        what, work = say("reads and writes"), seen.statements.data_us
    waited = _wait_for_pages_us(seen)
    if not own or work is None or waited is None:
        return
    if (work - waited) / own >= MOST:
        form = "{what} of pages in memory take {time} of {whole}"
        yield supports("CPU", "clients", say(form, what=what, time=us(work - waited), whole=us(own)))
    elif commit is not None and seen.inside == 1 and (own - commit) / own <= LITTLE:
        says = say("all but COMMIT takes {time} of {whole}", time=us(own - commit), whole=us(own))
        yield against("CPU", "clients", says)


def _writes_wait(seen: Observed) -> bool:
    """Return whether writes wait for room in the log or in the buffer pool."""
    return full_log(seen) is not None or (seen.account_each.clean_page_waits or 0.0) >= SELDOM


def _wait_for_pages_us(seen: Observed) -> float | None:
    """Return how long a transaction reads and writes pages at the disks; None if that is not known."""
    asked, at_disks = seen.account_each.page_reads, seen.disk_reads
    written, read = page_writes(seen), data_reads(seen)
    written_us = written.mean_us if written else 0.0
    if asked is not None and min(asked, asked if at_disks is None else at_disks) < SELDOM:
        return written_us
    return None if asked is None or read is None else read.mean_us + written_us


# ---------------------------------------------------------------- the load generator


def load_uses_most(seen: Observed) -> Iterator[Signal]:
    """Judge by the kernel whether the CPUs are full and the load generator has most of them.

    Fewer clients than CPUs leave CPUs idle, whatever they wait for. Then the load generator is the limit if
    it computes for at least half of each client's time.
    """
    if seen.loaders is not None:
        yield from _load_machine_is_full(seen.loaders)
        return
    busy, used = seen.cpu.busy, seen.cpu.used_us.get("load")
    if not seen.cpu.shares or busy is None or seen.embedded:
        return
    own = seen.cpu.shares.get("load", 0.0) * (1 - (seen.cpu.others_share or 0.0))
    each = used * seen.per_s / MICRO / seen.clients if used and seen.per_s else 0.0
    if own > MOST and busy >= FULL_SHARE:
        says = say(
            "the CPUs are {busy} busy, {own} of that with the load generator",
            busy=share(busy),
            own=share(own),
        )
        yield supports("load generator", "kernel", says)
    elif each >= MOST and seen.cpu.count and seen.clients < seen.cpu.count:
        form = "the load generator computes {each} of the time for each client"
        yield supports("load generator", "kernel", say(form, each=share(min(each, 1.0))))
    elif busy <= IDLE_SHARE or seen.cpu.shares.get("load", 0.0) <= LITTLE:
        form = "the load generator has {own} of the CPU time; the CPUs are {busy} busy"
        yield against("load generator", "kernel", say(form, own=share(own), busy=share(busy)))


def _load_machine_is_full(loaders: Loaders) -> Iterator[Signal]:
    says = load_machine_busy(loaders)
    if loaders.busy >= FULL_SHARE:
        yield supports("load generator", "kernel", says)
    elif loaders.busy <= IDLE_SHARE:
        yield against("load generator", "kernel", says)


def load_by_its_own_account(seen: Observed) -> Iterator[Signal]:
    """Judge by the load generator's own time in a transaction, and how busy its workers are.

    Behind a worker that computes all the time replies wait unread, which only the latencies show.
    """
    own_us = seen.own_us
    if seen.embedded or not own_us or not seen.per_s:
        return
    part, used, workers = load_generator(seen), seen.cpu.used_us.get("load"), seen.workers
    busy = used * seen.per_s / MICRO / workers if used is not None and workers else None
    if busy is not None and busy >= FULL_SHARE and workers and seen.clients > workers:
        form = "the load generator's {n} workers compute {busy} of the time"
        yield supports("load generator", "clients", say(form, n=workers, busy=share(busy)))
        return
    own = part.mean_us / own_us if part else None
    taken = say(
        "the load generator has {time} of {whole} for itself",
        time=us(part.mean_us if part else 0.0),
        whole=us(own_us),
    )
    if own is not None and own >= MOST:
        yield supports("load generator", "clients", taken)
    elif (
        seen.cpu.work_us is not None
        and used
        and used > seen.cpu.work_us
        and busy is not None
        and busy >= MOST
    ):
        form = "by its own account the load generator computes {time} of a transaction, the server {server}"
        yield supports("load generator", "clients", say(form, time=us(used), server=us(seen.cpu.work_us)))
    elif own is not None and own <= LITTLE and (busy is None or busy < MOST):
        yield against("load generator", "clients", taken)


# ---------------------------------------------------------------- a set rate


def rate_is_held(seen: Observed) -> Iterator[Signal]:
    """Judge by the clients' clock whether everything that arrived was served."""
    if not seen.rates:
        return
    asked = seen.rates[0].asked_per_s
    if all(rate.held for rate in seen.rates):
        yield supports("arrivals", "clients", say("{n} a second arrive, and none waits for long", n=asked))
    else:
        yield against("arrivals", "clients", say("{n} a second arrive, and some began late", n=asked))


def capacity_is_left(seen: Observed) -> Iterator[Signal]:
    """Judge by the kernel whether the CPUs have time to spare at a set rate."""
    if seen.rates and seen.cpu.busy is not None:
        judge = supports if seen.cpu.busy < FULL_SHARE else against
        yield judge("arrivals", "kernel", say("the CPUs are {busy} busy", busy=share(seen.cpu.busy)))
