"""What was measured of a cell, as one record."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any, Self

from diskproof.analysis.gather import Audited, Gathered
from diskproof.families.options import Server, server_named
from diskproof.results.machine import BlockDevice, Machine, Place, ServerFacts, VirtualFacts
from diskproof.results.plan import Cell
from diskproof.results.trial import DataFacts
from diskproof.results.usage import DeviceUsage


@dataclass(frozen=True)
class Side:
    """One cell, or one of its blocks: medians over its valid trials, found when somebody asks for them.

    None: not observed.
    """

    cell: Cell
    trials: Sequence[Audited]
    """The valid ones."""
    machine: Machine | None
    given_cpus: int | None
    """CPUs that the study gives server and load; None: all that the run may use."""

    @classmethod
    def of(cls, gathered: Gathered, cell: Cell) -> Self:
        """Return what was measured of a cell."""
        return cls(cell, gathered.valid(cell), gathered.machine_of(cell), gathered.plan.cpus)

    # ------------------------------------------------------------ the server and its load

    @cached_property
    def facts(self) -> ServerFacts | None:
        """The server; None if the machine's facts do not name it."""
        return self.machine.server(self.cell.server) if self.machine else None

    @cached_property
    def server(self) -> Server | None:
        """Its family and version."""
        return server_named(f"{self.facts.flavour} {self.facts.version}") if self.facts else None

    @cached_property
    def data(self) -> Sequence[DataFacts]:
        """The data sets of the trials."""
        return [one.trial.data for one in self.trials if one.trial.data]

    @cached_property
    def data_bytes(self) -> int | None:
        """Size of the data set; None for a job, which makes its own."""
        return next((one.data_bytes for one in self.data), None) if self.transactional else None

    @cached_property
    def transactional(self) -> bool:
        """Whether its latency is of one kind of transaction, unlike that of a job of many operations."""
        return not any(one.load.operations or one.load.iterations for one in self.trials)

    @cached_property
    def writes_anything(self) -> bool:
        """Whether any trial wrote."""
        return any(one.load.writes for one in self.trials)

    # ------------------------------------------------------------ the machine

    @cached_property
    def cpus(self) -> int | None:
        """CPUs that the server and its load could use."""
        return self.given_cpus or (self.machine.cpus if self.machine else None)

    @cached_property
    def machine_share(self) -> float | None:
        """Busy share of the machine's CPUs, or of those that server and load were held to, by anybody.

        Not known for bare files: there the counted time includes the start and end of fio.
        """
        return middle(map(_busy, self.trials)) if self.cell.has_server else None

    @cached_property
    def counted_cpus(self) -> int | None:
        """The number of CPUs that `machine_share` covers."""
        held = any(one.trial.usage and one.trial.usage.held_cpu_busy_s is not None for one in self.trials)
        return (held and len(self.machine.held_cpus)) or _cpus(self.machine) if self.machine else None

    # ------------------------------------------------------------ the disks

    def own(self, places: Iterable[Place]) -> list[Place]:
        """Return those places that are of the cell's storage."""
        return [place for place in places if place.storage == self.cell.storage]

    @cached_property
    def places(self) -> Sequence[Place]:
        """The places of its storage by the machine's first facts."""
        return self.own(self.machine.places if self.machine else ())

    @cached_property
    def lately(self) -> Sequence[Place]:
        """The same by the last trial that has them: a resumed run has other loop devices."""
        told = next((one.trial.places for one in reversed(self.trials) if one.trial.places), ())
        return self.own(told) if told else self.places

    @cached_property
    def one_at_a_time(self) -> frozenset[str]:
        """Disks that serve one request at a time: busy all the time, they can do no more."""
        told = self.own(place for one in self.trials for place in one.trial.places)
        return _one_at_a_time(told or self.places, self.machine)

    @cached_property
    def counts_flushes(self) -> bool:
        """Whether the kernel counts flushes on the disks below."""
        return all(place.device.counts_flushes is not False for place in self.places if place.device)

    @cached_property
    def disk_reads(self) -> float | None:
        """Reads that reached the disks, a transaction."""
        return middle(_a_transaction(one, lambda device: device.reads) for one in self.trials)

    @cached_property
    def disk_flushes(self) -> float | None:
        """Flushes that reached the disks, a transaction; None if the kernel counts none."""
        each = (_a_transaction(one, lambda device: device.flushes) for one in self.trials)
        return middle(each) if self.counts_flushes else None


def _cpus(machine: Machine) -> int:
    """Return the CPUs that the host's counters cover."""
    return machine.host_cpus or machine.cpus


def _busy(trial: Audited) -> float | None:
    usage, machine = trial.trial.usage, trial.evidence.machine
    if usage is None:
        return None
    busy_s, cpus = usage.host_cpu_busy_s, _cpus(machine) if machine else None
    if machine and machine.held_cpus and usage.held_cpu_busy_s is not None:
        busy_s, cpus = usage.held_cpu_busy_s, len(machine.held_cpus)
    # The kernel counts in ticks: a full machine may seem a little fuller than that.
    return min(busy_s / usage.seconds / cpus, 1.0) if busy_s is not None and usage.seconds and cpus else None


def _a_transaction(one: Audited, count: Callable[[DeviceUsage], int | None]) -> float | None:
    found = [count(device) for device in one.trial.usage.devices.values()] if one.trial.usage else []
    known = [number for number in found if number is not None]
    if not known or len(known) < len(found) or not one.load.transactions:
        return None
    return sum(known) / one.load.transactions


def middle(values: Iterable[float | None]) -> float | None:
    """Return the median of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return median(known) if len(known) > 1 else next(iter(known), None)


def medians(figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the median of each figure over those of several trials in which it is known."""
    if len(figures) == 1:
        return dict(figures[0])
    names = dict.fromkeys(name for one in figures for name in one)
    return {name: middle(one.get(name) for one in figures) for name in names}


def _one_at_a_time(places: Sequence[Place], machine: Machine | None) -> frozenset[str]:
    """Return the names of the disks that serve one request at a time, the kernel's and those of virtual ones.

    Hypervisors call most of their disks spinning; such a disk has no model of its own.
    """

    def serial(device: BlockDevice, virtual: VirtualFacts | None) -> bool:
        if virtual is not None:
            return virtual.one_at_a_time
        real = device.model is not None and not (machine and machine.virtualised)
        return real and bool(device.rotational) and len(device.leaves) <= 1

    disks = [(place.device, place.virtual) for place in places if place.device]
    members = [member for place in places if place.pool for member in place.pool.members]
    disks += [(member.device, member.virtual) for member in members]
    kernels = [name for device, virtual in disks if serial(device, virtual) for name in device.counted]
    own = [disk.name for place in places for disk in place.virtual_disks if disk.one_at_a_time]
    return frozenset([*kernels, *own])
