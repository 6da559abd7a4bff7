"""Where and how it was measured: the machine, the servers, the places and their devices; the method."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import cut_words, head, names
from diskproof.report.compose.names import is_given
from diskproof.report.compose.tables import table
from diskproof.report.document import Column, Paragraph, Section, Table
from diskproof.report.intervals import confidence
from diskproof.results.machine import Machine, Place, ServerFacts
from diskproof.results.profile import ProfileMachine
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import NOT_OBSERVED, count, duration, percent, size


def section(analysis: Analysis) -> Section:
    """Return the facts of the machine, or why there are none."""
    facts = analysis.machine
    blocks: tuple[Paragraph | Section, ...]
    if facts is None and analysis.plan.imported:
        blocks = (Paragraph("Nothing is known of the machine: imported results do not describe it."),)
    elif facts is None:
        blocks = (Paragraph("The run ended before the facts of the machine were collected."),)
    else:
        hosts = {f"Host {name}": one for name, one in facts.others.items()} or {"": facts}
        blocks = (
            *(Section(name, (machine(of), servers(of), places(of))) for name, of in hosts.items()),
            *(Section(f"Load host {name}", (machine(one),)) for name, one in facts.loads.items()),
        )
    return Section("Machine", blocks, anchor="machine", contents="Machine")


def facts_table(rows: Sequence[tuple[str, str]], label: str) -> Table:
    """Return a row a fact."""
    return Table((Column("Fact"), Column("Value")), tuple(rows), label)


def machine(facts: Machine) -> Table:
    """Return a row a fact of the machine."""
    rows = (
        *host_facts(facts),
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
        ("Options", lambda some: some[0].mount_options),
        ("Device", lambda some: f"{_device_name(some[0])} ({some[0].device_number})"),
        ("Size", lambda some: size(some[0].device.size_bytes) if some[0].device else NOT_OBSERVED),
        ("Write cache", lambda some: (some[0].device and some[0].device.write_cache) or NOT_OBSERVED),
        label="Where each role of each storage lies",
        heads=2,
    )


def _device_name(place: Place) -> str:
    if place.device and place.virtual:
        return f"{place.device.name}, virtual: {place.virtual.title}"
    if place.device:
        return " ".join(filter(None, (place.device.name, place.device.model)))
    if place.pool:
        members = [f"{one.part} on {one.device.name} ({one.disk})" for one in place.pool.members]
        return f"{place.pool.flavour} pool: {', '.join(members)}"
    if place.virtual:
        return f"virtual: {place.virtual.title}"
    return "main memory" if place.kind == "ram" else "no single device"


def method(analysis: Analysis) -> Section:
    """Return the facts of the method."""
    content = facts_table(tuple(method_facts(analysis)), "How it was measured")
    return Section("How it was measured", (content,), anchor="method", contents="Method")


def method_facts(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """Yield how the trials and cuts were made, and what the intervals mean."""
    plan = analysis.plan
    if plan.imported:
        yield "Read from", f"{'; '.join(plan.imported_from)}, other tools' output"
        yield "Not known", "whether data and server were put back, the order of the runs, the warm-up"
    elif head.has_speed(plan):
        cells = f"{head.blocks(plan)}, each one pass over all {count(len(plan.cells), 'cell')}"
        yield "Order", f"{cells} in a fresh random order (seed {plan.seed})"
        begun = "there already, and kept running" if is_given(analysis) else "restarted"
        yield "A trial", f"data restored, server {begun}; {head.measured_for(plan)}"
    if head.has_speed(plan):
        kind = "t-intervals on the logarithms over the blocks"
        if plan.at_most_s is not None:
            kind = "anytime-valid: they hold however often the run looked at them"
            known = "verdict was decided"
            if plan.precision is not None:
                known = f"ratio was known within {percent(plan.precision)}"
            yield "It ended", f"when each {known}, or after {duration(plan.at_most_s)} of trials"
        yield "Intervals", f"{confidence(analysis)}, {kind}"
        yield "Different", "only after Holm's adjustment over all verdicts of the run"
        yield "The same", f"if the whole interval of a ratio lies within ±{percent(plan.same_within)}"
    if plan.crash is not None:
        yield from cut_words.method(plan.crash)
    if scale := head.scale(plan):
        yield "Scale", scale
