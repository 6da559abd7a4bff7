"""Where it was measured: the machine, the servers, the places and their devices."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import names
from diskproof.report.compose.tables import figures, table
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Column, Paragraph, Section, Table
from diskproof.results.load_host import LoadHost
from diskproof.results.machine import Machine, Place, PoolFacts, ServerFacts
from diskproof.results.profile import ProfileMachine
from diskproof.results.trial import Trial
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import NOT_OBSERVED, count, number, size

NO_MACHINE = "The run ended before the facts of the machine were collected."
NO_MACHINE_IMPORTED = "Nothing is known of the machine: imported results do not describe it."

LOAD_HOSTS_NOTE = (
    "Means over the trials. Round trip: a few bytes over TCP, before each trial. Network: the slower "
    "direction of one connection, before the first trial; used: of that in the measured phase."
)


def section(analysis: Analysis, trials: Sequence[Trial]) -> Section:
    """Return the facts of the machine, or why there are none."""
    facts = analysis.machine
    if facts is None:
        nothing = NO_MACHINE_IMPORTED if analysis.plan.imported else NO_MACHINE
        blocks: tuple[Paragraph | Table | Section, ...] = (Paragraph(nothing),)
    else:
        loaders = load_hosts(analysis, trials)
        alone = (
            machine(facts),
            Section("Servers", (servers(facts),)),
            Section("Places", (places(facts),)),
            Section("Devices", (devices(facts),)),
        )
        of_hosts = (
            Section(f"Host {name}", (machine(one), servers(one), places(one), devices(one)))
            for name, one in facts.others.items()
        )
        of_loads = (Section(f"Load host {name}", (machine(one),)) for name, one in facts.loads.items())
        blocks = (
            *(() if facts.others else alone),
            *of_hosts,
            *of_loads,
            *([Section("Load hosts", (Paragraph(LOAD_HOSTS_NOTE), loaders))] if loaders.rows else []),
        )
    return Section("Machine", blocks, anchor="machine", contents="Machine")


def facts_table(rows: Sequence[tuple[str, str]], label: str) -> Table:
    """Return a row a fact."""
    return Table((Column("Fact"), Column("Value")), tuple(rows), label)


def machine(facts: Machine) -> Table:
    """Return a row a fact of the machine."""
    rows = (
        *host_facts(facts),
        *_held_cpus(facts),
        *_idle_cores(facts),
        ("Privileged", "yes" if facts.privileged else "no"),
        ("diskproof", facts.diskproof_version),
        ("diskproof-load", facts.load_version),
        *([("fio", facts.fio_version)] if facts.fio_version else []),
    )
    return facts_table(rows, "Facts of the machine")


def host_facts(facts: Machine | ProfileMachine) -> Iterator[tuple[str, str]]:
    """Yield what a run and a profile both say of their machine."""
    yield "Host", facts.host
    yield "CPU", f"{facts.cpu_model}, {count(facts.cpus, 'CPU')} usable"
    yield "CPU governor", facts.governor or "not visible"
    yield "Memory", size(facts.memory_bytes)
    yield "Virtual machine", facts.virtualised or "no sign of one"
    yield "System", f"{facts.distribution}, {facts.kernel}"


def _held_cpus(facts: Machine) -> Iterator[tuple[str, str]]:
    """Yield which CPUs were set aside for server and load, if any, and which were left to the rest."""
    if not facts.held_cpus:
        return
    numbers = ", ".join(map(str, facts.held_cpus))
    others = facts.cpus - len(facts.held_cpus) - len(facts.idle_cpus)
    on = "the same" if not others else "the other" if others == 1 else f"the {others} others"
    rest = f"virtual disks and diskproof on {on}"
    if facts.idle_cpus:
        rest += f"; nothing on the other threads of these cores ({', '.join(map(str, facts.idle_cpus))})"
    yield "Server and load", f"{count(len(facts.held_cpus), 'CPU')} ({numbers}); {rest}"


def _idle_cores(facts: Machine) -> Iterator[tuple[str, str]]:
    """Yield that idle cores were kept from deep sleep, if they were: other runs need not compare."""
    if facts.idle_wake_up_us is not None:
        asked = f"asked to wake within {facts.idle_wake_up_us} µs"
        yield "Idle cores", f"{asked}; in production they may sleep, and a request may take longer"


def servers(facts: Machine) -> Table:
    """Return a row a server under test."""
    return table(
        facts.servers,
        ("Server", lambda one: one.name),
        ("Version", names.program),
        ("Program", _program),
        label="Servers and their versions",
    )


def _program(server: ServerFacts) -> str:
    if server.address:
        return f"was there already: {server.address}"
    inside = f" in a container of {server.image}" if server.image else ""
    return f"{server.binary}{inside}" if server.binary else "inside the load generator"


def places(facts: Machine) -> Table:
    """Return a row a path of a storage: its roles, and what it lies on."""
    has_roles = any(one.family != "program" for one in facts.servers)
    return table(
        grouped(facts.places, lambda one: (one.storage, one.path)).values(),
        ("Storage", lambda some: some[0].storage),
        ("Holds", lambda some: ", ".join(one.role for one in some) if has_roles else "files"),
        ("Path", lambda some: some[0].path),
        ("File system", lambda some: some[0].filesystem),
        ("Mounted at", lambda some: some[0].mount_point),
        ("Options", lambda some: some[0].mount_options),
        ("Device", lambda some: f"{_device_name(some[0])} ({some[0].device_number})"),
        label="Where each role of each storage lies",
        heads=2,
    )


def devices(facts: Machine) -> Table:
    """Return a row a block device that a role lies on."""
    kinds = {True: "rotating", False: "not rotating", None: NOT_OBSERVED}
    return table(
        {place.device.name: place.device for place in facts.places if place.device}.values(),
        ("Device", lambda one: one.name),
        ("Model", lambda one: one.model or NOT_OBSERVED),
        ("Size", lambda one: size(one.size_bytes)),
        ("Kind", lambda one: kinds[one.rotational]),
        ("Write cache", lambda one: one.write_cache or NOT_OBSERVED),
        ("Scheduler", lambda one: one.scheduler or NOT_OBSERVED),
        ("Logical block", lambda one: size(one.logical_block_bytes)),
        label="Block devices",
    )


def _device_name(place: Place) -> str:
    if place.device and place.virtual:
        return f"{place.device.name}, virtual: {place.virtual.title}"
    if place.device:
        return place.device.name
    if place.pool:
        return _pool_name(place.pool)
    if place.virtual:
        return f"virtual: {place.virtual.title}"
    return "main memory" if place.kind == "ram" else "no single device"


def _pool_name(pool: PoolFacts) -> str:
    """Return what a pool is made of: ``zfs-fuse pool: data on loop0 (seagate), log on loop2 (ocz)``."""
    members = ", ".join(f"{member.part} on {member.device.name} ({member.disk})" for member in pool.members)
    return f"{pool.flavour} pool: {members}"


# ---------------------------------------------------------------- load hosts

Loads = tuple[str, str, list[LoadHost]]
"""A cell in words, a load host, and what it did in each trial."""


def load_hosts(analysis: Analysis, trials: Sequence[Trial]) -> Table:
    """Return a row a cell and load host: its share of the load, its CPUs, and the way to the server."""
    rows: list[Loads] = [
        (cell_words(cell, analysis.varying), name, did)
        for cell in analysis.plan.cells
        for name, did in grouped(
            [one for trial in trials if trial.cell == cell.id for one in trial.load_hosts],
            lambda one: one.name,
        ).items()
    ]

    def mean(
        figure: Callable[[LoadHost], float | None], words: Callable[[float | None], str] = number
    ) -> Callable[[Loads], str]:
        return lambda row: words(_mean([figure(one) for one in row[2]]))

    return table(
        rows,
        ("Cell", lambda row: row[0]),
        ("Load host", lambda row: row[1]),
        (figures("Clients"), lambda row: str(row[2][-1].clients)),
        (figures("Transactions/s"), mean(lambda one: one.transactions_per_s)),
        (figures("CPUs busy"), mean(lambda one: one.busy_share, _share)),
        (figures("Round trip µs"), mean(lambda one: one.network.round_trip_us)),
        (figures("Network MB/s"), mean(_network_mb_per_s)),
        (figures("Used"), mean(lambda one: one.network_share, _share)),
        label="Load hosts over the measured phases",
        heads=2,
    )


def _network_mb_per_s(one: LoadHost) -> float:
    return min(one.network.to_database_bytes_per_s, one.network.from_database_bytes_per_s) / 1e6


def _mean(figures: Sequence[float | None]) -> float | None:
    known = [one for one in figures if one is not None]
    return fmean(known) if known else None


def _share(share: float | None) -> str:
    return NOT_OBSERVED if share is None else f"{share:.1%}"
