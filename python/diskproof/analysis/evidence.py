"""What was measured of a cell, as one record."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from diskproof.analysis.gather import Audited, Gathered
from diskproof.families.options import Server, server_named
from diskproof.results.machine import BlockDevice, Machine, Place, VirtualFacts
from diskproof.results.plan import Cell
from diskproof.results.usage import DeviceUsage


@dataclass(frozen=True)
class Side:
    """One cell: medians over its valid trials. None: not observed."""

    cell: Cell
    trials: Sequence[Audited]
    """The valid ones."""
    server: Server | None
    """None if the machine's facts do not name it."""
    engine: str | None
    """Storage engine of the tables, if the server has several."""
    data_bytes: int | None
    """Size of the data set; None for a job, which makes its own."""
    writes_anything: bool

    cpus: int | None
    """CPUs that the server and its load could use."""
    machine_share: float | None
    """Busy share of the machine's CPUs, or of those that server and load were held to, by anybody.

    Not known for bare files: there the counted time includes the start and end of fio.
    """
    counted_cpus: int | None
    """The number of CPUs that `machine_share` covers."""
    disks_apart: bool
    """Whether virtual disks used other CPUs."""

    one_at_a_time: frozenset[str]
    """Disks that serve one request at a time: busy all the time, they can do no more."""
    counts_flushes: bool
    """Whether the kernel counts flushes on the disks below."""
    disk_reads: float | None
    """Reads that reached the disks, a transaction."""
    disk_flushes: float | None
    """Flushes that reached the disks, a transaction; None if the kernel counts none."""

    @staticmethod
    def of(gathered: Gathered, cell: Cell) -> "Side":
        """Return what was measured of a cell."""
        machine, trials = gathered.machine_of(cell), gathered.valid(cell)
        facts = machine.server(cell.server) if machine else None
        places = [place for place in (machine.places if machine else []) if place.storage == cell.storage]
        # A resumed run has other loop devices than the machine's first facts.
        lately = [place for one in trials for place in one.trial.places if place.storage == cell.storage]
        serial = _one_at_a_time(lately or places, machine)
        counts_flushes = all(place.device.counts_flushes is not False for place in places if place.device)
        data = [one.trial.data for one in trials if one.trial.data]
        makes_data = any(one.load.operations or one.load.iterations for one in trials)
        host_cpus = (machine.host_cpus or machine.cpus) if machine else None
        held = len(machine.held_cpus) if machine else 0
        if not any(one.trial.usage and one.trial.usage.held_cpu_busy_s is not None for one in trials):
            held = 0
        return Side(
            cell=cell,
            trials=trials,
            server=server_named(f"{facts.flavour} {facts.version}") if facts else None,
            engine=next((one.engine or one.job_engine for one in data), None),
            data_bytes=None if makes_data else next((one.data_bytes for one in data), None),
            writes_anything=any(one.load.writes for one in trials),
            cpus=gathered.plan.cpus or (machine.cpus if machine else None),
            machine_share=middle(map(_busy, trials)) if cell.has_server else None,
            counted_cpus=held or host_cpus,
            disks_apart=machine is not None and 0 < len(machine.held_cpus) < machine.cpus,
            one_at_a_time=serial,
            counts_flushes=counts_flushes,
            disk_reads=middle(_a_transaction(one, lambda device: device.reads) for one in trials),
            disk_flushes=middle(_a_transaction(one, lambda device: device.flushes) for one in trials)
            if counts_flushes
            else None,
        )


def _busy(trial: Audited) -> float | None:
    usage, machine = trial.trial.usage, trial.evidence.machine
    if usage is None:
        return None
    busy_s, cpus = usage.host_cpu_busy_s, (machine.host_cpus or machine.cpus) if machine else None
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
    names = dict.fromkeys(name for one in figures for name in one)
    return {name: middle(one.get(name) for one in figures) for name in names}


def _one_at_a_time(places: Sequence[Place], machine: Machine | None) -> frozenset[str]:
    """Return the kernel names of the disks that serve one request at a time.

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
    return frozenset(name for device, virtual in disks if serial(device, virtual) for name in device.counted)
