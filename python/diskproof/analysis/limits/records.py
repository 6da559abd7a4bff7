"""The records about limits: typed facts, and messages about the figures behind them."""

from typing import Literal

from pydantic import Field

from diskproof.results.limit import Limit, Prediction
from diskproof.results.plan import Cell
from diskproof.results.record import Record
from diskproof.stats.intervals import Interval
from diskproof.wording import NOTHING, Message, say, share, us

Instrument = Literal["clients", "server", "kernel", "threads", "virtual disk"]
"""The source of a signal: the load generator's clock, the server's own account, the kernel's counters, the
sampled threads, or the virtual disk's own account. Two signals of one instrument count as one."""


class Signal(Record):
    """One observation for or against a limit."""

    limit: Limit
    instrument: Instrument
    supports: bool
    """False: it contradicts the limit."""
    says: Message
    """The observation with its figures: ``COMMIT takes 8.1 ms of 8.7 ms``."""


PartName = Literal[
    "log flush",
    "data reads",
    "page writes",
    "locks",
    "CPU",
    "waiting for a CPU",
    "load generator",
    "network",
]
"""In the order in which they are shown: what is waited for, then what is computed."""


class Part(Record):
    """A part of a mean transaction's time."""

    name: PartName
    mean_us: float
    source: Message
    """The measurement behind the part."""
    service_us: float | None = None
    """The resource's own work for this transaction, without the wait for others. None: not known apart."""


class Split(Record):
    """The time of a mean transaction in parts, which need not explain all of the latency."""

    latency_us: float
    parts: list[Part]

    @property
    def unexplained_us(self) -> float:
        """The rest of the latency; below 0 if the parts overlap."""
        return self.latency_us - sum(part.mean_us for part in self.parts)

    def part(self, *names: PartName | Limit) -> float:
        """Return the time of some parts; 0 of a part that was not found."""
        return sum(part.mean_us for part in self.parts if part.name in names)

    def at(self, limit: Limit) -> float:
        """Return the time that is spent at a limit; 0 if no part is."""
        return self.part("CPU", "waiting for a CPU") if limit == "CPU" else self.part(limit)


class Difference(Record):
    """How much longer a mean transaction takes in one cell than in another, by parts; below 0: shorter."""

    whole_us: Interval
    baseline_us: Interval
    """The time of the other cell's transaction."""
    parts: dict[PartName, Interval]
    unexplained_us: Interval


class Awaited(Record):
    """How many requests of one kind to a virtual disk a mean transaction waits for, one after the other.

    The record leaves a range open, from least to most.
    """

    disk: str
    on: Literal["read", "flush"]
    least: float
    most: float


class Demand(Record):
    """For how long a transaction keeps one centre busy: its service demand (Denning and Buzen 1978)."""

    centre: str
    """``CPU``, ``log flush on disk``, ``vda`` …"""
    limit: Limit
    servers: int
    """How many it serves at a time: CPUs; 1 for a disk's arm or a log's flush."""
    demand_us: float
    """Per transaction, over all its servers together."""
    utilisation: float
    """Mean busy share of one of its servers."""
    bound_per_s: float | None
    """The most transactions a second that it can serve; None if its demand shrinks with load, as that of a
    flush that commits share."""


class WhatIf(Record):
    """The predicted effect of a change on a cell's throughput."""

    says: Message
    """``a disk with a 1 ms flush would give about 6 times as much``."""
    ratio: float
    low: float
    high: float
    basis: Message
    """The figures behind the prediction."""


class Trouble(Record):
    """A known problem that a cell shows."""

    name: str
    says: Message
    """What was observed."""
    remedy: Message
    source: str


class CellLimit(Record):
    """The limit of one cell, over all its valid trials."""

    cell: Cell
    limit: Limit | None
    """None: not established."""
    missing: Message = NOTHING
    """Why no limit is established."""
    bound_by: Message = NOTHING
    """The limit as this cell has it: ``redo log flushes``."""
    signals: list[Signal] = Field(default_factory=list)
    split: Split | None = None
    """None if the load has no transactions to split, or their latency is not known."""
    awaited: list[Awaited] = Field(default_factory=list)
    """By virtual disk and kind, as far as it is known."""
    demands: list[Demand] = Field(default_factory=list)
    bound_per_s: float | None = None
    """The lowest of the demands' bounds."""
    data_bytes: int | None = None
    disks_cpu_share: float | None = None
    """Virtual disks' share of a transaction's CPU time. None: there are none, or it was not counted."""
    others_cpu_share: float | None = None
    """Share of the CPUs' busy time that other work on the machine had; None: not known."""
    what_if: WhatIf | None = None
    troubles: list[Trouble] = Field(default_factory=list)

    @property
    def supporting(self) -> list[Signal]:
        """The signals for its limit, the first of each instrument first: two instruments establish it."""
        for_it = [signal for signal in self.signals if signal.supports and signal.limit == self.limit]
        first = {one.instrument: one for one in reversed(for_it)}
        return sorted(for_it, key=lambda one: one is not first[one.instrument])

    @property
    def share_of_time(self) -> float | None:
        """The part of the mean time that is spent at its limit; None if that is not known."""
        if self.limit is None or self.split is None or self.split.latency_us <= 0:
            return None
        return min(self.split.at(self.limit) / self.split.latency_us, 1.0)

    @property
    def sentence(self) -> Message:
        """The whole answer: the limit, its evidence, and what a change would give."""
        if self.limit is None:
            return say("not established: {why}.", why=self.missing)
        evidence = [one.says for one in self.supporting]
        if self.share_of_time and self.split:
            time = us(self.split.at(self.limit))
            evidence.insert(
                0, say("{time}, {part} of the mean time", time=time, part=share(self.share_of_time))
            )
        found = say("bound by {what}: {evidence:/; }.", what=self.bound_by, evidence=evidence[:2])
        return say("{found} {then:cap}.", found=found, then=self.what_if.says) if self.what_if else found


Outcome = Literal["as predicted", "not as predicted", "open"]
"""How a proof ended; `decide` of proofs.py says when."""


class ProofAnswer(Prediction):
    """The effect of an intervention, compared with its prediction."""

    cell: str
    measured: Interval | None
    """Throughput with over without, paired; None: fewer than three valid pairs."""
    outcome: Outcome
    pairs: int = 0
    left_out: list[Message] = Field(default_factory=list)
    """Why a pair does not count, one message for each that does not."""


class Limits(Record):
    """The limits of a run."""

    cells: list[CellLimit]
    proofs: list[ProofAnswer] = Field(default_factory=list)
