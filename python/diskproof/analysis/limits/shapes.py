"""The shapes of what is said about the limit of cells."""

from typing import Literal

from pydantic import Field

from diskproof.results.limit import Intervention, Limit
from diskproof.results.plan import Cell
from diskproof.results.record import Record
from diskproof.stats.intervals import Interval

Instrument = Literal["clients", "server", "kernel", "threads", "virtual disk"]
"""Who says it: the load generator's clock; the server's own account; the kernel's counters of disks, CPUs
and stalls; the threads as they were found; the virtual disk's own account. Two signals of one instrument are
one."""


class Signal(Record):
    """One observation that speaks for or against a limit."""

    limit: Limit
    instrument: Instrument
    supports: bool
    """False: it speaks against it."""
    says: str
    """The observation with its figures: ``COMMIT takes 8.1 of 8.7 ms``."""


PartName = Literal[
    "CPU", "waiting for a CPU", "log flush", "data reads", "page writes", "locks", "load generator"
]


class Part(Record):
    """A part of a mean transaction's time."""

    name: PartName
    mean_us: float
    source: str
    """What was measured, and how the part follows from it."""
    service_us: float | None = None
    """What of it is the resource's own work for this transaction: the flushes themselves, without the wait
    for the flush before them. None: not known apart."""


class Split(Record):
    """Where the time of a mean transaction goes. What no part explains is what is left of the latency."""

    latency_us: float
    parts: list[Part]

    @property
    def unexplained_us(self) -> float:
        """What is left; below 0 where the parts overlap, which is then said."""
        return self.latency_us - sum(part.mean_us for part in self.parts)


class Awaited(Record):
    """How often a mean transaction waits for requests of one kind to a virtual disk, one after the other.

    Least and most are what the record leaves open.
    """

    disk: str
    on: Literal["read", "flush"]
    least: float
    most: float


class Demand(Record):
    """Service demand of a transaction at one centre (Denning and Buzen 1978): what it keeps it busy for."""

    centre: str
    """``CPU``, ``log flush on disk``, ``vda`` …"""
    limit: Limit
    servers: int
    """How many can be served at a time: CPUs; 1 of a disk's arm or a log's flush."""
    demand_us: float
    """Per transaction, over all its servers together."""
    utilisation: float
    """Of one of its servers, in the mean."""
    bound_per_s: float | None
    """No more transactions a second than this centre can serve; None where its demand shrinks with load, as
    that of a flush which many commits share."""


class WhatIf(Record):
    """What a change is predicted to do to a cell's throughput."""

    says: str
    """``a disk with a 1 ms flush would give about 6 times as much``."""
    ratio: float
    low: float
    high: float
    basis: str


class Trouble(Record):
    """A known shape of trouble, recognised in a cell."""

    name: str
    """``redo log too small``, in the field's own words."""
    says: str
    """What was seen, with its figures."""
    remedy: str
    source: str


class CellLimit(Record):
    """What holds one cell back, over all its valid trials."""

    cell: Cell
    limit: Limit | None
    """None: not established."""
    sentence: str
    """The whole answer in words a person would say, figures included."""
    where: str | None = None
    """The device, role or party concerned: ``disk (redo)``."""
    signals: list[Signal] = Field(default_factory=list)
    split: Split | None = None
    """None where the load has no transactions to split, or their latency is not known."""
    awaited: list[Awaited] = Field(default_factory=list)
    """By virtual disk and kind; none of a disk of which that is not known."""
    demands: list[Demand] = Field(default_factory=list)
    bound_per_s: float | None = None
    """The lowest of the demands' bounds."""
    data_bytes: int | None = None
    """Size of the data set, which more memory would hold more of."""
    disks_cpu_share: float | None = None
    """Of the CPU time that a transaction asks for, what virtual disks use. None: there are none, or nobody
    counted."""
    others_cpu_share: float | None = None
    """Of the time in which the CPUs were busy, what other work on the machine had; None: not known."""
    what_if: WhatIf | None = None
    troubles: list[Trouble] = Field(default_factory=list)

    @property
    def supporting(self) -> list[Signal]:
        """The signals that speak for its limit, the first of each instrument first.

        Two signals of one instrument are one: what makes a limit established must not stand behind.
        """
        for_it = [signal for signal in self.signals if signal.supports and signal.limit == self.limit]
        first = {one.instrument: one for one in reversed(for_it)}
        return sorted(for_it, key=lambda one: one is not first[one.instrument])


class Scaling(Record):
    """The Universal Scalability Law fitted to a sweep of clients (Gunther 2007)."""

    per_client_per_s: Interval
    """Throughput of one client alone."""
    contention: Interval
    coherency: Interval
    peak_clients: float | None
    """Where it predicts the most throughput; None where the interval of coherency holds 0: no decline is
    shown then."""
    residual: float
    """Root mean square of (measured - fitted) / measured."""


class Sweep(Record):
    """Cells that differ in nothing but the number of clients."""

    cells: list[str]
    """Ids, by ascending number of clients."""
    clients: list[int]
    throughput_per_s: list[float | None]
    smallest_latency_us: float | None
    """Of one client, or of the fewest: what a transaction takes when nobody is in its way (R at N = 1)."""
    bound_per_s: float | None
    """The lowest bound of the cell with the most clients."""
    knee_clients: float | None
    """Where the two asymptotes meet: N* = bound x smallest latency."""
    scaling: Scaling | None
    """None with fewer than four points, or where no fit was found."""
    sentence: str


Outcome = Literal["as predicted", "not as predicted", "open"]
"""What a proof came to; `decide` of proofs.py says when."""


class ProofAnswer(Record):
    """What an intervention did, against what was predicted."""

    cell: str
    limit: Limit
    intervention: Intervention
    predicted_ratio: float
    predicted_low: float
    predicted_high: float
    basis: str
    measured: Interval | None
    """Throughput with over without, paired; None: fewer than three valid pairs."""
    outcome: Outcome
    sentence: str


class Limits(Record):
    """All that is said about what holds the cells of a run back."""

    cells: list[CellLimit]
    sweeps: list[Sweep] = Field(default_factory=list)
    proofs: list[ProofAnswer] = Field(default_factory=list)
