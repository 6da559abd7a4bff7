"""What speaks for and against the CPUs."""

from collections.abc import Iterator

from diskproof.analysis.evidence import FULL_SHARE, IDLE_SHARE
from diskproof.analysis.limits.observed import Observed, commits
from diskproof.analysis.limits.shapes import Signal
from diskproof.analysis.limits.signals.judge import (
    LITTLE,
    MOST,
    against,
    by_time,
    full_log,
    of_clients,
    supports,
)
from diskproof.analysis.limits.split import SELDOM, digits_of
from diskproof.analysis.limits.words import cpus_busy, milliseconds
from diskproof.server.postgresql.waits import limit_of


def cpus_are_busy(seen: Observed) -> Iterator[Signal]:
    """Ask the kernel for the CPUs: full, or as busy as few clients can keep them."""
    busy, cpus, each = seen.cpu_busy, seen.side.cpus, seen.cpus_each
    if busy is None or not cpus:
        return
    runnable = f", {seen.runnable:.2g} threads want to run" if seen.runnable else ""
    said = cpus_busy(cpus, busy)
    if busy >= FULL_SHARE:
        yield supports("CPU", "kernel", f"{said}{runnable}")
    elif each is not None and seen.inside < cpus and each >= MOST:
        who = "the one client" if seen.inside == 1 else f"each of {seen.inside} clients"
        says = f"{who} keeps {min(each, 1.0):.2g} of a CPU busy, of {cpus}"
        yield supports("CPU", "kernel", says)
    elif busy <= IDLE_SHARE and (each is None or seen.inside >= cpus or each <= IDLE_SHARE):
        yield against("CPU", "kernel", said + (" with this load" if seen.bare else ""))


def threads_compute(seen: Observed) -> Iterator[Signal]:
    """Ask how many threads of the database were found computing, or ready to."""
    found = seen.found("computing")
    if found is not None:
        says = f"{digits_of(found[1])} threads were found computing, or ready to, in the mean"
        yield from by_time("CPU", "threads", found[1] / seen.inside, says)


def nothing_to_wait_for(seen: Observed) -> Iterator[Signal]:
    """Ask the server whether there was anything but a CPU to wait for."""
    waiting = seen.sessions(lambda name: limit_of(name) is not None)
    if waiting is not None:
        said = f"{of_clients(seen, waiting)} sessions waited for disks or locks in the mean"
        if waiting / seen.clients >= MOST:
            yield against("CPU", "server", said)
        elif waiting / seen.clients <= LITTLE:
            yield supports("CPU", "server", f"only {said}")
        return
    full = full_log(seen)
    if full is not None:  # clients that wait for room in a log may do so by trying again and again
        yield against("CPU", "server", full)
        return
    needed = [seen.account_each(lambda account: account.page_reads)]
    if seen.side.writes_anything:
        needed.append(seen.account_each(lambda account: account.log_flushes))
    further = [
        seen.account_each(lambda account: account.clean_page_waits),
        seen.account_each(lambda account: account.lock_waits),
    ]
    known = [count for count in (*needed, *further) if count is not None]
    if None not in needed and max(known) < SELDOM:
        says = "the server hardly reads pages, flushes its log or waits for locks"
        yield supports("CPU", "server", says)


def statements_on_pages_in_memory(seen: Observed) -> Iterator[Signal]:
    """Ask the clients whether reads take the time, where no page had to be read: then they compute.

    Writes may wait for locks, and COMMIT for the log: of those the clients cannot tell.
    """
    commit, own = seen.time_in(commits), seen.own_us
    number = seen.account_each(lambda account: account.page_reads)
    reads = seen.time_in(lambda one: one.kind == "read")
    if not own or number is None or number >= SELDOM:
        return
    if reads is not None and reads / own >= MOST:
        says = f"reads of pages in memory take {milliseconds(reads)} of {milliseconds(own)}"
        yield supports("CPU", "clients", says)
    elif commit is not None and reads is not None and seen.inside == 1 and (own - commit) / own <= LITTLE:
        says = f"all but COMMIT takes {milliseconds(own - commit)} of {milliseconds(own)}"
        yield against("CPU", "clients", says)
