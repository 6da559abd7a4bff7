"""The change that is named beside a limit, so that its size can be felt: a shorter flush, more CPUs."""

import math

from diskproof.analysis.limits.disks import DATA, MICRO, first_known
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.prediction import Residence, quicker
from diskproof.analysis.limits.records import CellLimit, PartName, WhatIf
from diskproof.analysis.limits.thresholds import FULL_SHARE, LITTLE, ROUND_US
from diskproof.stats.operational import Centre, pessimistic_throughput
from diskproof.wording import Message, per_s, say, share, us


def what_if(seen: Observed, limit: CellLimit) -> WhatIf | None:
    """Return what a useful change would do; None if there is none to name, or too little is known."""
    residence = Residence.of(limit)
    if residence is None:
        return None
    match limit.limit:
        case "log flush" | "data reads":
            return _shorter(seen, residence, limit.limit)
        case "CPU" if seen.cpu.others_share is None or seen.cpu.others_share >= LITTLE:
            return None  # other work may take what more CPUs would leave
        case "CPU":
            return _more_cpus(residence) if (seen.cpu.busy or 0) >= FULL_SHARE else _faster_cpus(residence)
        case "load generator" if seen.loaders is None:
            return _load_elsewhere(seen)
        case "arrivals":
            return _at_capacity(seen, limit)
        case _:
            return None


def as_much(ratio: float) -> Message:
    """Say a ratio of throughputs: ``6.1 times as much``, ``23% more``, ``18% less``."""
    if ratio >= 2:
        return say("{ratio:2} times as much", ratio=ratio)
    return say("{n} more", n=share(ratio - 1)) if ratio >= 1 else say("{n} less", n=share(1 - ratio))


def _shorter(seen: Observed, residence: Residence, name: PartName) -> WhatIf | None:
    accounts, roles, what = (seen.disks, seen.virtual), DATA, "read"
    now_us = first_known(accounts, roles, lambda disk: disk.read.mean_us)
    if name == "log flush":
        # Without a volatile cache the write is the flush.
        roles, what = seen.log_roles, "write"
        at_once = first_known(
            accounts, roles, lambda disk: disk.write.mean_us if disk.answers_at_once else None
        )
        flush_us = first_known(accounts, roles, lambda disk: disk.flush.mean_us if disk.flush else None)
        now_us, what = (at_once, "write") if at_once else (flush_us, "flush")
    if now_us is None:
        return None
    target_us = next((one for one in ROUND_US if one <= now_us / 3), now_us / 2)
    found = quicker(residence, name, target_us / now_us, say(""))
    if found is None:
        return None
    target = (
        say("{ms} ms", ms=target_us / 1000) if target_us in ROUND_US else say("{time}", time=us(target_us))
    )
    form = "a disk with a {target} {what} would give about {gain}"
    says = say(form, target=target, what=what, gain=as_much(found.ratio))
    return found.model_copy(update={"says": says})


def _more_cpus(residence: Residence) -> WhatIf | None:
    """Return the effect of twice the CPUs: at most no wait for them is left, at least all meet there."""
    cpu = residence.cpu
    if cpu is None or cpu.demand <= 0:
        return None
    more = Centre(cpu.demand, cpu.servers * 2)
    delay = max(residence.whole - max(residence.computing, cpu.demand), 0.0)
    most = min(more.servers / more.demand, residence.clients / (delay + more.demand)) / residence.throughput
    least = pessimistic_throughput([more], residence.clients, delay)
    # Other work keeps its CPU time: twice as many CPUs give at most twice as much.
    high = min(max(most, 1.0), 2.0)
    low = min(max((least or 0.0) / residence.throughput, 1.0), high)
    ratio = math.sqrt(low * high)
    form = "twice the CPUs would give about {gain}, if nothing else gets in the way"
    basis = say(
        "a transaction asks for {time} of CPU time on {cpus} CPUs", time=us(cpu.demand), cpus=cpu.servers
    )
    return WhatIf(says=say(form, gain=as_much(ratio)), ratio=ratio, low=low, high=high, basis=basis)


def _faster_cpus(residence: Residence) -> WhatIf | None:
    """Return the effect of CPUs twice as fast: computing takes half as long, the unexplained time may."""
    computing = residence.computing + residence.all_of("load generator")
    if not computing:
        return None
    waits = residence.all_of("log flush", "data reads", "page writes", "locks")
    ends = (residence.whole - computing / 2, (residence.whole + waits) / 2)
    low, high = sorted(residence.ratio(one) for one in ends)
    ratio = math.sqrt(low * high)
    says = say("CPUs twice as fast, for the load generator too, would give about {gain}", gain=as_much(ratio))
    basis = say("{time} of {whole} is computing", time=us(computing), whole=us(residence.whole))
    return WhatIf(says=says, ratio=ratio, low=low, high=high, basis=basis)


def _load_elsewhere(seen: Observed) -> WhatIf | None:
    """Return the load on a machine of its own: then at most the server's CPUs are full."""
    own, everything, per_s_now = seen.cpu.used_us.get("load"), seen.cpu.all_us, seen.per_s
    if own is None or everything is None or everything <= own or not seen.cpu.count or not per_s_now:
        return None
    high = max(seen.cpu.count / (everything - own) * MICRO / per_s_now, 1.0)
    says = say("with the load on a machine of its own the server could do at most {gain}", gain=as_much(high))
    basis = say("without the load a transaction asks for {time} of CPU time", time=us(everything - own))
    return WhatIf(says=says, ratio=high, low=1.0, high=high, basis=basis)


def _at_capacity(seen: Observed, limit: CellLimit) -> WhatIf | None:
    if limit.bound_per_s is None or not seen.per_s:
        return None
    high = max(limit.bound_per_s / seen.per_s, 1.0)
    says = say("the server could do at most {gain} at a higher rate", gain=as_much(high))
    basis = say("the lowest known bound is {bound}", bound=per_s(limit.bound_per_s))
    return WhatIf(says=says, ratio=high, low=1.0, high=high, basis=basis)
