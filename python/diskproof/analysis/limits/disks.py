"""The disks below a cell's storage, as the kernel counted them and as virtual disks counted themselves."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from diskproof.analysis.evidence import Side, medians, middle
from diskproof.analysis.gather import Audited
from diskproof.analysis.limits.thresholds import AT_ONCE
from diskproof.results.record import Role
from diskproof.results.usage import RequestsServed

MICRO = 1e6

DATA: tuple[Role, ...] = ("data",)
REDO: tuple[Role, ...] = ("redo",)
BINLOG: tuple[Role, ...] = ("binlog",)


@dataclass(frozen=True)
class Requests:
    """One kind of requests to a disk: medians over trials."""

    present: float | None = None
    """Mean number under way at the disk."""
    per_s: float = 0.0
    mean_us: float | None = None
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


def counted_disks(side: Side) -> list[Disk]:
    """Return the disks as the kernel counted them.

    These are the last trial's: a resumed run had others by name before, which must not count twice.
    """
    last = next((one.trial.usage for one in reversed(side.trials) if one.trial.usage), None)
    return [_disk(side, name, _counted) for name in sorted(last.devices if last else ())]


def virtual_disks(side: Side) -> list[Disk]:
    """Return the virtual disks as they counted themselves."""
    names = {use.name for one in side.trials for use in one.trial.virtual_disks}
    return [_disk(side, name, _served) for name in sorted(names)]


class _Counts(NamedTuple):
    """One disk in a trial."""

    busy: float | None
    read: Requests
    write: Requests
    flush: Requests | None


def _disk(side: Side, name: str, of_trial: Callable[[Audited], Mapping[str, _Counts]]) -> Disk:
    counts = [seen[name] for one in side.trials if name in (seen := one.once(of_trial))]
    flushes = [one.flush for one in counts if one.flush] if side.counts_flushes or of_trial is _served else []
    here = (one for one in side.lately if name in (*one.counted, *(disk.name for disk in one.virtual_disks)))
    return Disk(
        name=name,
        roles=tuple(dict.fromkeys(place.role for place in here)),
        one_at_a_time=name in side.one_at_a_time,
        busy=middle(one.busy for one in counts),
        read=_middle([one.read for one in counts]),
        write=_middle([one.write for one in counts]),
        flush=_middle(flushes) if flushes else None,
    )


def _middle(requests: Sequence[Requests]) -> Requests:
    return Requests(**medians([vars(one) for one in requests]))


def _counted(trial: Audited) -> Mapping[str, _Counts]:
    """Return what the kernel counted of each disk in a trial."""
    usage = trial.trial.usage
    if usage is None or not usage.seconds:
        return {}

    def of(number: int, spent_s: float | None, size_bytes: int) -> Requests:
        return Requests(
            present=None if spent_s is None else spent_s / usage.seconds,
            per_s=number / usage.seconds,
            mean_us=spent_s / number * MICRO if spent_s is not None and number else None,
            mean_bytes=size_bytes / number if number and size_bytes else None,
        )

    return {
        name: _Counts(
            min(one.busy_s / usage.seconds, 1.0),
            of(one.reads, one.read_s, one.read_bytes),
            of(one.writes, one.write_s, one.written_bytes),
            None if one.flushes is None else of(one.flushes, one.flush_s, 0),
        )
        for name, one in usage.devices.items()
    }


def _served(trial: Audited) -> Mapping[str, _Counts]:
    """Return what each virtual disk counted in a trial."""

    def of(served: RequestsServed, whole_s: float) -> Requests:
        mean_us = served.latency_us.mean if served.latency_us else None
        present = None if mean_us is None else served.requests * mean_us / MICRO / whole_s
        return Requests(
            present=present if served.requests else 0.0,
            per_s=served.requests / whole_s,
            mean_us=mean_us,
            mean_bytes=served.bytes / served.requests if served.requests and served.bytes else None,
        )

    return {
        use.name: _Counts(None, *(of(kind, use.seconds) for kind in (use.read, use.write, use.flush)))
        for use in trial.trial.virtual_disks
        if use.seconds
    }


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
