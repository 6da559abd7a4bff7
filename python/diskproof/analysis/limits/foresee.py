"""What a change would do to a cell's throughput, foreseen from where its time goes.

All of it is the response time law of a closed loop without thinking, X = N / R (Denning and Buzen 1978), with
the parts of R that the change touches made longer or shorter, and the bounds of what is left (Lazowska et al.
1984, chapter 5). The band is what the record leaves open, case by case; it is no allowance for error:

- slower flushes. Each takes longer by a known time, and what comes of that is the sum over the flushes that
  a transaction waits for (`awaited.py`): one client's own; of several one of each log at the least, and as
  clients then come less often, reads need not wait in line for the same disk; at the most twice that, for
  each commit may find a flush that has only just begun. What a flush waits for a platter stays what it was:
  a disk that turns is slowed by whole turns (`run/interventions.py`).
- flushes relaxed. At the most all of W goes, until the next centre is full; at the least only S goes, and a
  transaction finds all others before it at the CPUs and, where every page that it changed is written at
  once, at the disk (pessimistic bound).
- slower reads. Each answer comes later by a known time that is no work of the disk's: A for all that a
  transaction reads. At the most nothing becomes shorter for it: R + A. At the least the line before the disk
  is gone, as clients come less often, and of the wait W only the disk's own work S is left: R - W + S + A,
  and not less than R. Of a disk that serves many at a time S is not known apart from the line, and may be
  nothing.
- quicker flushes or reads, by f < 1, are those of another disk, whose own work is shorter: R - (1 - f) W; or
  only S is, R - (1 - f) S, and of several clients' reads the line is gone besides: R - W + f S.
- half the CPUs. At the most what the CPUs left can serve, where each transaction may compute a little less
  than before (`CHEAPER_BY`); at the least it computes as much and finds all others there. Both of what server
  and load compute: virtual disks keep all CPUs. With fewer clients than CPUs half of them may be no loss.
- twice the memory. Misses shrink as under even access, (data - 2 memory) / (data - memory), or only by the
  square root of 2 (Hartstein et al., "Cache miss behavior: is it sqrt(2)?", 2006), whatever is less or more.
"""

import math
from dataclasses import dataclass
from typing import Literal

from diskproof.analysis.limits.shapes import Awaited, CellLimit, Demand, PartName, WhatIf
from diskproof.analysis.limits.signals.judge import LITTLE
from diskproof.analysis.words import digits, percent
from diskproof.results.limit import Intervention
from diskproof.stats.operational import Centre, pessimistic_throughput, saturation

CHEAPER_BY = 0.3
"""By how much less a transaction may compute on half the CPUs, where threads wake each other without leaving
their CPU and its caches: point selects of MariaDB in memory were seen to take 14% to 27% less."""


@dataclass(frozen=True)
class Residence:
    """The time of a mean transaction, as the laws need it; in microseconds, or as shares of 1."""

    clients: int
    whole: float
    parts: dict[PartName, tuple[float, float | None]]
    """By name: all of it, and what of that the resource itself takes; None: that is not known apart."""
    cpu: Centre | None
    pages: Centre | None
    """The disk that writes pages, were each written at once."""

    @staticmethod
    def of(limit: CellLimit) -> "Residence | None":
        """Return it of a cell; None where too little is known.

        Writers that enter one by one are as one client that never waits for another. A job has no
        transactions to split. With one client the share of the time in which a centre was busy
        is its share of the residence too.
        """
        clients = max(limit.cell.clients, 1)
        writer = _demand(limit, "locks")
        if writer is not None and limit.split is not None:
            return Residence(1, writer.demand_us, _parts(limit), _centre(limit, "CPU"), None)
        if limit.split is not None and limit.split.latency_us > 0:
            centres = _centre(limit, "CPU"), _centre(limit, "page writes")
            return Residence(clients, limit.split.latency_us, _parts(limit), *centres)
        return _of_shares(limit, clients) if limit.demands else None

    @property
    def throughput(self) -> float:
        """X = N / R."""
        return self.clients / self.whole

    def part(self, name: PartName) -> tuple[float, float]:
        """Return all of a part and what of it is service; 0 of what was not seen at all.

        What is not known apart is all service.
        """
        whole, service = self.parts.get(name, (0.0, 0.0))
        return whole, whole if service is None else service

    def least_service(self, name: PartName) -> float:
        """Return what of a part is service in any case.

        Of several clients' wait that is not known apart none need be.
        """
        whole, service = self.parts.get(name, (0.0, 0.0))
        if service is not None:
            return service
        return whole if self.clients == 1 else 0.0

    def ratio(self, residence: float) -> float:
        """Return throughput at another residence over throughput now."""
        return self.whole / max(residence, self.whole * 1e-6)


def foresee(limit: CellLimit, intervention: Intervention) -> WhatIf | None:
    """Return what an intervention is predicted to do to a cell; None where its record does not tell."""
    residence = Residence.of(limit)
    if residence is None:
        return None
    match intervention.change:
        case "slower flushes":
            return later(limit, residence, "log flush", intervention)
        case "slower reads":
            return later(limit, residence, "data reads", intervention)
        case "flushes relaxed":
            return without(residence, "log flush", intervention.says)
        case "half the CPUs":
            return fewer_cpus(limit, residence, intervention.says)
        case "twice the memory":
            return more_memory(limit, residence, intervention.says)


def why_unforeseen(limit: CellLimit, intervention: Intervention) -> str:
    """Say why `foresee` tells nothing of an intervention."""
    others = limit.others_cpu_share
    if intervention.change == "half the CPUs" and others is None:
        return "what other work on the machine had of the CPUs' time is not known"
    if intervention.change == "half the CPUs" and others is not None and others >= LITTLE:
        return f"other work on the machine had {percent(round(others, 2))} of the CPUs' time"
    on = ON.get(intervention.change)
    for disk in intervention.added_us:
        if on is not None and _awaited(limit, disk, on) is None:
            return f"for how many {PLURAL[on]} of `{disk}` a transaction waits is not known"
    return "what was recorded does not tell"


PLURAL = {"read": "reads", "flush": "flushes"}

ON: dict[str, Literal["read", "flush"]] = {"slower flushes": "flush", "slower reads": "read"}


def later(
    limit: CellLimit, residence: Residence, name: PartName, intervention: Intervention
) -> WhatIf | None:
    """Return what comes of flushes or reads that take longer by a fixed time, disk by disk.

    None where it is not known how many of some disk a transaction waits for, or where its own time is not.
    """
    if name not in residence.parts or limit.split is None or not intervention.added_us:
        return None
    on = ON[intervention.change]
    waits = [(_awaited(limit, disk, on), add_us) for disk, add_us in intervention.added_us.items()]
    known = [(one, add_us) for one, add_us in waits if one is not None]
    if len(known) < len(waits):
        return None
    least_us = sum(one.least * add_us for one, add_us in known)
    most_us = sum(one.most * add_us for one, add_us in known)
    gone_us = _line_that_goes(residence)
    low = residence.ratio(residence.whole + most_us)
    high = residence.ratio(max(residence.whole + least_us - gone_us, residence.whole))
    counts = " and ".join(
        f"{_count(one, on)} of `{one.disk}`, {digits(add_us / 1000, 3)} ms longer each"
        for one, add_us in known
    )
    return WhatIf(
        says=intervention.says,
        ratio=math.sqrt(low * high),
        low=low,
        high=high,
        basis=f"a transaction of {digits(residence.whole / 1000, 3)} ms waits for {counts}",
    )


def _line_that_goes(residence: Residence) -> float:
    """Return what several clients' reads may wait in line: as clients come less often, it goes."""
    if residence.clients == 1:
        return 0.0
    return residence.part("data reads")[0] - residence.least_service("data reads")


def _awaited(limit: CellLimit, disk: str, on: Literal["read", "flush"]) -> Awaited | None:
    return next((one for one in limit.awaited if (one.disk, one.on) == (disk, on)), None)


def _count(one: Awaited, on: Literal["read", "flush"]) -> str:
    least, most = digits(one.least, 2), digits(one.most, 2)
    return f"{least if least == most else f'{least} to {most}'} {PLURAL[on]}"


def quicker(residence: Residence, name: PartName, factor: float, says: str) -> WhatIf | None:
    """Return what comes of a part that takes `factor` times as long, less than 1, on another disk."""
    if name not in residence.parts:
        return None
    ends, most = _quicker(residence, name, factor), _next_bound(residence)
    whole, service = residence.part(name)
    apart = residence.parts[name][1] is not None
    low, high = sorted(min(residence.ratio(end), most) for end in ends)
    by_service = residence.ratio(residence.whole + (factor - 1) * service)
    by_all = residence.ratio(residence.whole + (factor - 1) * whole)
    estimate = by_service if residence.clients == 1 else by_all
    return WhatIf(
        says=says,
        ratio=min(max(estimate, low), high),
        low=low,
        high=high,
        basis=f"{name} is {_of(residence, whole)} of a transaction's time"
        + (f", {_of(residence, service)} its own service" if apart else "")
        + f"; each takes {digits(factor, 2)} times as long",
    )


def _quicker(residence: Residence, name: PartName, factor: float) -> tuple[float, float]:
    """Return the residence of another disk, whose own work is quicker, with its line and without."""
    whole, service = residence.part(name)
    by_all = residence.whole - (1 - factor) * whole
    if residence.clients > 1 and name != "log flush":
        # The queue for reads is the disk's, too: when they are quicker, all of it is, and it shrinks besides.
        return by_all, residence.whole - whole + factor * service
    return by_all, residence.whole - (1 - factor) * service


def without(residence: Residence, name: PartName, says: str) -> WhatIf | None:
    """Return what comes of a part that goes away."""
    if name not in residence.parts:
        return None
    whole, service = residence.part(name)
    high = min(residence.ratio(residence.whole - whole), _next_bound(residence))
    delay = max(residence.whole - service - _computed(residence), 0.0)
    centres = [one for one in (residence.cpu, residence.pages) if one is not None]
    least = pessimistic_throughput(centres, residence.clients, delay)
    low = high if least is None else min(max(least / residence.throughput, 1.0), high)
    return WhatIf(
        says=says,
        ratio=math.sqrt(low * high),
        low=low,
        high=high,
        basis=f"{name} is {_of(residence, whole)} of a transaction's time and goes; what is left is bounded "
        f"by {_bounded_by(residence)}",
    )


def fewer_cpus(limit: CellLimit, residence: Residence, says: str) -> WhatIf | None:
    """Return what comes of half the CPUs, one at the least, for server and load.

    None where other work has a considerable share of them, or it is not known which: how much of the rest it
    would take is not known.
    """
    cpu = residence.cpu
    others = limit.others_cpu_share
    if cpu is None or cpu.servers < 2 or cpu.demand <= 0 or others is None or others >= LITTLE:
        return None
    left = Centre(cpu.demand * (1 - (limit.disks_cpu_share or 0.0)), max(cpu.servers // 2, 1))
    most = saturation([left])
    if most is None:
        return None
    high = min(most / (1 - CHEAPER_BY) / residence.throughput, 1.0)
    computing = residence.part("CPU")[0] + residence.part("waiting for a CPU")[0]
    delay = max(residence.whole - (computing or left.demand), 0.0)
    least = pessimistic_throughput([left], residence.clients, delay)
    low = high if least is None else min(least / residence.throughput, high)
    if residence.clients < cpu.servers:
        high = 1.0
    busy = residence.throughput * left.demand
    return WhatIf(
        says=says,
        ratio=math.sqrt(low * high),
        low=low,
        high=high,
        basis=f"server and load keep {digits(busy, 2)} of {cpu.servers} CPUs busy; {left.servers} can serve "
        f"{percent(round(left.servers / busy, 2))} of that, or more if transactions then compute up to "
        f"{percent(CHEAPER_BY)} less",
    )


def more_memory(limit: CellLimit, residence: Residence, says: str) -> WhatIf | None:
    """Return what comes of twice the memory for pages."""
    data, memory = limit.data_bytes, limit.cell.memory_bytes
    if "data reads" not in residence.parts or data is None or not memory:
        return None
    evenly = max(data - 2 * memory, 0) / max(data - memory, 1) if data > memory else 0.0
    reads = residence.part("data reads")[0]
    fewest, most = sorted((evenly, 1 / math.sqrt(2)))
    ratios = [
        min(residence.ratio(residence.whole - (1 - left) * reads), _next_bound(residence))
        for left in (most, fewest)
    ]
    return WhatIf(
        says=says,
        ratio=math.sqrt(ratios[0] * ratios[1]),
        low=ratios[0],
        high=ratios[1],
        basis=f"data reads are {_of(residence, reads)} of a transaction's time, of which "
        f"{percent(round(fewest, 2))} to {percent(round(most, 2))} are left",
    )


def _parts(limit: CellLimit) -> dict[PartName, tuple[float, float | None]]:
    """Return the parts of a split.

    What of several clients' reads is the disk's own work is told by one that serves one at a time, by its
    time busy with each request. On bare files it is told by nobody else.
    """
    assert limit.split is not None
    parts: dict[PartName, tuple[float, float | None]] = {
        part.name: (part.mean_us, part.service_us) for part in limit.split.parts
    }
    if "data reads" not in parts:
        return parts
    reads, service = parts["data reads"]
    busy_us = [one.demand_us for one in limit.demands if one.limit == "disk"]
    if busy_us:
        writes = parts.get("page writes", (0.0, None))[0]
        service = min(reads, sum(busy_us) * reads / (reads + writes))
    elif limit.cell.clients > 1 and _demand(limit, "data reads") is None:
        service = None
    return {**parts, "data reads": (reads, service)}


def _of_shares(limit: CellLimit, clients: int) -> Residence | None:
    cpu = _demand(limit, "CPU")
    parts: dict[PartName, tuple[float, float | None]] = {}
    if clients == 1:
        for demand in limit.demands:
            if demand.limit in ("log flush", "data reads"):
                parts[demand.limit] = (demand.utilisation, demand.utilisation)
    # Of a residence of 1 the throughput is N: D = U m / X.
    centre = Centre(cpu.utilisation * cpu.servers / clients, cpu.servers) if cpu else None
    return Residence(clients, 1.0, parts, centre, None) if parts or centre else None


def _centre(limit: CellLimit, name: str) -> Centre | None:
    found = _demand(limit, name)
    return Centre(found.demand_us, found.servers) if found else None


def _demand(limit: CellLimit, name: str) -> Demand | None:
    return next((one for one in limit.demands if one.limit == name), None)


def _computed(residence: Residence) -> float:
    """Return the time at the CPUs, that for which they are waited for included."""
    seen = residence.part("CPU")[0] + residence.part("waiting for a CPU")[0]
    return seen or (residence.cpu.demand if residence.cpu else 0.0)


def _next_bound(residence: Residence) -> float:
    """Return the ratio at which the CPUs are full; endless where their demand is not known."""
    most = saturation([residence.cpu]) if residence.cpu else None
    return math.inf if most is None else max(most / residence.throughput, 1.0)


def _bounded_by(residence: Residence) -> str:
    if residence.cpu is None:
        return "nothing that was observed"
    most = residence.cpu.servers / residence.cpu.demand / residence.throughput if residence.cpu.demand else 0
    pages = " and by pages that are written at once" if residence.pages else ""
    return (
        f"{residence.cpu.servers} CPUs, full at {digits(most, 2)} times as much{pages}" if most else "no CPU"
    )


def _of(residence: Residence, part: float) -> str:
    return percent(round(part / residence.whole, 2))
