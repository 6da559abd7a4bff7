"""The same cells of two runs: what became faster, what slower, and what else changed in between."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from diskproof.analysis.answers import (
    Analysis,
    CellAnswer,
    CellComparison,
    ComparedRun,
    Comparison,
    FactDifference,
    Outcome,
)
from diskproof.analysis.limits.difference import difference_between
from diskproof.analysis.limits.records import Difference
from diskproof.analysis.regression import Demand, failed_conditions
from diskproof.analysis.safety.compare import compare_cuts
from diskproof.analysis.verdicts import decide, fewest_valid
from diskproof.audit.registry import bars_comparison
from diskproof.refusal import RefusalError
from diskproof.results.machine import Machine, Place
from diskproof.results.plan import NO_LEVEL, Cell, Phases, Plan
from diskproof.results.record import Record
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import RatioTest, independent_ratio
from diskproof.stats.multiple import adjusted
from diskproof.wording import Message, Quantity, as_message, bytes_, say, seconds
from diskproof.wording.numbers import listed

MOST_SIZES = 3
"""Sizes that a reason names; a job has dozens of operations."""

PHASES: dict[str, Callable[[Phases], float]] = {
    "warm-up": lambda phases: phases.warm_up_s,
    "measured phase": lambda phases: phases.measure_s,
}


_NAMES = (
    "; the names of files say what a cell is (`server=mysql-8.0,storage=ssd.txt`): give files that are to be "
    "compared the same names, and audit them with `--out` again"
)


class ComparisonError(RefusalError):
    """Two runs that have no cell in common."""


@dataclass(frozen=True)
class Pair:
    """One cell in both runs."""

    a: CellAnswer
    b: CellAnswer
    test: RatioTest | None
    """None: the two cannot be compared, for `reasons`."""
    reasons: list[Message]


def compare(
    a: Analysis,
    b: Analysis,
    labels: tuple[str, str] | None = None,
    conditions: Sequence[Demand] = (),
) -> Comparison:
    """Hold the second run against the first, cell by cell (matched by id).

    The runs were made apart, so their trials are not paired: Welch's interval on the logarithms, and
    Holm over all cells. The first run's ``same_within`` decides what is the same. Runs without labels are
    named by what tells them apart.

    Raises ComparisonError if no cell is in both.
    """
    of_a = {answer.cell.id: answer for answer in a.cells}
    of_b = {answer.cell.id: answer for answer in b.cells}
    common = [cell_id for cell_id in of_a if cell_id in of_b]
    cuts = compare_cuts((a.plan.crash, b.plan.crash), a.safety, b.safety)
    if not common and not cuts:
        hint = _NAMES if a.plan.imported or b.plan.imported else ""
        raise ComparisonError(
            "the two runs have no cell in common: the first has "
            f"{listed(_ids(a), 3)}; the second {listed(_ids(b), 3)}{hint}"
        )
    pairs = [_pair(a, b, of_a[cell_id], of_b[cell_id]) for cell_id in common]
    first, second = labels or labels_of((a, b))
    ps = adjusted([pair.test for pair in pairs])
    cells = [_compare_cell(a, b, pair, p) for pair, p in zip(pairs, ps, strict=True)]
    return Comparison(
        a=_run(a, first, common),
        b=_run(b, second, common),
        same_within=a.plan.same_within,
        varying=a.varying,
        cells=cells,
        only_a=[cell_id for cell_id in of_a if cell_id not in of_b],
        only_b=[cell_id for cell_id in of_b if cell_id not in of_a],
        cuts=cuts,
        differences=list(
            _differences(a, b, [*(of_a[one].cell for one in common), *(one.cell for one in cuts)])
        ),
        conditions=[one.words for one in conditions],
        failed=list(failed_conditions(conditions, cells, cuts, b)),
    )


def labels_of(runs: Sequence[Analysis]) -> tuple[str, ...]:
    """Return the shortest names that tell runs apart: study, machine, day, or time to the minute."""
    parts: tuple[Callable[[Analysis], str | None], ...] = (
        lambda run: run.plan.study,
        _host,
        lambda run: run.started_at and run.started_at[:10],
        lambda run: run.started_at and run.started_at[:16].replace("T", " "),
    )
    for part in parts:
        names = [name for run in runs if (name := part(run))]
        if len(set(names)) == len(runs):
            return tuple(names)
    if len(runs) == 2:
        return "the first run", "the second run"
    return tuple(f"run {number}" for number in range(1, len(runs) + 1))


def _run(analysis: Analysis, label: str, common: list[str]) -> ComparedRun:
    return ComparedRun(
        label=label,
        study=analysis.plan.study,
        host=_host(analysis),
        started_at=analysis.started_at,
        disturbances=[one for one in analysis.disturbances if not set(one.cells).isdisjoint(common)],
    )


def _host(analysis: Analysis) -> str | None:
    """Return the machines of a run, by their own names."""
    return listed([one.host for one in analysis.machine.each], 3) if analysis.machine else None


def _ids(analysis: Analysis) -> list[str]:
    """Return the cells of a run, those that are cut among them."""
    return [cell.id for cell in analysis.plan.every_cell] or ["none"]


def _pair(a: Analysis, b: Analysis, one: CellAnswer, two: CellAnswer) -> Pair:
    """Test one cell in both runs, or say why that cannot be done."""
    reasons = list(_why_not_comparable(a, b, one, two))
    if reasons:
        return Pair(one, two, None, reasons)
    test = independent_ratio(list(two.block_speeds.values()), list(one.block_speeds.values()))
    return Pair(one, two, test, [])


def _why_not_comparable(a: Analysis, b: Analysis, one: CellAnswer, two: CellAnswer) -> Iterator[Message]:
    yield from _other_sizes(a, b, one, two)
    for which, run, answer in (("first", a, one), ("second", b, two)):
        planned = len(run.plan.blocks())
        if answer.valid < fewest_valid(planned):
            yield say(
                "{valid} of {planned} planned trials in the {which} run {valid:is|are} valid; "
                "at least {needed} are needed",
                valid=answer.valid,
                planned=planned,
                which=which,
                needed=fewest_valid(planned),
            )
        elif not answer.block_speeds:
            yield say("the {which} run has no figure of it", which=which)
    for which, run in (("first", a), ("second", b)):
        for found in run.findings:
            if bars_comparison(found.finding) and found.trials and one.cell.id in found.cells:
                yield say("in the {which} run: {message}", which=which, message=found.finding.message)
    if one.metric != two.metric:
        yield say("the two runs measured it in different ways")
    if set(one.operations_run) != set(two.operations_run):
        yield say("the two runs did not run the same operations")


def _other_sizes(a: Analysis, b: Analysis, one: CellAnswer, two: CellAnswer) -> Iterator[Message]:
    """Say that a cell's data or work is of another size in the second run, by its scale or as recorded."""
    first, second = _scale(a), _scale(b)
    if first != second:
        yield say("the runs have different scales: {first} and {second}", first=first, second=second)
    others = [
        say(
            "{first:,.0f} {what} in the first run, {second:,.0f} in the second",
            first=one.sizes[what],
            what=what,
            second=two.sizes[what],
        )
        for what in one.sizes
        if what in two.sizes and one.sizes[what] != two.sizes[what]
    ]
    if others:
        more = len(others) - MOST_SIZES
        rest = [say("{more} more", more=more)] if more > 0 else []
        yield say("the size differs: {others:/; }", others=[*others[:MOST_SIZES], *rest])


def _scale(analysis: Analysis) -> Message:
    scale = analysis.plan.scale
    return say("`{scale}`", scale=scale.name) if scale else say("the study as it stands")


def _compare_cell(a: Analysis, b: Analysis, pair: Pair, p_adjusted: float | None) -> CellComparison:
    outcome: Outcome = "not comparable"
    ratio = pair.test.interval if pair.test else None
    if ratio is not None:
        outcome = decide(ratio, p_adjusted, a.plan.same_within)
    return CellComparison(
        cell=pair.a.cell,
        a=pair.a.figure,
        b=pair.b.figure,
        ratio=ratio,
        a_extrapolated=pair.a.extrapolated,
        b_extrapolated=pair.b.extrapolated,
        p_adjusted=p_adjusted,
        outcome=outcome,
        metric=pair.a.metric,
        reasons=pair.reasons,
        settings=list(_setting_differences(pair.a, pair.b)),
        difference=_difference(a, b, pair) if outcome in ("faster", "slower") else None,
    )


def _difference(a: Analysis, b: Analysis, pair: Pair) -> Difference | None:
    """Subtract the first run's mean transaction from the second's, part by part."""
    limits = [one.limits.cells if one.limits else [] for one in (a, b)]
    one, two = (next((at.split for at in cells if at.cell.id == pair.a.cell.id), None) for cells in limits)
    return difference_between([(two, one)]) if one and two else None


def _setting_differences(one: CellAnswer, two: CellAnswer) -> Iterator[Message]:
    """Name the variables whose values differ; paths differ by nature."""
    first, second = (
        {setting.name: setting.observed for setting in answer.settings if not setting.is_path}
        for answer in (one, two)
    )
    for name in dict.fromkeys([*first, *second]):
        if first.get(name) != second.get(name):
            before, after = (values.get(name) or "not set" for values in (first, second))
            yield say("`{name}` was {before}, then {after}", name=name, before=before, after=after)


# ---------------------------------------------------------------- what else changed


def _differences(a: Analysis, b: Analysis, common: Sequence[Cell]) -> Iterator[FactDifference]:
    facts_a, facts_b = _facts(a, common), _facts(b, common)
    for fact in dict.fromkeys([*facts_a, *facts_b]):
        first, second = facts_a.get(fact, "unknown"), facts_b.get(fact, "unknown")
        if first != second:
            yield FactDifference(fact=fact, a=as_message(first), b=as_message(second))


Facts = dict[str, Message | str]


def _facts(analysis: Analysis, common: Sequence[Cell]) -> Facts:
    """Return everything that may explain a difference besides the factors, by name, the likeliest first.

    A server or storage counts if a cell that both runs have uses it.
    """
    plan, machine = analysis.plan, analysis.machine
    facts: Facts = {"scale": _scale(analysis), **_phase_facts(plan)}
    facts["time"] = (
        f"{plan.dilation} times slower, {plan.cpus_count} for each CPU" if plan.dilation > 1 else "real"
    )
    ids = {cell.id for cell in common}
    data = [one.data.dump for one in analysis.cells if one.data and one.data.dump and one.cell.id in ids]
    if data:
        facts["data of the server (SHA-256)"] = listed(sorted({one.sha256[:12] for one in data}))
    cpus: Facts = {"CPUs of server and load": "all" if plan.cpus is None else str(plan.cpus)}
    if machine is None:
        return facts | cpus
    if not machine.others:
        return facts | _machine_facts(machine, common, cpus)
    compared = {cell.level("host") for cell in common}
    hosts = {
        host: _machine_facts(one, common, cpus)
        for host, one in machine.others.items()
        if host in compared or NO_LEVEL in compared
    }
    return facts | {
        fact: _by_host({host: of_host.get(fact, "unknown") for host, of_host in hosts.items()})
        for fact in dict.fromkeys(chain.from_iterable(hosts.values()))
    }


def _by_host(values: dict[str, Message | str]) -> Message | str:
    """Return the value of a fact on all hosts, each with the hosts that have it if they differ."""
    names = grouped(values, lambda host: as_message(values[host]).model_dump_json())
    if len(names) == 1:
        return next(iter(values.values()))
    each = [say("{value} ({names})", value=values[hosts[0]], names=hosts) for hosts in names.values()]
    return say("{each}", each=each)


def _machine_facts(machine: Machine, common: Sequence[Cell], cpus: Facts) -> Facts:
    servers, storages = {cell.server for cell in common}, {cell.storage for cell in common}
    versions: Facts = {
        f"version of {server.name}": f"{server.flavour} {server.version}"
        for server in machine.servers
        if server.name in servers
    }
    return {
        **versions,
        "kernel": machine.kernel,
        **_place_facts([place for place in machine.places if place.storage in storages]),
        **cpus,
        "idle cores": "may sleep" if machine.idle_wake_up_us is None else "asked to stay awake",
        "machine": machine.host,
        "CPU": machine.cpu_model,
        "number of CPUs": _cpus(machine),
        "CPU governor": machine.governor or "unknown",
        "memory": say("{memory}", memory=_size(machine.memory_bytes)),
        "virtualisation": machine.virtualised or "none",
        "distribution": machine.distribution,
        "diskproof": machine.diskproof_version,
        "diskproof-load": machine.load_version,
        "fio": machine.fio_version or "not used",
    }


def _size(size_bytes: int) -> Quantity:
    """Return a size to a few thousandths: the memory that a kernel reports moves by less."""
    step = 1 << max(size_bytes.bit_length() - 9, 0)
    return bytes_(round(size_bytes / step) * step)


def _phase_facts(plan: Plan) -> Facts:
    """Return how long was warmed up and measured, by workload if they differ.

    Jobs have no phases, and those of imported results were not set.
    """
    workloads = plan.workloads_by_phases()
    return {
        fact: _by_workload([(length_s(phases), names) for phases, names in workloads.items()])
        for fact, length_s in PHASES.items()
        if workloads and not plan.imported
    }


def _by_workload(phases: list[tuple[float, list[str]]]) -> Message:
    if len({length_s for length_s, _ in phases}) == 1:
        return say("{time}", time=seconds(phases[0][0]))
    each = [say("{time} ({names})", time=seconds(length_s), names=names) for length_s, names in phases]
    return say("{each}", each=each)


def _cpus(machine: Machine) -> str:
    if machine.host_cpus in {None, machine.cpus}:
        return str(machine.cpus)
    return f"{machine.cpus} of {machine.host_cpus}"


def _place_facts(places: Sequence[Place]) -> Facts:
    """Return what each storage lies on; a role is named only if it differs from the data's place."""
    facts: Facts = {}
    for place in places:
        lies_on = _lies_on(place)
        key = f"{place.role} of {place.storage}"
        if place.role == "data" or facts.get(f"data of {place.storage}") != lies_on:
            facts[key] = lies_on
    return facts


def _lies_on(place: Place) -> Message | str:
    filesystem, device, virtual = place.filesystem, place.device, place.virtual
    if device and device.size_bytes:
        return say(
            "{filesystem} on {device}, {size}",
            filesystem=filesystem,
            device=device.model or device.name,
            size=_size(device.size_bytes),
        )
    if device:
        return f"{filesystem} on {device.model or device.name}"
    if virtual:
        return say(
            "{filesystem} on virtual: {disk}, {size}",
            filesystem=filesystem,
            disk=virtual.title,
            size=_size(virtual.size_bytes),
        )
    return filesystem


class Trend(Record):
    """Runs in the order in which they were named."""

    steps: list[Comparison]
    """Each run after the first against it; Holm's correction is over the cells of one such comparison."""


def trend(runs: Sequence[Analysis], labels: Sequence[str] | None = None) -> Trend:
    """Hold each later run against the first; ComparisonError if one has no cell in common with it."""
    first, *others = labels or labels_of(runs)
    pairs = zip(runs[1:], others, strict=True)
    return Trend(steps=[compare(runs[0], run, (first, label)) for run, label in pairs])
