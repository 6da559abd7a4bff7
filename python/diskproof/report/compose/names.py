"""What the names of storages and tuning levels stand for, in a few words each."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diskproof.analysis.answers import Analysis
from diskproof.families.facts import LEVELS, Level
from diskproof.results.factor import Factor
from diskproof.results.machine import Place, ServerFacts
from diskproof.stats.grouping import grouped
from diskproof.wording import numbers

TUNINGS: dict[Level, str] = {
    "safest": "commits wait for the disk",
    "fast": "commits do not wait",
    "unsafe": "a crash may ruin the database",
}


def tested(analysis: Analysis) -> str:
    """Return what was tested, with what does not vary; empty if it is not known.

    ``MariaDB 10.11.19 on 2 CPUs with 64 MiB of memory for data and 8 clients``.
    """
    plan, machine = analysis.plan, analysis.machine
    used = _servers(analysis)
    if machine is None or not used:
        return ""
    # The CPUs of a server on another machine are not known.
    known = all(one.address is None or one.may_be_here for one in used)
    memory = list(dict.fromkeys(cell.memory_bytes for cell in plan.every_cell if cell.memory_bytes))
    clients = {cell.clients for cell in plan.cells}
    common = [f"{numbers.size(memory[0])} of memory for data"] if len(memory) == 1 else []
    common += [numbers.count(number, "client") for number in clients] if len(clients) == 1 else []
    *fewer, most = sorted({plan.cpus or one.cpus for one in machine.each})
    cpus = f" on {' or '.join([*map(str, fewer), numbers.count(most, 'CPU')])}" if known else ""
    return f"{servers(analysis)}{cpus}{f' with {numbers.listed(common)}' if common else ''}"


def slow_time(analysis: Analysis) -> str:
    """Return how much slower time passed in trials, and what a CPU stands for; empty if it was not slowed."""
    plan = analysis.plan
    if plan.dilation == 1:
        return ""
    stands = f"; each CPU counts as {plan.cpus_count}" if plan.cpus_count > 1 else ""
    return f"Trials ran {plan.dilation} times slower, so that the model disks keep time{stands}"


def servers(analysis: Analysis) -> str:
    """Return the servers that were tested; empty if they are not known."""
    return numbers.listed(list(dict.fromkeys(program(one) for one in _servers(analysis))))


def program(one: ServerFacts) -> str:
    """Return a server with its version; a program of the user's own has none."""
    return "the study's program" if one.family == "program" else f"{one.flavour} {one.version}"


def _servers(analysis: Analysis) -> list[ServerFacts]:
    plan, machine = analysis.plan, analysis.machine
    used = {cell.server for cell in plan.every_cell}
    each = [] if machine is None or plan.imported else machine.each
    return [one for at in each for one in at.servers if one.name in used]


def is_given(analysis: Analysis) -> bool:
    """Report whether a server was there already: then diskproof only asks it."""
    each = analysis.machine.each if analysis.machine else []
    return any(server.address for one in each for server in one.servers)


def names(analysis: Analysis) -> str:
    """Return what workloads, storages and levels are; of one alone, only the workload needs words."""
    tuned = _levels(analysis, "tuning")
    levels = ((name, ", ".join(_level(analysis, name))) for name in tuned)
    own = [one for one in levels if one[1] and (tuned[1:] or one[1] not in TUNINGS.values())]
    known = (*storages(analysis).items(), *own, *workloads(analysis))
    said = "; ".join(f"{name} = {what}" for name, what in known)
    return f"{said}." if said else ""


def _levels(analysis: Analysis, factor: Factor) -> list[str]:
    return list(dict.fromkeys(cell.level(factor) for cell in analysis.plan.every_cell))


def in_short(analysis: Analysis, level: str) -> str:
    """Return a level with what it is, as a key under a picture has it: ``dram = main memory``."""
    parts = _level(analysis, level)
    # What a level may lose says more than what it changes, if it loses what no other level does.
    alike = [one for one in _levels(analysis, "tuning") if _risk(analysis, one) == _risk(analysis, level)]
    what = storages(analysis).get(level) or (parts[0 if alike[1:] else -1] if parts else "")
    return f"{level} = {what}" if what else level


def tunings(analysis: Analysis) -> list[str]:
    """Return what each level is, if there are several: ``safest = commits wait for the disk``."""
    tuned = _levels(analysis, "tuning")
    return [said for name in tuned if (said := in_short(analysis, name)) != name] if tuned[1:] else []


class Stored(NamedTuple):
    """What a storage is."""

    kind: str
    model: str = ""
    """Of a virtual disk: the disk that it imitates."""

    @property
    def text(self) -> str:
        """Both: ``a virtual disk (model of: desktop disk, 7200 rpm)``."""
        return f"{self.kind} (model of: {self.model})" if self.model else self.kind


def storages(analysis: Analysis) -> dict[str, str]:
    """Return what each storage is: ``main memory``, ``a directory on vda``; the points of a curve are one.

    A model that several share is named once.
    """
    found = _stored(analysis)
    first = {one.model: name for name, one in reversed(found.items())}
    return {name: one.text if first[one.model] == name else one.kind for name, one in found.items()}


def _stored(analysis: Analysis) -> dict[str, Stored]:
    used, dials = _levels(analysis, "storage"), analysis.plan.dials
    found = {}
    for one in (dials[name] for name in used if name in dials):
        found[one.dial] = Stored(f"a model, `{one.device}`, with {numbers.listed(list(one.values))} varied")
    each = analysis.machine.each if analysis.machine else []
    by_host = [grouped(one.places, lambda place: place.storage) for one in each]
    for name in [one for one in used if one not in dials]:
        hosts = [places[name] for places in by_host if name in places]
        virtual = [place.virtual for places in hosts for place in places if place.virtual]
        # Of one storage alone, only that it is a model needs words.
        if hosts and (len(used) > 1 or virtual):
            first, *others = dict.fromkeys(map(_roles, hosts))
            found[name] = Stored(" or ".join(one.text for one in (first, *others))) if others else first
    return found


def _level(analysis: Analysis, name: str) -> list[str]:
    """Return what a tuning level is; of one of the user's own, then what a power cut may take."""
    what = analysis.plan.tunings.get(name)
    if name in LEVELS and what is None:
        return [TUNINGS[name]]
    return [*filter(None, (what.text if what else "", _risk(analysis, name)))]


def _risk(analysis: Analysis, name: str) -> str:
    """Return what a power cut may take at a level, by its settings; empty if that is not known."""
    by_losses = grouped(
        (one for one in analysis.level_risks if one.tuning == name),
        lambda one: numbers.listed([loss.text for loss in one.losses]),
    )
    return ", ".join(
        (f"in {numbers.listed([one.server for one in alike])} " if len(by_losses) > 1 else "")
        + (f"after a power cut {losses}" if losses else TUNINGS["safest"])
        for losses, alike in by_losses.items()
    )


def loads(analysis: Analysis) -> str:
    """Return what each workload does, if there are several; of one, if nothing varies."""
    clients = {cell.workload: cell.clients for cell in analysis.plan.cells}
    said = {name: words.text for name, words in analysis.plan.loads.items() if name in clients}
    if len(said) == 1:
        return "" if analysis.varying else numbers.sentence_case(*said.values())
    by_load = len(set(clients.values())) > 1 and "clients" not in analysis.varying
    by = {name: f", {numbers.count(clients[name], 'client')}" * by_load for name in said}
    return "; ".join(f"{name} = {what}{by[name]}" for name, what in said.items())


def workloads(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """Yield what each workload does, and on how much data."""
    used = {cell.workload for cell in analysis.plan.cells}
    for name, words in analysis.plan.loads.items():
        if name not in used:
            continue
        of = (one for one in analysis.cells if one.cell.workload == name and one.cell.has_server and one.data)
        data = next((one.data for one in of if one.data), None)
        yield name, f"{words.text}{f', {numbers.size(data.data_bytes)} of data' if data else ''}"


def _roles(places: Sequence[Place]) -> Stored:
    """Return what a storage is: where the data lie, and the roles that lie elsewhere."""
    said = {place.role: _place(place) for place in places}
    data = said.get("data", next(iter(said.values())))
    apart = grouped((role for role in said if said[role] != data), said.__getitem__)
    elsewhere = [f"{numbers.listed(roles)} on {where.text}" for where, roles in apart.items()]
    return Stored(", but ".join([data.text, *elsewhere])) if elsewhere else data


def _place(place: Place) -> Stored:
    on = f" on {place.device.name}" if place.device else ""
    on += ", throttled" if place.throttle else ""
    if place.in_memory:
        return Stored("main memory")
    if place.virtual:
        ignores = " that ignores flushes" if place.virtual.flushes_ignored else ""
        return Stored(f"a virtual disk{ignores}", place.virtual.title.removeprefix("A "))
    if place.pool:
        return Stored(f"a ZFS pool of {numbers.count(len(place.pool.members), 'disk')}")
    return Stored(f"a directory{on}" if place.kind == "directory" else f"{place.filesystem}{on}")
