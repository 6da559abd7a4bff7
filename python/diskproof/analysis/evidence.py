"""What was recorded about a cell, as the reasons for a difference and the limits ask for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from diskproof.analysis.gather import Audited, Gathered
from diskproof.results.machine import BlockDevice, Machine, Place, VirtualFacts
from diskproof.results.plan import Cell
from diskproof.results.usage import DeviceUsage, Usage

FULL_SHARE = 0.85
"""From this share of its time on, a resource is called the limit: at 85 % a request already waits for
some six times as long as it is served (M/M/1: share / (1 - share); Kleinrock, Queueing Systems, 1975)."""

IDLE_SHARE = 0.3
"""Up to this share of its time a disk is called idle: without it, a load were at most 1.43 times as fast."""


@dataclass(frozen=True)
class Side:
    """One cell by itself or as a side of a comparison: medians over its valid trials, None: not observed."""

    cell: Cell
    trials: Sequence[Audited]
    """Those that are valid."""
    cpus: int | None
    """CPUs that the server and its load could use."""
    host_cpus: int | None
    """CPUs that the machine's counters cover."""
    held_cpus: int
    """Of those the ones that the server and its load were held to; 0: to none."""
    disks_apart: bool
    """Whether virtual disks kept to other CPUs than those."""
    counts_flushes: bool
    """Whether the kernel counts flushes on the disks below."""
    one_at_a_time: frozenset[str]
    """Those disks that serve one request at a time: busy all the time, they can do no more."""
    extrapolated: bool

    @staticmethod
    def of(gathered: Gathered, cell: Cell, parts: frozenset[str] | None) -> "Side":
        """Return a cell as a side of a comparison; `parts` are the operations that it is about."""
        machine, trials = gathered.machine, gathered.valid(cell)
        cpus = gathered.plan.cpus or (machine.cpus if machine else None)
        places = [place for place in (machine.places if machine else []) if place.storage == cell.storage]
        devices = [place.device for place in places if place.device]
        # A run that was resumed has other loop devices than the machine's first facts.
        lately = [place for one in trials for place in one.trial.places if place.storage == cell.storage]
        return Side(
            cell=cell,
            trials=trials,
            cpus=cpus,
            host_cpus=(machine.host_cpus or machine.cpus) if machine else None,
            held_cpus=len(machine.held_cpus) if machine else 0,
            disks_apart=machine is not None and 0 < len(machine.held_cpus) < machine.cpus,
            counts_flushes=all(device.counts_flushes is not False for device in devices),
            one_at_a_time=_one_at_a_time(lately or places, machine),
            extrapolated=any(one.load.rests_on_estimates(parts) for one in trials),
        )

    @property
    def cpus_busy(self) -> float | None:
        """How many CPUs the server and the load generator worked on, on average."""

        def busy(one: Audited) -> float | None:
            usage, client = one.trial.usage, one.load.client
            if usage is None or client is None or not usage.seconds:
                return None
            # An embedded database works inside the load generator: its time is there.
            return ((usage.server_cpu_s or 0) + client.cpu_s) / usage.seconds

        return self._median(busy)

    @property
    def cpu_share(self) -> float | None:
        """That, as a share of the CPUs that they could use."""
        busy = self.cpus_busy
        return busy / self.cpus if busy is not None and self.cpus else None

    @property
    def machine_share(self) -> float | None:
        """Share of the time in which the CPUs were busy, whoever kept them so.

        Those of the machine, or those that the server and its load were held to. Not known of a load on bare
        files: there the time is counted while fio starts and ends, too.
        """
        if not self.cell.has_server:
            return None

        def share(usage: Usage) -> float | None:
            busy_s, cpus = usage.host_cpu_busy_s, self.host_cpus
            if usage.held_cpu_busy_s is not None and self.held_cpus:
                busy_s, cpus = usage.held_cpu_busy_s, self.held_cpus
            if busy_s is None or not usage.seconds or not cpus:
                return None
            # The kernel counts in ticks: a full machine may seem to be a little more than that.
            return min(busy_s / usage.seconds / cpus, 1.0)

        return self._of_usage(share)

    @property
    def counted_cpus(self) -> int | None:
        """The number of CPUs that `machine_share` is of."""
        usages = [one.trial.usage for one in self.trials if one.trial.usage]
        if self.held_cpus and any(usage.held_cpu_busy_s is not None for usage in usages):
            return self.held_cpus
        return self.host_cpus

    @property
    def cpu_bound(self) -> bool:
        """Whether CPUs were what the side waited for.

        Clients that are fewer than the CPUs cannot fill them. A server's own threads may work meanwhile, so
        that as many busy CPUs as clients prove it only where no disk was what the clients waited for.
        """
        busy, clients, disk = self.cpus_busy, self.cell.clients, self.disk_share_at_most
        if busy is None or not self.cpus:
            return False
        if busy >= FULL_SHARE * self.cpus:
            return True
        few = clients < self.cpus
        return few and busy >= FULL_SHARE * clients and disk is not None and disk <= IDLE_SHARE

    @property
    def disk_bound(self) -> bool:
        """Whether a disk that serves one request at a time was what the side waited for, and no CPU."""
        disk, cpu = self.arm_share_at_least, self.cpu_share
        return disk is not None and disk >= FULL_SHARE and cpu is not None and cpu < FULL_SHARE

    @property
    def arm_share_at_least(self) -> float | None:
        """Share of the time in which the busiest disk of those that serve one request at a time had one.

        At the least: the kernel counts flushes apart from other requests, and both may overlap. Of a disk
        that serves several requests at a time, its busy time does not tell how much more it could do.
        """

        def arms(usage: Usage) -> list[DeviceUsage]:
            return [used for name, used in usage.devices.items() if name in self.one_at_a_time]

        return self._disk_share(arms, lambda disk: max(disk.busy_s, disk.flush_s or 0))

    @property
    def disk_share_at_most(self) -> float | None:
        """Share of the time in which the busiest disk below had something to do, at the most."""
        return self._disk_share(
            lambda usage: list(usage.devices.values()), lambda disk: disk.busy_s + (disk.flush_s or 0)
        )

    @property
    def reads(self) -> float | None:
        """Reads that reached the disks, a transaction."""
        return self._a_transaction(lambda usage: [one.reads for one in usage.devices.values()])

    @property
    def flushes(self) -> float | None:
        """Flushes that reached the disks, a transaction; None where the kernel counts none."""
        if not self.counts_flushes:
            return None
        return self._a_transaction(lambda usage: [one.flushes for one in usage.devices.values()])

    @property
    def reads_anything(self) -> bool:
        """Whether the load reads."""
        return any(one.load.reads for one in self.trials)

    @property
    def writes_anything(self) -> bool:
        """Whether the load writes."""
        return any(one.load.writes for one in self.trials)

    @property
    def data_bytes(self) -> int | None:
        """Size of the data set; None of a job, which makes its own."""
        if any(one.load.operations or one.load.iterations for one in self.trials):
            return None
        return next((one.trial.data.data_bytes for one in self.trials if one.trial.data), None)

    @property
    def engine(self) -> str | None:
        """Storage engine of the tables, where the server has several."""
        return next((data.engine or data.job_engine for one in self.trials if (data := one.trial.data)), None)

    def _a_transaction(self, counts: Callable[[Usage], list[int] | list[int | None]]) -> float | None:
        def share(one: Audited) -> float | None:
            found = counts(one.trial.usage) if one.trial.usage else []
            known = [count for count in found if count is not None]
            if not known or len(known) < len(found) or not one.load.transactions:
                return None
            return sum(known) / one.load.transactions

        return self._median(share)

    def _disk_share(
        self, disks: Callable[[Usage], list[DeviceUsage]], busy_s: Callable[[DeviceUsage], float]
    ) -> float | None:
        def share(usage: Usage) -> float | None:
            found = disks(usage)
            return min(max(map(busy_s, found)) / usage.seconds, 1.0) if found and usage.seconds else None

        return self._of_usage(share)

    def _of_usage(self, figure: Callable[[Usage], float | None]) -> float | None:
        return self._median(lambda one: figure(one.trial.usage) if one.trial.usage else None)

    def _median(self, figure: Callable[[Audited], float | None]) -> float | None:
        known = [value for one in self.trials if (value := figure(one)) is not None]
        return median(known) if known else None


def _one_at_a_time(places: Sequence[Place], machine: Machine | None) -> frozenset[str]:
    """Return the disks, by their kernel names, that serve one request at a time.

    Hypervisors call most of their disks spinning; such a disk has no model of its own.
    """

    def one(device: BlockDevice, virtual: VirtualFacts | None) -> bool:
        if virtual is not None:
            return virtual.one_at_a_time
        real = device.model is not None and not (machine and machine.virtualised)
        return real and bool(device.rotational) and len(device.leaves) <= 1

    disks = [(place.device, place.virtual) for place in places if place.device]
    disks += [
        (member.device, member.virtual) for place in places if place.pool for member in place.pool.members
    ]
    return frozenset(name for device, virtual in disks if one(device, virtual) for name in device.counted)
