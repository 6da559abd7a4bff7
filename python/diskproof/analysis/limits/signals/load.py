"""What speaks for and against the load generator, and for a rate that the study sets."""

from collections.abc import Iterator

from diskproof.analysis.evidence import FULL_SHARE, IDLE_SHARE
from diskproof.analysis.limits.demands import parties_of_cpu
from diskproof.analysis.limits.disks import MICRO
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.shapes import Signal
from diskproof.analysis.limits.signals.judge import LITTLE, MOST, against, supports
from diskproof.analysis.limits.split import load_generator
from diskproof.analysis.limits.words import milliseconds, share


def load_uses_most(seen: Observed) -> Iterator[Signal]:
    """Ask the kernel whether the CPUs are full and the load generator has most of them.

    With fewer clients than CPUs it is asked whether the load generator computes most of the time for each of
    them: they leave CPUs idle whatever they wait for.
    """
    of_cpu, busy, used = parties_of_cpu(seen), seen.cpu_busy, seen.cpu_us("load")
    if not of_cpu or busy is None or seen.embedded:
        return
    own = of_cpu.get("load", 0.0) * (1 - (seen.others_share or 0.0))
    each = used * seen.per_s / MICRO / seen.clients if used and seen.per_s else 0.0
    if own > MOST and busy >= FULL_SHARE:
        says = f"the CPUs are {share(busy)} busy, {share(own)} of that with the load generator"
        yield supports("load generator", "kernel", says)
    elif each >= MOST and seen.side.cpus and seen.clients < seen.side.cpus:
        says = f"the load generator computes {share(min(each, 1.0))} of the time for each client"
        yield supports("load generator", "kernel", says)
    elif busy <= IDLE_SHARE or of_cpu.get("load", 0.0) <= LITTLE:
        says = f"the load generator has {share(own)} of the CPU time; the CPUs are {share(busy)} busy"
        yield against("load generator", "kernel", says)


def load_tells_of_itself(seen: Observed) -> Iterator[Signal]:
    """Ask the load generator for its own time in a transaction, and how busy its workers are.

    Behind a worker that computes all the time replies wait unread, in nobody's account but the latencies'.
    """
    if seen.embedded or not seen.own_us or not seen.per_s:
        return
    part, used, workers = load_generator(seen), seen.cpu_us("load"), seen.workers
    own = part.mean_us if part else None
    busy = used * seen.per_s / MICRO / workers if used is not None and workers else None
    taken = f"the load generator has {milliseconds(own or 0.0)} of {milliseconds(seen.own_us)} for itself"
    server = seen.work_us
    if busy is not None and busy >= FULL_SHARE and workers and seen.clients > workers:
        says = f"the load generator's {workers} workers compute {share(busy)} of the time"
        yield supports("load generator", "clients", says)
    elif own is not None and own / seen.own_us >= MOST:
        yield supports("load generator", "clients", taken)
    elif used is not None and server is not None and used > server and busy is not None and busy >= MOST:
        says = f"by its own account the load generator computes {milliseconds(used)} of a transaction"
        yield supports("load generator", "clients", f"{says}, the server {milliseconds(server)}")
    elif own is not None and own / seen.own_us <= LITTLE and (busy is None or busy < MOST):
        yield against("load generator", "clients", taken)


def rate_is_held(seen: Observed) -> Iterator[Signal]:
    """Ask the clients whether everything that arrived was served."""
    rates = [one.load.rate for one in seen.trials if one.load.rate]
    if not rates:
        return
    says = f"{rates[0].asked_per_s:g} a second arrive"
    if all(rate.held for rate in rates):
        yield supports("arrivals", "clients", f"{says}, and none waits for long")
    else:
        yield against("arrivals", "clients", f"{says}, and some were not begun in time")


def capacity_is_left(seen: Observed) -> Iterator[Signal]:
    """Ask the kernel, of a set rate, whether the CPUs have time to spare."""
    if any(one.load.rate for one in seen.trials) and seen.cpu_busy is not None:
        says = f"the CPUs are {share(seen.cpu_busy)} busy"
        yield Signal(limit="arrivals", instrument="kernel", supports=seen.cpu_busy < FULL_SHARE, says=says)
