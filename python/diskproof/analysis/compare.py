"""The same cells of two runs: what became faster, what slower, and what else changed in between."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from diskproof.analysis import words
from diskproof.analysis.answers import (
    Analysis,
    CellAnswer,
    CellComparison,
    Comparison,
    FactDifference,
    Outcome,
)
from diskproof.analysis.safety.compare import compare_cuts
from diskproof.analysis.verdicts import decide, fewest_valid, say
from diskproof.audit.registry import bars_comparison
from diskproof.refusal import RefusalError
from diskproof.results.machine import Machine, ServerFacts
from diskproof.results.plan import Phases, Plan
from diskproof.results.record import format_bytes
from diskproof.stats.intervals import RatioTest, independent_ratio
from diskproof.stats.multiple import holm

MOST_SIZES = 3
"""Sizes that are told where they differ; a job has dozens of operations."""

PHASES: dict[str, Callable[[Phases], float]] = {
    "warm-up": lambda phases: phases.warm_up_s,
    "measured phase": lambda phases: phases.measure_s,
}


_NAMES = (
    "; names of files tell what a cell is (`server=mysql-8.0,storage=ssd.txt`): give those that are to be "
    "compared the same, and audit them with `--out` again"
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
    reasons: list[str]


def compare(
    a: Analysis, b: Analysis, names: tuple[str, str] = ("the first run", "the second run")
) -> Comparison:
    """Hold the second run against the first, cell by cell (matched by id).

    The runs were made apart, so their trials are not paired: Welch's interval on the logarithms, and
    Holm over all cells. The first run's ``same_within`` decides what is the same. ComparisonError
    where no cell is in both.
    """
    of_a = {answer.cell.id: answer for answer in a.cells}
    of_b = {answer.cell.id: answer for answer in b.cells}
    common = [cell_id for cell_id in of_a if cell_id in of_b]
    cuts = compare_cuts((a.plan.crash, b.plan.crash), a.safety, b.safety)
    if not common and not cuts:
        hint = _NAMES if a.plan.imported or b.plan.imported else ""
        raise ComparisonError(
            "the two runs have no cell in common: the first has "
            f"{words.listed(_ids(a), 3)}; the second {words.listed(_ids(b), 3)}{hint}"
        )
    pairs = [_pair(a, b, of_a[cell_id], of_b[cell_id]) for cell_id in common]
    adjusted = iter(
        holm([pair.test.p for pair in pairs if pair.test is not None and pair.test.p is not None])
    )
    return Comparison(
        a=names[0],
        b=names[1],
        cells=[
            _compare_cell(a, names, pair, next(adjusted) if pair.test is not None else None) for pair in pairs
        ],
        only_a=[cell_id for cell_id in of_a if cell_id not in of_b],
        only_b=[cell_id for cell_id in of_b if cell_id not in of_a],
        cuts=cuts,
        differences=list(_differences(a, b)),
    )


def _ids(analysis: Analysis) -> list[str]:
    """Return the cells of a run, those that are cut among them."""
    cut = [cell.id for cell in analysis.plan.crash.cells] if analysis.plan.crash else []
    return [*(answer.cell.id for answer in analysis.cells), *cut] or ["none"]


def _pair(a: Analysis, b: Analysis, one: CellAnswer, two: CellAnswer) -> Pair:
    """Test one cell in both runs, or say why that cannot be done."""
    reasons = list(_other_sizes(a, b, one, two))
    reasons += [
        f"only {answer.valid} valid {'trial' if answer.valid == 1 else 'trials'} of {planned} planned "
        f"in the {which} run; {fewest_valid(planned)} are the least"
        for which, answer, planned in (
            ("first", one, len(a.plan.blocks())),
            ("second", two, len(b.plan.blocks())),
        )
        if answer.valid < fewest_valid(planned)
    ]
    reasons += [
        f"in the {which} run: {found.finding.message}"
        for which, analysis in (("first", a), ("second", b))
        for found in analysis.findings
        if bars_comparison(found.finding) and found.trials and one.cell.id in found.cells
    ]
    if one.metric != two.metric:
        reasons.append("the two runs measured it in different ways")
    if set(one.operations_run) != set(two.operations_run):
        reasons.append("the two runs did not run the same operations")
    if reasons:
        return Pair(one, two, None, reasons)
    test = independent_ratio(list(two.block_speeds.values()), list(one.block_speeds.values()))
    return Pair(one, two, test, list(_setting_differences(one, two)))


def _other_sizes(a: Analysis, b: Analysis, one: CellAnswer, two: CellAnswer) -> Iterator[str]:
    """Say that a cell's data or work is of another size in the second run, by its scale or as recorded."""
    first, second = (_scale(analysis) for analysis in (a, b))
    if first != second:
        yield f"the runs are of different scales: {first} and {second}"
    others = [
        f"{one.sizes[what]} {what} in the first run, {two.sizes[what]} in the second"
        for what in one.sizes
        if what in two.sizes and one.sizes[what] != two.sizes[what]
    ]
    if others:
        yield f"the size differs: {words.listed(others, MOST_SIZES)}"


def _scale(analysis: Analysis) -> str:
    scale = analysis.plan.scale
    return f"`{scale.name}`" if scale else "the study as it stands"


def _compare_cell(
    a: Analysis, names: tuple[str, str], pair: Pair, p_adjusted: float | None
) -> CellComparison:
    outcome: Outcome = "not comparable"
    said, reasons = words.not_comparable(names[1], names[0]), pair.reasons
    ratio = pair.test.interval if pair.test else None
    if ratio is None:
        said = f"{said}: {reasons[0]}"
    else:
        outcome = decide(ratio, p_adjusted, a.plan.same_within)
        said = say(outcome, names[1], names[0], ratio, a.plan.same_within) + words.by(pair.a.metric)
        said += words.estimated(pair.a.extrapolated or pair.b.extrapolated)
    if outcome == "inconclusive":
        reasons = ["more `blocks` in both runs would narrow the interval", *reasons]
    return CellComparison(
        cell=pair.a.cell,
        a=pair.a.figure,
        b=pair.b.figure,
        ratio=ratio,
        a_extrapolated=pair.a.extrapolated,
        b_extrapolated=pair.b.extrapolated,
        p_adjusted=p_adjusted,
        outcome=outcome,
        sentence=f"{words.cell_words(pair.a.cell, a.varying)}: {said}",
        reasons=reasons,
    )


def _setting_differences(one: CellAnswer, two: CellAnswer) -> Iterator[str]:
    """Name the variables whose values differ; paths differ by nature."""
    first, second = (
        {setting.name: setting.observed for setting in answer.settings if "/" not in setting.requested}
        for answer in (one, two)
    )
    for name in dict.fromkeys([*first, *second]):
        if first.get(name) != second.get(name):
            yield f"`{name}` was {first.get(name, 'not set')}, then {second.get(name, 'not set')}"


# ---------------------------------------------------------------- what else changed


def _differences(a: Analysis, b: Analysis) -> Iterator[FactDifference]:
    facts_a, facts_b = _facts(a), _facts(b)
    for fact in dict.fromkeys([*facts_a, *facts_b]):
        first, second = facts_a.get(fact, "unknown"), facts_b.get(fact, "unknown")
        if first != second:
            yield FactDifference(fact=fact, a=first, b=second)


def _facts(analysis: Analysis) -> dict[str, str]:
    """Return everything that may explain a difference besides the factors, by name."""
    plan, machine = analysis.plan, analysis.machine
    facts = {
        "scale": _scale(analysis),
        **_phase_facts(plan),
        "CPUs of server and load": "all" if plan.cpus is None else str(plan.cpus),
    }
    if machine is None:
        return facts
    facts |= {
        "machine": machine.host,
        "CPU": machine.cpu_model,
        "number of CPUs": _cpus(machine),
        "CPU governor": machine.governor or "unknown",
        "memory": format_bytes(machine.memory_bytes),
        "virtualisation": machine.virtualised or "none",
        "kernel": machine.kernel,
        "distribution": machine.distribution,
        "diskproof": machine.diskproof_version,
        "diskproof-load": machine.load_version,
        "fio": machine.fio_version or "not used",
    }
    for server in machine.servers:
        facts[f"version of {server.name}"] = _version(server)
    return facts | _place_facts(machine)


def _phase_facts(plan: Plan) -> dict[str, str]:
    """Return how long was warmed up and measured, by workload where they differ.

    Of jobs nothing, and of imported results neither: what they tell is no phase that was set.
    """
    workloads = plan.workloads_by_phases()
    return {
        fact: _by_workload([(seconds(phases), names) for phases, names in workloads.items()])
        for fact, seconds in PHASES.items()
        if workloads and not plan.imported
    }


def _by_workload(told: list[tuple[float, list[str]]]) -> str:
    if len({seconds for seconds, _ in told}) == 1:
        return f"{told[0][0]:g} s"
    return words.listed([f"{seconds:g} s ({words.listed(names)})" for seconds, names in told])


def _cpus(machine: Machine) -> str:
    if machine.host_cpus in {None, machine.cpus}:
        return str(machine.cpus)
    return f"{machine.cpus} of {machine.host_cpus}"


def _version(server: ServerFacts) -> str:
    return f"{server.flavour} {server.version}"


def _place_facts(machine: Machine) -> dict[str, str]:
    """Return what each storage lies on; a role is named only where it differs from the data's place."""
    facts: dict[str, str] = {}
    for place in machine.places:
        device = place.device
        lies_on = place.filesystem
        if device:
            size = f", {format_bytes(device.size_bytes)}" if device.size_bytes else ""
            lies_on += f" on {device.model or device.name}{size}"
        elif place.virtual:
            lies_on += f" on virtual: {place.virtual.title}, {format_bytes(place.virtual.size_bytes)}"
        key = f"{place.role} of {place.storage}"
        if place.role == "data" or facts.get(f"data of {place.storage}") != lies_on:
            facts[key] = lies_on
    return facts
