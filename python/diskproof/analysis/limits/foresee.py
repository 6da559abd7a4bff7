"""What a change would do to a cell's throughput, foreseen from where its time goes.

All of it is the response time law of a closed loop without thinking, X = N / R (Denning and Buzen 1978), with
the parts of R that the change touches made longer or shorter, and the bounds of what is left (Lazowska et al.
1984, chapter 5). The band is what the record leaves open, case by case; it is no allowance for error:

- slower flushes, by f. A commit's wait W has its own flushes in it, S, the writes before them, and the wait
  for the flush under way. At the least only S is f times as long: R + (f - 1) S. At the most all of W is, and
  each commit finds a flush that has only just begun: R - W + f max(W, 2 S); and so much longer is the line in
  which reads wait for the same disk. With one client nobody else's flush is in the way, and the first is the
  estimate; else R + (f - 1) W, for the queue is made of flushes.
- flushes relaxed. At the most all of W goes, until the next centre is full; at the least only S goes, and a
  transaction finds all others before it at the CPUs and, where every page that it changed is written at once,
  at the disk (pessimistic bound).
- slower reads, by f. At the most all of the wait W for them is f times as long: R + (f - 1) W. At the least
  only the disk's own work S is, and the queue before it shrinks as far as it can: R - W + max(W, f S).
- half the CPUs. At the most what the CPUs left can serve; at the least each transaction finds all others
  there.
- twice the memory. Misses shrink as under even access, (data - 2 memory) / (data - memory), or only by the
  square root of 2 (Hartstein et al., "Cache miss behavior: is it sqrt(2)?", 2006), whatever is less or more.
"""

import math
from dataclasses import dataclass

from diskproof.analysis.limits.shapes import CellLimit, Demand, PartName, Split, WhatIf
from diskproof.analysis.words import digits, percent
from diskproof.results.limit import Intervention
from diskproof.stats.operational import Centre, pessimistic_throughput, saturation


@dataclass(frozen=True)
class Residence:
    """The time of a mean transaction, as the laws need it; in microseconds, or as shares of 1."""

    clients: int
    whole: float
    parts: dict[PartName, tuple[float, float]]
    """By name: all of it, and what of that the resource itself takes."""
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
            return Residence(1, writer.demand_us, _parts(limit.split), _centre(limit, "CPU"), None)
        if limit.split is not None and limit.split.latency_us > 0:
            centres = _centre(limit, "CPU"), _centre(limit, "page writes")
            return Residence(clients, limit.split.latency_us, _parts(limit.split), *centres)
        return _of_shares(limit, clients) if limit.demands else None

    @property
    def throughput(self) -> float:
        """X = N / R."""
        return self.clients / self.whole

    def part(self, name: PartName) -> tuple[float, float]:
        """Return all of a part and what of it is service; 0 of what was not seen at all."""
        return self.parts.get(name, (0.0, 0.0))

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
            return longer(residence, "log flush", intervention.factor, intervention.says)
        case "slower reads":
            return longer(residence, "data reads", intervention.factor, intervention.says)
        case "flushes relaxed":
            return without(residence, "log flush", intervention.says)
        case "half the CPUs":
            return fewer_cpus(residence, intervention.says)
        case "twice the memory":
            return more_memory(limit, residence, intervention.says)


def longer(residence: Residence, name: PartName, factor: float, says: str) -> WhatIf | None:
    """Return what comes of a part that takes `factor` times as long, or below 1 of one that is shortened."""
    if name not in residence.parts:
        return None
    whole, service = residence.part(name)
    by_service = residence.ratio(residence.whole + (factor - 1) * service)
    by_all = residence.ratio(residence.whole + (factor - 1) * whole)
    bounds = [by_service, by_all]
    rest = residence.whole - whole
    if residence.clients > 1 and name == "log flush" and factor > 1:
        reads, read_service = residence.part("data reads")
        in_line = (factor - 1) * (reads - read_service)
        bounds.append(residence.ratio(rest + factor * max(whole, 2 * service) + in_line))
    elif residence.clients > 1 and name != "log flush":
        # The queue for reads is the disk's, too: when they are quicker, all of it is, and it shrinks besides.
        other = max(whole, factor * service) if factor > 1 else factor * service
        bounds = [by_all, residence.ratio(rest + other)]
    most = _next_bound(residence) if factor < 1 else math.inf
    low, high = min(*bounds, most), min(max(bounds), most)
    estimate = by_service if residence.clients == 1 else by_all
    if residence.clients > 1 and name != "log flush" and factor > 1:
        estimate = math.sqrt(low * high)
    return WhatIf(
        says=says,
        ratio=min(max(estimate, low), high),
        low=low,
        high=high,
        basis=f"{name} is {_of(residence, whole)} of a transaction's time, {_of(residence, service)} its own "
        f"service; each takes {digits(factor, 2)} times as long",
    )


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


def fewer_cpus(residence: Residence, says: str) -> WhatIf | None:
    """Return what comes of half the CPUs, one at the least."""
    cpu = residence.cpu
    if cpu is None or cpu.servers < 2 or cpu.demand <= 0:
        return None
    left = Centre(cpu.demand, max(cpu.servers // 2, 1))
    high = min(1.0, left.servers / left.demand / residence.throughput)
    delay = max(residence.whole - _computed(residence), 0.0)
    least = pessimistic_throughput([left], residence.clients, delay)
    low = high if least is None else min(least / residence.throughput, high)
    busy = residence.throughput * cpu.demand
    return WhatIf(
        says=says,
        ratio=math.sqrt(low * high),
        low=low,
        high=high,
        basis=f"{digits(busy, 2)} of {cpu.servers} CPUs are busy; {left.servers} can serve at the most "
        f"{percent(round(left.servers / busy, 2))} of that",
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


def _parts(split: Split) -> dict[PartName, tuple[float, float]]:
    return {
        part.name: (part.mean_us, part.mean_us if part.service_us is None else part.service_us)
        for part in split.parts
    }


def _of_shares(limit: CellLimit, clients: int) -> Residence | None:
    cpu = _demand(limit, "CPU")
    parts: dict[PartName, tuple[float, float]] = {}
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
