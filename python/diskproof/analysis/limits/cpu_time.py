"""CPU time: whose it is, how full the CPUs are, and what others took of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from diskproof.analysis.evidence import Side, middle
from diskproof.analysis.gather import Audited
from diskproof.analysis.limits.disks import MICRO
from diskproof.audit.host import taken_by_others
from diskproof.results.usage import Party

Each = Callable[[float | None, Audited], float | None]
"""What of a trial's figure falls to one of its transactions."""

PARTIES: tuple[Party, ...] = get_args(Party)


@dataclass(frozen=True)
class Cpu:
    """CPU time, of a transaction if not said otherwise."""

    used_us: Mapping[Party, float]
    waited_us: Mapping[Party, float]
    """Time for which a party's threads were ready and had no CPU."""
    taken: float
    """Share of the usable CPU time that other work and the hypervisor took; 0 if it is not known."""
    count: int | None = None
    """CPUs that server and load could use; None of a server that was there already, and so all that follows
    from them."""
    shares: Mapping[Party, float] = field(default_factory=dict)
    """Each party's share of the CPU time; virtual disks and the load only if they use the same CPUs."""
    work_us: float | None = None
    """The database's, including background threads."""
    all_us: float | None = None
    """That of all parties that share those CPUs."""
    busy: float | None = None
    """Busy share of the usable CPUs, by anybody if that is known."""
    others_share: float | None = None
    """Share of the CPUs' busy time that other work had, if the counted CPUs are those of server and load."""
    each_client: float | None = None
    """How many CPUs each client keeps busy, including all who work for it."""
    runnable: float | None = None
    """Mean number of threads that ran or were ready to."""


def taken_share(trials: Sequence[Audited]) -> float:
    """Return the share of the usable CPU time that others took, as a median; 0 if it is not known."""
    return middle(one.once(_taken) for one in trials) or 0.0


def _taken(trial: Audited) -> float | None:
    return taken_by_others(trial.evidence)


def cpu_time(
    side: Side, each: Each, per_s: float | None, inside: int, database: Party | None, taken: float
) -> Cpu:
    """Return what is known of the CPUs; if nothing counts the `database`, only what the load used."""

    def parties(figure: Callable[[Audited, Party], float | None]) -> dict[Party, float]:
        found = {party: middle(each(figure(one, party), one) for one in side.trials) for party in PARTIES}
        return {party: seconds * MICRO for party, seconds in found.items() if seconds is not None}

    used_us = parties(_cpu_s)
    if database is None:
        return Cpu(used_us, parties(_waited_s), taken)
    machine = side.machine
    apart = {"disks"} if machine and 0 < len(machine.held_cpus) < machine.cpus else set()
    apart |= {"load"} if any(one.trial.load_hosts for one in side.trials) else set()
    shared = {party: used for party, used in used_us.items() if party not in apart}
    all_us = sum(shared.values()) if database in used_us else None
    used_cpus = all_us * per_s / MICRO if all_us is not None and per_s else None
    busy, others = side.machine_share, None
    if busy and used_cpus is not None and side.cpus and side.counted_cpus == side.cpus:
        others = max(1 - used_cpus / (busy * side.cpus), 0.0)
    if busy is None and used_cpus is not None and side.cpus:
        busy = min(used_cpus / side.cpus, 1.0)
    return Cpu(
        count=side.cpus,
        used_us=used_us,
        waited_us=parties(_waited_s),
        shares={party: used / sum(shared.values()) for party, used in shared.items() if used},
        work_us=used_us.get(database),
        all_us=all_us,
        busy=busy,
        others_share=others,
        taken=taken,
        each_client=None if used_cpus is None else used_cpus / inside,
        runnable=middle(one.trial.usage.runnable_mean for one in side.trials if one.trial.usage),
    )


def _cpu_s(one: Audited, party: Party) -> float | None:
    usage = one.trial.usage
    if usage and party in usage.cpu:
        return usage.cpu[party].used_s
    if party == "server":
        return usage.server_cpu_s if usage else None
    return one.load.client.cpu_s if party == "load" and one.load.client else None


def _waited_s(one: Audited, party: Party) -> float | None:
    usage = one.trial.usage
    if usage and party in usage.cpu:
        return usage.cpu[party].waited_s
    return one.load.client.waited_for_cpu_s if party == "load" and one.load.client else None
