"""The change that is held beside a limit, so that its size can be felt: a shorter flush, more CPUs."""

import math

from diskproof.analysis.evidence import FULL_SHARE
from diskproof.analysis.limits.disks import MICRO, holding
from diskproof.analysis.limits.foresee import Residence, quicker
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.shapes import CellLimit, PartName, WhatIf
from diskproof.analysis.limits.signals.judge import LITTLE
from diskproof.analysis.limits.split import DATA, answers_at_once
from diskproof.analysis.limits.words import milliseconds, times_as_much
from diskproof.stats.operational import Centre, pessimistic_throughput

ROUND_US = (10_000.0, 1000.0, 100.0, 10.0)
"""Times to compare with: the largest that is at most a third of what there is."""


def imagine(seen: Observed, limit: CellLimit) -> WhatIf | None:
    """Return what a useful change would do; None where there is none to name, or too little known."""
    residence = Residence.of(limit)
    if residence is None:
        return None
    match limit.limit:
        case "log flush":
            return _shorter(seen, residence, "log flush")
        case "data reads":
            return _shorter(seen, residence, "data reads")
        case "CPU" if seen.others_share is None or seen.others_share >= LITTLE:
            return None  # what other work has of the CPUs, or would leave of more of them, is not known
        case "CPU":
            return _more_cpus(residence) if (seen.cpu_busy or 0) >= FULL_SHARE else _faster_cpus(residence)
        case "load generator":
            return _load_elsewhere(seen)
        case "arrivals":
            return _at_capacity(seen, limit)
        case _:
            return None


def _shorter(seen: Observed, residence: Residence, name: PartName) -> WhatIf | None:
    written_us = write_us(seen) if name == "log flush" else None
    now_us = written_us or (flush_us(seen) if name == "log flush" else read_us(seen))
    if now_us is None:
        return None
    target_us = next((one for one in ROUND_US if one <= now_us / 3), now_us / 2)
    what = "write" if written_us else "flush" if name == "log flush" else "read"
    found = quicker(residence, name, target_us / now_us, "")
    if found is None:
        return None
    target = f"{target_us / 1000:g} ms" if target_us in ROUND_US else milliseconds(target_us)
    says = f"a disk with a {target} {what} would give about {times_as_much(found.ratio)}"
    return found.model_copy(update={"says": says})


def flush_us(seen: Observed) -> float | None:
    """Return what one flush of the log's disk takes; None where nobody counted."""
    return next(
        (
            disk.flush.mean_us
            for disks in (seen.disks, seen.virtual)
            for disk in holding(disks, seen.log_roles)
            if disk.flush and disk.flush.mean_us
        ),
        None,
    )


def write_us(seen: Observed) -> float | None:
    """Return what one write takes where it is the flush, as without a volatile cache; None elsewhere."""
    return next(
        (
            disk.write.mean_us
            for disks in (seen.disks, seen.virtual)
            for disk in holding(disks, seen.log_roles)
            if answers_at_once(disk)
        ),
        None,
    )


def read_us(seen: Observed) -> float | None:
    """Return what one read of the data's disk takes; None where nobody counted."""
    return next(
        (
            disk.read.mean_us
            for disks in (seen.disks, seen.virtual)
            for disk in holding(disks, DATA)
            if disk.read.mean_us
        ),
        None,
    )


def _more_cpus(residence: Residence) -> WhatIf | None:
    """Return twice the CPUs: at the most all wait for them is gone, at the least all still meet there."""
    cpu = residence.cpu
    if cpu is None or cpu.demand <= 0:
        return None
    more = Centre(cpu.demand, cpu.servers * 2)
    computing = residence.part("CPU")[0] + residence.part("waiting for a CPU")[0]
    delay = max(residence.whole - max(computing, cpu.demand), 0.0)
    most = min(more.servers / more.demand, residence.clients / (delay + more.demand)) / residence.throughput
    least = pessimistic_throughput([more], residence.clients, delay)
    # What others have of the CPUs is not freed: twice as many give at most twice as much.
    high = min(max(most, 1.0), 2.0)
    low = min(max((least or 0.0) / residence.throughput, 1.0), high)
    ratio = math.sqrt(low * high)
    return WhatIf(
        says=f"twice the CPUs would give about {times_as_much(ratio)}, if nothing else gets in the way",
        ratio=ratio,
        low=low,
        high=high,
        basis=f"a transaction asks for {milliseconds(cpu.demand)} of CPU time on {cpu.servers} CPUs",
    )


def _faster_cpus(residence: Residence) -> WhatIf | None:
    """Return CPUs twice as fast: what is computed takes half as long, and whatever is not explained may."""
    computing = residence.part("CPU")[0] + residence.part("waiting for a CPU")[0]
    computing += residence.part("load generator")[0]
    if not computing:
        return None
    waits = sum(residence.part(name)[0] for name in ("log flush", "data reads", "page writes", "locks"))
    low, high = (
        residence.ratio(residence.whole - computing / 2),
        residence.ratio((residence.whole + waits) / 2),
    )
    low, high = min(low, high), max(low, high)
    return WhatIf(
        says=f"CPUs twice as fast would give about {times_as_much(math.sqrt(low * high))}",
        ratio=math.sqrt(low * high),
        low=low,
        high=high,
        basis=f"{milliseconds(computing)} of {milliseconds(residence.whole)} are computed",
    )


def _load_elsewhere(seen: Observed) -> WhatIf | None:
    """Return the load on a machine of its own: the server's CPUs full is the most that could be."""
    own, everything, cpus, per_s = seen.cpu_us("load"), seen.all_cpu_us, seen.side.cpus, seen.per_s
    if own is None or everything is None or everything <= own or not cpus or not per_s:
        return None
    most = cpus / (everything - own) * MICRO / per_s
    high = max(most, 1.0)
    return WhatIf(
        says=f"with the load on a machine of its own the server could do at most {times_as_much(high)}",
        ratio=high,
        low=1.0,
        high=high,
        basis=f"beside the load a transaction asks for {milliseconds(everything - own)} of CPU time",
    )


def _at_capacity(seen: Observed, limit: CellLimit) -> WhatIf | None:
    if limit.bound_per_s is None or not seen.per_s:
        return None
    high = max(limit.bound_per_s / seen.per_s, 1.0)
    return WhatIf(
        says=f"a higher rate would be served up to {times_as_much(high)} at the most",
        ratio=high,
        low=1.0,
        high=high,
        basis=f"{limit.bound_per_s:,.0f} a second are the lowest bound that is known",
    )
