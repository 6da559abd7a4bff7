"""The predicted effect of a change on a cell's throughput, from the parts of its time.

It uses the response time law of a closed loop without think time, X = N / R (Denning and Buzen 1978). A
change makes parts of R longer or shorter, and the bounds of the rest apply (Lazowska et al. 1984, chapter 5).
The band is what the record leaves open; it is no allowance for error:

- Slower flushes. Each takes longer by a known time, so R grows by the sum over the flushes that a transaction
  waits for (`awaited.py`). One client waits for its own. Several wait for at least one of each log, and their
  reads need not queue for the same disk, since clients come less often. At most each of these finds a flush
  of every log on that disk that has just begun: a disk gets one flush at a time. A disk that turns is slowed
  by whole turns (`run/interventions.py`), so what a flush waits for a platter stays the same.
- Flushes relaxed. At most all of W goes, until the next centre is full. At least only S goes, and a
  transaction finds all others before it at the CPUs. It also finds them at the disk if every changed page is
  written at once (pessimistic bound).
- Slower reads. Each answer comes later by a known time that is not the disk's work: A for all that a
  transaction reads. At most nothing becomes shorter: R + A. At least the queue before the disk disappears,
  since clients come less often. Of the wait W only the disk's own work S is left: R - W + S + A, but not less
  than R. For a disk that serves many at a time S is not known apart from the queue, and may be nothing.
- Quicker flushes or reads, by f < 1, are those of another disk. Its whole wait is shorter, R - (1 - f) W; or
  only its own work is, R - (1 - f) S. For several clients' reads the queue disappears too: R - W + f S.
- Half the CPUs. At most what the remaining CPUs can serve, with transactions that compute a little less than
  before (`CHEAPER_BY`). At least a transaction computes as much and finds all others there. Both are of what
  server and load compute: virtual disks keep all CPUs. Fewer clients than CPUs need not lose anything.
- Twice the memory. Misses shrink as under even access, (data - 2 memory) / (data - memory), or by the square
  root of 2 (Hartstein et al., "Cache miss behavior: is it sqrt(2)?", 2006). The two are the ends of the band.
"""

import math
from dataclasses import dataclass
from typing import Literal

from diskproof.analysis.limits.records import Awaited, CellLimit, PartName, WhatIf
from diskproof.analysis.limits.thresholds import CHEAPER_BY, LITTLE
from diskproof.results.limit import Change, Intervention, Limit
from diskproof.stats.operational import Centre, pessimistic_throughput, saturation
from diskproof.wording import Message, Range, say, share, us

On = Literal["read", "flush"]


@dataclass(frozen=True)
class Residence:
    """The time of a mean transaction, as the laws need it; in microseconds, or as shares of 1."""

    clients: int
    whole: float
    parts: dict[PartName, tuple[float, float | None]]
    """By name: all of it, and what of that the resource itself takes; None: not known apart."""
    cpu: Centre | None
    pages: Centre | None = None
    """The disk that writes pages, as if each were written at once."""

    @staticmethod
    def of(limit: CellLimit) -> "Residence | None":
        """Return it for a cell; None if too little is known.

        Writers that enter one by one are as one client that never waits for another. A job has no
        transactions to split. With one client a centre's busy share is its share of the residence too.
        """
        clients, split, cpu = max(limit.cell.clients, 1), limit.split, _centre(limit, "CPU")
        writer = _centre(limit, "locks")
        if split is not None and writer is not None:
            return Residence(1, writer.demand, _parts(limit), cpu)
        if split is not None and split.latency_us > 0:
            return Residence(clients, split.latency_us, _parts(limit), cpu, _centre(limit, "page writes"))
        if not limit.demands:
            return None
        waits = [one for one in limit.demands if clients == 1 and one.limit in ("log flush", "data reads")]
        parts: dict[PartName, tuple[float, float | None]] = {
            "log flush" if one.limit == "log flush" else "data reads": (one.utilisation, one.utilisation)
            for one in waits
        }
        if cpu is not None:  # of a residence of 1 the throughput is N: D = U m / X
            busy = next(one.utilisation for one in limit.demands if one.limit == "CPU")
            cpu = Centre(busy * cpu.servers / clients, cpu.servers)
        return Residence(clients, 1.0, parts, cpu) if parts or cpu else None

    @property
    def throughput(self) -> float:
        """X = N / R."""
        return self.clients / self.whole

    def all_of(self, *names: PartName) -> float:
        """Return all of some parts; 0 of what was not seen."""
        return sum(self.parts[name][0] for name in names if name in self.parts)

    @property
    def computing(self) -> float:
        """The time at the CPUs, including the wait for them."""
        return self.all_of("CPU", "waiting for a CPU")

    def service(self, name: PartName) -> float:
        """Return what of a part is service; all of it if that is not known apart."""
        whole, service = self.parts.get(name, (0.0, 0.0))
        return whole if service is None else service

    @property
    def queue_that_goes(self) -> float:
        """The time that several clients' reads may queue; it disappears if clients come less often."""
        whole, service = self.parts.get("data reads", (0.0, 0.0))
        return 0.0 if self.clients == 1 else whole - (service or 0.0)

    def ratio(self, residence: float) -> float:
        """Return throughput at another residence over throughput now."""
        return self.whole / max(residence, self.whole * 1e-6)

    @property
    def ratio_at_full_cpus(self) -> float:
        """The ratio at which the CPUs are full; endless if their demand is not known."""
        most = saturation([self.cpu]) if self.cpu else None
        return math.inf if most is None else max(most / self.throughput, 1.0)

    def in_words(self, part: float) -> Message:
        """Return a part as a share of a transaction's time."""
        return say("{part} of a transaction's time", part=share(part / self.whole))


def predict(limit: CellLimit, intervention: Intervention) -> WhatIf | None:
    """Return what an intervention is predicted to do to a cell; None if its record does not say."""
    residence = Residence.of(limit)
    if residence is None:
        return None
    match intervention.change:
        case "slower flushes" | "slower reads":
            return _later(limit, residence, intervention)
        case "flushes relaxed":
            return _without(residence, "log flush", intervention.says)
        case "half the CPUs":
            return _fewer_cpus(limit, residence, intervention.says)
        case "twice the memory":
            return _more_memory(limit, residence, intervention.says)


def why_not_predicted(limit: CellLimit, intervention: Intervention) -> Message:
    """Say why `predict` returns nothing."""
    others = limit.others_cpu_share
    if intervention.change == "half the CPUs" and others is None:
        return say("it is not known how much CPU time other work on the machine had")
    if intervention.change == "half the CPUs" and others is not None and others >= LITTLE:
        return say("other work on the machine had {others} of the CPUs' time", others=share(others))
    for disk in intervention.added_us:
        on, _ = DELAYED[intervention.change]
        if _awaited(limit, disk, on) is None:
            kind = "reads" if on == "read" else "flushes"
            form = "it is not known for how many {kind} of `{disk}` a transaction waits"
            return say(form, kind=kind, disk=disk)
    return say("too little was recorded")


DELAYED: dict[Change, tuple[On, PartName]] = {
    "slower flushes": ("flush", "log flush"),
    "slower reads": ("read", "data reads"),
}


def _later(limit: CellLimit, residence: Residence, intervention: Intervention) -> WhatIf | None:
    """Return the effect of flushes or reads that take longer by a fixed time, disk by disk.

    None if the number that a transaction waits for is not known of some disk, or its own time is not.
    """
    on, part = DELAYED[intervention.change]
    if part not in residence.parts or limit.split is None or not intervention.added_us:
        return None
    waits = [(_awaited(limit, disk, on), add_us) for disk, add_us in intervention.added_us.items()]
    known = [(one, add_us) for one, add_us in waits if one is not None]
    if len(known) < len(waits):
        return None
    least_us = sum(one.least * add_us for one, add_us in known)
    most_us = sum(one.most * add_us for one, add_us in known)
    basis = say(
        "a transaction of {whole} waits for {waits:/ and }",
        whole=us(residence.whole),
        waits=[
            say(
                "{n:2} {kind} of `{disk}`, {longer} longer each",
                n=Range(low=one.least, high=one.most),
                kind=_called(on, one),
                disk=one.disk,
                longer=us(add_us),
            )
            for one, add_us in known
        ],
    )
    return _band(
        intervention.says,
        residence.ratio(residence.whole + most_us),
        residence.ratio(max(residence.whole + least_us - residence.queue_that_goes, residence.whole)),
        basis,
    )


def _called(on: On, waits: Awaited) -> str:
    lone = round(waits.least, 1) == round(waits.most, 1) == 1.0
    return on if lone else {"read": "reads", "flush": "flushes"}[on]


def _awaited(limit: CellLimit, disk: str, on: On) -> Awaited | None:
    return next((one for one in limit.awaited if (one.disk, one.on) == (disk, on)), None)


def _band(says: Message, low: float, high: float, basis: Message) -> WhatIf:
    """Return a prediction with the middle of its band, by ratios, as the estimate."""
    return WhatIf(says=says, ratio=math.sqrt(low * high), low=low, high=high, basis=basis)


def quicker(residence: Residence, name: PartName, factor: float, says: Message) -> WhatIf | None:
    """Return the effect of a part that takes `factor` times as long, less than 1, on another disk."""
    if name not in residence.parts:
        return None
    whole, service = residence.all_of(name), residence.service(name)
    by_all = residence.whole - (1 - factor) * whole
    by_service = residence.whole - (1 - factor) * service
    other_end = by_service
    if residence.clients > 1 and name != "log flush":
        # The disk has the queue for reads, too: if they are quicker, all of it is, and it shrinks besides.
        other_end = residence.whole - whole + factor * service
    ends = (residence.ratio(by_all), residence.ratio(other_end))
    low, high = sorted(min(end, residence.ratio_at_full_cpus) for end in ends)
    estimate = residence.ratio(by_service if residence.clients == 1 else by_all)
    basis = say("{name} takes {part}", name=name, part=residence.in_words(whole))
    if residence.parts[name][1] is not None:
        form = "{part}, {service} its own service"
        basis = say(form, part=basis, service=share(service / residence.whole))
    basis = say("{part}; each takes {factor:2} times as long", part=basis, factor=factor)
    return WhatIf(says=says, ratio=min(max(estimate, low), high), low=low, high=high, basis=basis)


def _without(residence: Residence, name: PartName, says: Message) -> WhatIf | None:
    """Return the effect of a part that disappears."""
    if name not in residence.parts:
        return None
    whole, service, cpu = residence.all_of(name), residence.service(name), residence.cpu
    high = min(residence.ratio(residence.whole - whole), residence.ratio_at_full_cpus)
    computed = residence.computing or (cpu.demand if cpu else 0.0)
    delay = max(residence.whole - service - computed, 0.0)
    centres = [one for one in (cpu, residence.pages) if one is not None]
    least = pessimistic_throughput(centres, residence.clients, delay)
    low = high if least is None else min(max(least / residence.throughput, 1.0), high)
    rest = say("nothing that was observed")
    if cpu is not None and cpu.demand:
        full = cpu.servers / cpu.demand / residence.throughput
        rest = say("{cpus} CPUs, full at {full:2} times as much", cpus=cpu.servers, full=full)
        if residence.pages:
            rest = say("{cpus}, and pages that are written at once", cpus=rest)
    basis = say(
        "{name} takes {part} and disappears; the rest is bounded by {rest}",
        name=name,
        part=residence.in_words(whole),
        rest=rest,
    )
    return _band(says, low, high, basis)


def _fewer_cpus(limit: CellLimit, residence: Residence, says: Message) -> WhatIf | None:
    """Return the effect of half the CPUs, at least one, for server and load.

    None if other work has a considerable share of them, or an unknown one: it might take more of the rest.
    """
    cpu, others = residence.cpu, limit.others_cpu_share
    if cpu is None or cpu.servers < 2 or cpu.demand <= 0 or others is None or others >= LITTLE:
        return None
    left = Centre(cpu.demand * (1 - (limit.disks_cpu_share or 0.0)), max(cpu.servers // 2, 1))
    most = saturation([left])
    if most is None:
        return None
    high = min(most / (1 - CHEAPER_BY) / residence.throughput, 1.0)
    delay = max(residence.whole - (residence.computing or left.demand), 0.0)
    least = pessimistic_throughput([left], residence.clients, delay)
    low = high if least is None else min(least / residence.throughput, high)
    busy = residence.throughput * left.demand
    basis = say(
        "server and load keep {busy:2} of {cpus} CPUs busy; {left} can serve {part} of that, or more if "
        "transactions then compute up to {cheaper} less",
        busy=busy,
        cpus=cpu.servers,
        left=left.servers,
        part=share(left.servers / busy),
        cheaper=share(CHEAPER_BY),
    )
    return _band(says, low, 1.0 if residence.clients < cpu.servers else high, basis)


def _more_memory(limit: CellLimit, residence: Residence, says: Message) -> WhatIf | None:
    """Return the effect of twice the memory for pages."""
    data, memory = limit.data_bytes, limit.cell.memory_bytes
    if "data reads" not in residence.parts or data is None or not memory:
        return None
    evenly = max(data - 2 * memory, 0) / max(data - memory, 1) if data > memory else 0.0
    reads = residence.all_of("data reads")
    fewest, most = sorted((evenly, 1 / math.sqrt(2)))
    low, high = (
        min(residence.ratio(residence.whole - (1 - left) * reads), residence.ratio_at_full_cpus)
        for left in (most, fewest)
    )
    basis = say(
        "data reads take {part}; {left} of them are left",
        part=residence.in_words(reads),
        left=Range(low=fewest, high=most, unit="share"),
    )
    return _band(says, low, high, basis)


def _parts(limit: CellLimit) -> dict[PartName, tuple[float, float | None]]:
    """Return the parts of a split.

    A disk's own work in several clients' reads is known if it serves one at a time, by its busy time for each
    request. On bare files nothing else says it.
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
        service = min(reads, sum(busy_us) * reads / (reads + limit.split.part("page writes")))
    elif limit.cell.clients > 1 and _centre(limit, "data reads") is None:
        service = None
    return {**parts, "data reads": (reads, service)}


def _centre(limit: CellLimit, name: Limit) -> Centre | None:
    found = next((one for one in limit.demands if one.limit == name), None)
    return Centre(found.demand_us, found.servers) if found else None
