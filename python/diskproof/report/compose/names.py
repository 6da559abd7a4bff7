"""What the names of storages and tuning levels stand for, in a few words each."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.families.facts import LEVELS, Level
from diskproof.results.factor import Factor
from diskproof.results.machine import Place, ServerFacts
from diskproof.results.plan import Plan
from diskproof.stats.grouping import grouped
from diskproof.wording import Message, numbers, say

TUNINGS: dict[Level, str] = {
    "safest": "commits wait for the disk",
    "fast": "commits do not wait",
    "unsafe": "nothing waits",
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
    return f"{servers(analysis)}{cpus}{slow_time(plan)}{f' with {numbers.listed(common)}' if common else ''}"


def slow_time(plan: Plan) -> str:
    """Return how many times slower time passed, and what the CPUs stand for; empty if it was as usual."""
    if plan.dilation == 1:
        return ""
    each = "" if plan.cpus_count == 1 else f": each CPU stands for {plan.cpus_count}"
    return f" (time slowed {plan.dilation} times, figures corrected{each})"


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
    tunings = [(name, TUNINGS[name]) for name in LEVELS if name in tuned and len(tuned) > 1]
    own = [(name, said) for name in tuned if (said := _own_tuning(analysis, name))]
    each = [f"{name} = {what}" for name, what in (*storages(analysis).items(), *tunings, *own)]
    said = "; ".join([*each, *workloads(analysis)])
    return f"{said}." if said else ""


def _levels(analysis: Analysis, factor: Factor) -> list[str]:
    return list(dict.fromkeys(cell.level(factor) for cell in analysis.plan.every_cell))


def in_short(analysis: Analysis, level: str) -> str:
    """Return a level with what it is, as a key under a picture has it: ``dram = main memory``."""
    what = storages(analysis).get(level)
    own = analysis.plan.tunings.get(level)
    if what is None and level in LEVELS:
        what = None if own else TUNINGS[level]  # with settings of the study's own it is another level
    elif what is None and own:
        what = _with_base(analysis, own)
    return f"{level} = {what}" if what else level


def tunings(analysis: Analysis) -> list[str]:
    """Return what each level is, if there are several: ``safest = commits wait for the disk``."""
    tuned = _levels(analysis, "tuning")
    return [said for name in tuned if (said := in_short(analysis, name)) != name] if tuned[1:] else []


def storages(analysis: Analysis) -> dict[str, str]:
    """Return what each storage is: ``main memory``, ``a directory on vda``; the points of a curve are one."""
    used, dials = _levels(analysis, "storage"), analysis.plan.dials
    found = {}
    for one in (dials[name] for name in used if name in dials):
        found[one.dial] = f"a model, `{one.device}`, with {numbers.listed(list(one.values))} varied"
    each = analysis.machine.each if analysis.machine else []
    by_host = [grouped(one.places, lambda place: place.storage) for one in each]
    for name in [one for one in used if one not in dials]:
        hosts = [places[name] for places in by_host if name in places]
        virtual = [place.virtual for places in hosts for place in places if place.virtual]
        # Of one storage alone, only that it is a model needs words.
        if hosts and (len(used) > 1 or virtual):
            found[name] = " or ".join(dict.fromkeys(_roles(places) for places in hosts))
    return found


def _own_tuning(analysis: Analysis, name: str) -> str:
    """Return what a level of the user's own is, and what a power cut may take by its settings.

    Empty if neither is known, and of a level as it stands.
    """
    what = analysis.plan.tunings.get(name)
    if name in LEVELS and what is None:
        return ""
    by_losses = grouped(
        (one for one in analysis.level_risks if one.tuning == name),
        lambda one: numbers.listed([loss.text for loss in one.losses]),
    )
    said = [_with_base(analysis, what)] if what else []
    said += (
        (f"in {numbers.listed([one.server for one in alike])} " if len(by_losses) > 1 else "")
        + (f"after a power cut {losses}" if losses else TUNINGS["safest"])
        for losses, alike in by_losses.items()
    )
    return ", ".join(said)


def _with_base(analysis: Analysis, own: Message) -> str:
    """Return what a level of the user's own is; what it starts from last, if that was not tested."""
    base = next((one for one in LEVELS if one == own.values.get("base")), None)
    if base is None or base in _levels(analysis, "tuning"):
        return own.text
    changes = say("{changes}", changes=own.values["changes"]).text
    return f"{changes}, the rest as in {base} ({TUNINGS[base]})"


def workloads(analysis: Analysis) -> Iterator[str]:
    """Yield what each workload does, and on how much data."""
    used = {cell.workload for cell in analysis.plan.cells}
    for name, words in analysis.plan.loads.items():
        if name not in used:
            continue
        of = (one for one in analysis.cells if one.cell.workload == name and one.cell.has_server and one.data)
        data = next((one.data for one in of if one.data), None)
        yield f"{name} = {words.text}{f', {numbers.size(data.data_bytes)} of data' if data else ''}"


def _roles(places: Sequence[Place]) -> str:
    """Return what a storage is: where the data lie, and the roles that lie elsewhere."""
    said = {place.role: _place(place) for place in places}
    data = said.get("data", next(iter(said.values())))
    elsewhere = grouped((role for role in said if said[role] != data), said.__getitem__)
    return ", but ".join(
        [data, *(f"{numbers.listed(roles)} on {where}" for where, roles in elsewhere.items())]
    )


def _place(place: Place) -> str:
    on = f" on {place.device.name}" if place.device else ""
    on += ", throttled" if place.throttle else ""
    if place.in_memory:
        return "main memory"
    if place.virtual:
        ignores = " that ignores flushes" if place.virtual.flushes_ignored else ""
        return f"a virtual disk{ignores} ({place.virtual.title.removeprefix('A ')})"
    if place.pool:
        return f"a ZFS pool of {numbers.count(len(place.pool.members), 'disk')}"
    return f"a directory{on}" if place.kind == "directory" else f"{place.filesystem}{on}"
