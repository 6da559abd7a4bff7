"""The disks below a cell's storage, as the kernel counted them and as virtual ones counted themselves."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from diskproof.results.machine import Place
from diskproof.results.record import Role
from diskproof.results.trial import Trial
from diskproof.results.usage import DeviceUsage, RequestsServed, VirtualUse

MICRO = 1e6


@dataclass(frozen=True)
class Kind:
    """One kind of request to a disk: medians over trials."""

    present: float | None
    """How many were under way at the disk in the mean."""
    per_s: float
    mean_us: float | None

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
    """Share of the time in which it had something to do; None where that account does not tell."""
    read: Kind
    write: Kind
    flush: Kind | None
    """None: flushes are not counted."""


def counted_disks(
    trials: Sequence[Trial], places: Sequence[Place], one_at_a_time: Collection[str], *, counts_flushes: bool
) -> list[Disk]:
    """Return the disks as the kernel counted them.

    Those of the last trial: a run that was resumed has had others, by name, and must not count them twice.
    """
    last = next((one.usage for one in reversed(trials) if one.usage), None)
    return [
        _counted(name, trials, places, one_at_a_time, counts_flushes=counts_flushes)
        for name in sorted(last.devices if last else ())
    ]


def _counted(
    name: str,
    trials: Sequence[Trial],
    places: Sequence[Place],
    one_at_a_time: Collection[str],
    *,
    counts_flushes: bool,
) -> Disk:
    used = [
        (one.usage.devices[name], one.usage.seconds)
        for one in trials
        if one.usage and name in one.usage.devices and one.usage.seconds
    ]

    def kind(
        count: Callable[[DeviceUsage], int | None], seconds: Callable[[DeviceUsage], float | None]
    ) -> Kind:
        timed = [(count(device), seconds(device), whole_s) for device, whole_s in used]
        return Kind(
            present=middle(None if spent is None else spent / whole for _, spent, whole in timed),
            per_s=middle((number or 0) / whole for number, _, whole in timed) or 0.0,
            mean_us=middle(
                spent / number * MICRO if spent is not None and number else None for number, spent, _ in timed
            ),
        )

    tells = counts_flushes and any(device.flushes is not None for device, _ in used)
    return Disk(
        name=name,
        roles=_roles(places, lambda place: name in _names_below(place)),
        one_at_a_time=name in one_at_a_time,
        busy=middle(min(device.busy_s / whole, 1.0) for device, whole in used),
        read=kind(lambda device: device.reads, lambda device: device.read_s),
        write=kind(lambda device: device.writes, lambda device: device.write_s),
        flush=kind(lambda device: device.flushes, lambda device: device.flush_s) if tells else None,
    )


def virtual_disks(trials: Sequence[Trial], places: Sequence[Place]) -> list[Disk]:
    """Return the virtual disks as they counted themselves."""
    names = {use.name for one in trials for use in one.virtual_disks}
    return [_virtual(name, trials, places) for name in sorted(names)]


def _virtual(name: str, trials: Sequence[Trial], places: Sequence[Place]) -> Disk:
    uses = [use for one in trials for use in one.virtual_disks if use.name == name and use.seconds]

    def kind(served: Callable[[VirtualUse], RequestsServed]) -> Kind:
        told = [(served(use), use.seconds) for use in uses]
        return Kind(
            present=middle(_present(requests, whole) for requests, whole in told),
            per_s=middle(requests.requests / whole for requests, whole in told) or 0.0,
            mean_us=middle(requests.latency_us.mean if requests.latency_us else None for requests, _ in told),
        )

    facts = {disk.name: disk for place in places for disk in place.virtual_disks}
    return Disk(
        name=name,
        roles=_roles(places, lambda place: name in {disk.name for disk in place.virtual_disks}),
        one_at_a_time=name in facts and facts[name].one_at_a_time,
        busy=None,
        read=kind(lambda use: use.read),
        write=kind(lambda use: use.write),
        flush=kind(lambda use: use.flush),
    )


def _present(served: RequestsServed, whole_s: float) -> float | None:
    if not served.requests:
        return 0.0
    return served.requests * served.latency_us.mean / MICRO / whole_s if served.latency_us else None


def holding(disks: Iterable[Disk], roles: Collection[Role]) -> list[Disk]:
    """Return those disks on which one of the roles lies; all where it is not known what lies where."""
    found = list(disks)
    known = [disk for disk in found if set(disk.roles) & set(roles)]
    return known if any(disk.roles for disk in found) else found


def _roles(places: Sequence[Place], below: Callable[[Place], bool]) -> tuple[Role, ...]:
    return tuple(dict.fromkeys(place.role for place in places if below(place)))


def _names_below(place: Place) -> list[str]:
    devices = [place.device] if place.device else []
    devices += [member.device for member in place.pool.members] if place.pool else []
    return [name for device in devices for name in device.counted]


def middle(values: Iterable[float | None]) -> float | None:
    """Return the median of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return median(known) if known else None
