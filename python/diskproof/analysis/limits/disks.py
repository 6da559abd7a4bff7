"""The disks below a cell's storage, as the kernel counted them and as virtual disks counted themselves."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from diskproof.analysis.evidence import middle
from diskproof.analysis.limits.thresholds import AT_ONCE
from diskproof.results.machine import Place
from diskproof.results.record import Role
from diskproof.results.trial import Trial
from diskproof.results.usage import DeviceUsage, RequestsServed, VirtualUse

MICRO = 1e6

DATA: tuple[Role, ...] = ("data",)
REDO: tuple[Role, ...] = ("redo",)
BINLOG: tuple[Role, ...] = ("binlog",)


@dataclass(frozen=True)
class Requests:
    """One kind of requests to a disk: medians over trials."""

    present: float | None
    """Mean number under way at the disk."""
    per_s: float
    mean_us: float | None
    mean_bytes: float | None = None

    @property
    def serial_share(self) -> float | None:
        """The share of time with one under way, if there is never more than one."""
        return None if self.present is None else min(self.present, 1.0)


@dataclass(frozen=True)
class Disk:
    """One disk below the cell's storage, by one account of it."""

    name: str
    roles: tuple[Role, ...]
    one_at_a_time: bool
    busy: float | None
    """Share of the time with any request; None if the account does not say."""
    read: Requests
    write: Requests
    flush: Requests | None
    """None: flushes are not counted."""

    @property
    def answers_at_once(self) -> bool:
        """Whether it has no volatile cache to flush: it gets no flushes, or answers them at once."""
        if self.flush is None or not self.write.mean_us:
            return False
        return (self.flush.mean_us or 0.0) <= AT_ONCE * self.write.mean_us

    @property
    def flushing(self) -> float:
        """Mean number of flushes under way; 0 if they are not counted."""
        return (self.flush.present or 0.0) if self.flush else 0.0


def counted_disks(
    trials: Sequence[Trial], places: Sequence[Place], one_at_a_time: Collection[str], *, counts_flushes: bool
) -> list[Disk]:
    """Return the disks as the kernel counted them.

    These are the last trial's: a resumed run had others by name before, which must not count twice.
    """
    last = next((one.usage for one in reversed(trials) if one.usage), None)
    found = []
    for name in sorted(last.devices if last else ()):
        usages = [one.usage for one in trials if one.usage and name in one.usage.devices]
        used = [(usage.devices[name], usage.seconds) for usage in usages if usage.seconds]
        counted = counts_flushes and any(device.flushes is not None for device, _ in used)
        found.append(
            Disk(
                name=name,
                roles=_roles(place for place in places if name in place.counted),
                one_at_a_time=name in one_at_a_time,
                busy=middle(min(device.busy_s / whole_s, 1.0) for device, whole_s in used),
                read=_counted(used, lambda device: (device.reads, device.read_s, device.read_bytes)),
                write=_counted(used, lambda device: (device.writes, device.write_s, device.written_bytes)),
                flush=_counted(used, lambda device: (device.flushes, device.flush_s, 0)) if counted else None,
            )
        )
    return found


def _counted(
    used: Sequence[tuple[DeviceUsage, float]],
    kind: Callable[[DeviceUsage], tuple[int | None, float | None, int]],
) -> Requests:
    timed = [(*kind(device), whole_s) for device, whole_s in used]
    return Requests(
        present=middle(None if spent_s is None else spent_s / whole_s for _, spent_s, _, whole_s in timed),
        per_s=middle((number or 0) / whole_s for number, *_, whole_s in timed) or 0.0,
        mean_us=middle(
            spent_s / number * MICRO if spent_s is not None and number else None
            for number, spent_s, *_ in timed
        ),
        mean_bytes=middle(size / number if number and size else None for number, _, size, _ in timed),
    )


def virtual_disks(trials: Sequence[Trial], places: Sequence[Place]) -> list[Disk]:
    """Return the virtual disks as they counted themselves."""
    facts = {disk.name: disk for place in places for disk in place.virtual_disks}
    found = []
    for name in sorted({use.name for one in trials for use in one.virtual_disks}):
        uses = [use for one in trials for use in one.virtual_disks if use.name == name and use.seconds]
        found.append(
            Disk(
                name=name,
                roles=_roles(
                    place for place in places if name in {disk.name for disk in place.virtual_disks}
                ),
                one_at_a_time=name in facts and facts[name].one_at_a_time,
                busy=None,
                read=_served(uses, lambda use: use.read),
                write=_served(uses, lambda use: use.write),
                flush=_served(uses, lambda use: use.flush),
            )
        )
    return found


def _served(uses: Sequence[VirtualUse], kind: Callable[[VirtualUse], RequestsServed]) -> Requests:
    served = [(kind(use), use.seconds) for use in uses]
    return Requests(
        present=middle(_present(requests, whole_s) for requests, whole_s in served),
        per_s=middle(requests.requests / whole_s for requests, whole_s in served) or 0.0,
        mean_us=middle(requests.latency_us.mean if requests.latency_us else None for requests, _ in served),
        mean_bytes=middle(
            one.bytes / one.requests if one.requests and one.bytes else None for one, _ in served
        ),
    )


def _present(served: RequestsServed, whole_s: float) -> float | None:
    if not served.requests:
        return 0.0
    return served.requests * served.latency_us.mean / MICRO / whole_s if served.latency_us else None


def holding(disks: Iterable[Disk], roles: Collection[Role]) -> list[Disk]:
    """Return the disks that hold one of the roles; all if no disk's roles are known."""
    found = list(disks)
    known = [disk for disk in found if set(disk.roles) & set(roles)]
    return known if any(disk.roles for disk in found) else found


def first_known(
    accounts: Iterable[Sequence[Disk]], roles: Collection[Role], time_us: Callable[[Disk], float | None]
) -> float | None:
    """Return a time of the first disk that holds one of the roles and for which an account knows it."""
    disks = (disk for account in accounts for disk in holding(account, roles))
    return next((found for disk in disks if (found := time_us(disk))), None)


def mean_read_us(disks: Sequence[Disk]) -> float | None:
    """Return the mean time of a read of some disks; None if it was not counted."""
    known = [(one.read.per_s, one.read.mean_us) for one in disks if one.read.mean_us is not None]
    total = sum(rate for rate, _ in known)
    return sum(rate * mean for rate, mean in known) / total if total else None


def named(disks: Sequence[Disk]) -> str:
    """Return the names of disks: ``vda and vdb``."""
    return " and ".join(one.name for one in disks)


def _roles(places: Iterable[Place]) -> tuple[Role, ...]:
    return tuple(dict.fromkeys(place.role for place in places))
