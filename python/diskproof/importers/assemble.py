"""Imported results as a run, for reports and comparisons: cells from their levels, repeats as blocks.

Nothing is made up: a level that no file says is "-" or "not told", and such a figure is None.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pydantic import ByteSize, TypeAdapter, ValidationError

from diskproof.importers.base import Found, ImportRefusedError
from diskproof.importers.heading import WARM_UP
from diskproof.importers.levels import name_of, path_levels
from diskproof.importers.numbers import whole
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.findings import IMPORTED
from diskproof.results.folder import RunFolder
from diskproof.results.imported import OF_CLIENTS, ImportedResult
from diskproof.results.plan import NO_LEVEL, Cell, Metric, Phases, Plan, PlannedTrial
from diskproof.results.series import Row
from diskproof.results.trial import Finding, Trial
from diskproof.stats.grouping import grouped

UNTOLD = "not told"
"""Level of the server and of its tuning if no file says them."""

SAME_WITHIN = 0.03
"""The band that counts as "the same"; diskproof's own default for a study."""

FARTHEST = 2.0
"""Ratio of two figures above which they are no repeats, however alike their options, unless somebody numbered
them as such. A judgement: a post shows outputs because they differ."""

_CLIENTS = re.compile(
    r"\b(?:thread|client|connection|session|user|worker|terminal|job)s?\b|\b(?:io\W?depth|queue depth|qd)\b"
)
"""The words for clients in a heading: with its number, they are a level and no place."""

OF_WORK = ("rw", "rwmixread", "bs", "size", "ioengine", "direct", "sync", "fsync", "fdatasync")
"""Options of fio that make other work of it."""


@dataclass
class _Placed:
    """A result with its cell and the block that it is in."""

    result: ImportedResult
    cell: Cell
    metric: Metric
    block: int = 1


def assemble(found: Sequence[Found], name: str) -> tuple[Plan, list[Trial], dict[str, list[Row]]]:
    """Return the run that imported results make: its plan, its trials, and each trial's series by id.

    ImportRefusedError if no result has what a cell needs; what lacks it is named in ``plan.left_out``.
    """
    results = [one for one in found if isinstance(one, ImportedResult)]
    placed, left_out = _placed(results)
    if not placed:
        reasons = f": {'; '.join(left_out[:3])}" if left_out else ""
        raise ImportRefusedError(f"no result that a report could be made from was read{reasons}")
    planned, trials, series = [], [], {}
    positions: dict[int, int] = {}
    for one in sorted(placed, key=lambda one: one.block):
        positions[one.block] = positions.get(one.block, 0) + 1
        position = positions[one.block]
        trial_id = f"b{one.block:02}-t{position:02}"
        planned.append(PlannedTrial(id=trial_id, block=one.block, position=position, cell=one.cell.id))
        trials.append(_trial(one, trial_id, position))
        if rows := _rows(one):
            series[trial_id] = rows
    return _plan(placed, planned, left_out, name), trials, series


def write_run(path: Path, made: tuple[Plan, list[Trial], dict[str, list[Row]]]) -> RunFolder:
    """Write an assembled run to a new folder; ImportRefusedError if it is there already."""
    plan, trials, series = made
    files = dict.fromkeys(trial.imported.file for trial in trials if trial.imported)
    text = "# No study: imported from other tools' output.\n" + "".join(f"# {file}\n" for file in files)
    try:
        folder = RunFolder.create(path, text, plan)
    except FileExistsError:
        raise ImportRefusedError(f"{path} is there already; name a folder that is not") from None
    except OSError as error:
        raise ImportRefusedError(f"{path} cannot be written: {error.strerror}; name another folder") from None
    for trial in trials:
        folder.append(trial)
        if trial.id in series:
            folder.write_series(trial.id, series[trial.id])
    return folder


# ---------------------------------------------------------------- cells


def _placed(results: Sequence[ImportedResult]) -> tuple[list[_Placed], list[str]]:
    """Return the results that have a figure, each in its cell, and why others are left out."""
    by_path = path_levels([one.source.file for one in results], clients_by_file(results))
    warming = [one for one in results if WARM_UP.fullmatch(one.heading)]
    if len(warming) < len(results):
        results = [one for one in results if one not in warming]
    measured = [(result, metric) for result in results if (metric := _metric(result)) is not None]
    left_out = [f"{one.name} ({one.source.file}, line {one.source.line}): a warm-up" for one in warming]
    left_out += [
        f"{one.name} ({one.source.file}, line {one.source.line}): it has no figure above 0"
        for one in results
        if _metric(one) is None
    ]
    levels = [_levels(result, {**by_path[result.source.file], **result.levels}) for result, _ in measured]
    _name_options(measured, levels)
    variants = _variants(measured, levels)
    several = {
        result.source.file for (result, _), variant in zip(measured, variants, strict=True) if variant.place
    }
    placed, blocks = [], dict[str, int]()
    for (result, metric), told, variant in zip(measured, levels, variants, strict=True):
        storage, workload = told["storage"], told["workload"]
        if result.source.file in several:
            if storage == UNTOLD:
                storage = name_of(result.source.file) if len(by_path) > 1 else "output"
            storage = f"{storage} #{variant.place + 1}" if variant.place else storage
        workload = f"{workload} #{variant.work + 1}" if variant.work else workload
        cell = _cell({**told, "storage": storage, "workload": workload})
        blocks[cell.id] = blocks.get(cell.id, 0) + 1
        placed.append(_Placed(result, cell, metric, blocks[cell.id]))
    return placed, left_out


def clients_by_file(results: Sequence[ImportedResult]) -> dict[str, int]:
    """Return the clients of each file whose results all have one number of them."""
    told: dict[str, set[int | None]] = {}
    for one in results:
        told.setdefault(one.source.file, set()).add(one.load.clients)
    return {
        file: count
        for file, counts in told.items()
        if len(counts) == 1 and (count := next(iter(counts))) is not None
    }


def _name_options(
    measured: Sequence[tuple[ImportedResult, Metric]], levels: Sequence[dict[Factor, str]]
) -> None:
    """Name in each workload the options of files that a file has it with in several ways: other work."""
    told = [
        (result.source.file, level["workload"]) for (result, _), level in zip(measured, levels, strict=True)
    ]
    of_file: dict[tuple[str, str], dict[str, set[str | None]]] = {}
    for (result, _), at in zip(measured, told, strict=True):
        values = of_file.setdefault(at, {option: set() for option in OF_WORK})
        for option, seen in values.items():
            seen.add(result.asked.get(option))
    for (result, _), (_, workload), level in zip(measured, told, levels, strict=True):
        several = [values for (_, other), values in of_file.items() if other == workload]
        named = [
            f"{option}={result.asked[option]}"
            for option in OF_WORK
            if option in result.asked and any(len(values[option]) > 1 for values in several)
        ]
        level["workload"] = " ".join([workload, *named])


@dataclass(frozen=True)
class _Variant:
    """The number of a result, from 0, among those of its file with the same levels."""

    place: int
    """Of its heading or tool: with equal options, it was measured somewhere else."""
    work: int
    """Of what is not known to be the same work: other options, unknown ones, or a far figure."""


def _variants(
    measured: Sequence[tuple[ImportedResult, Metric]], levels: Sequence[dict[Factor, str]]
) -> list[_Variant]:
    """Return the variant of each result, whatever its clients: only those of one variant are a sweep.

    Results of one variant with the same clients are the same cell, measured again.
    """
    works: dict[tuple[str, ...], list[object]] = {}
    places: dict[object, list[object]] = {}
    firsts: dict[object, float] = {}
    unknown = Counter[object]()
    variants = []
    for (result, metric), told in zip(measured, levels, strict=True):
        at = (result.source.file, *(level for factor, level in told.items() if factor != "clients"))
        figure = result.load.figure(metric) or 0.0
        of_work = works.setdefault(at, [])
        of_place = (result.source.tool, _CLIENTS.sub("", result.heading))
        asked = _likeness(result)
        if asked is None:
            asked = unknown[at, told["clients"]]
            unknown[at, told["clients"]] += 1
        work = 0
        for work in range(len(of_work) + 1):
            if work == len(of_work):
                of_work.append(asked)
            alike = (at, work, of_place, told["clients"])
            first = firsts.setdefault(alike, figure) if of_work[work] == asked else 0.0
            if first and (result.numbered or max(first, figure) <= FARTHEST * min(first, figure)):
                break
        of_places = places.setdefault((at, work), [])
        if of_place not in of_places:
            of_places.append(of_place)
        variants.append(_Variant(of_places.index(of_place), work))
    return variants


def _metric(result: ImportedResult) -> Metric | None:
    """Return what a verdict on the result is about; None if it has no such figure."""
    load = result.load
    wanted: tuple[Metric, ...] = ("transactions_per_s", "latency_mean_us")
    if load.file_requests is not None:
        wanted = ("requests_per_s", "latency_mean_us")
    return next((metric for metric in wanted if load.figure(metric)), None)


def _levels(result: ImportedResult, told: dict[Factor, str]) -> dict[Factor, str]:
    """Return the level of every factor, or the word for one that is unknown or does not apply."""
    untold = NO_LEVEL if result.load.file_requests is not None else UNTOLD
    clients = result.load.clients or whole(told.get("clients")) or 0
    return {
        "server": told.get("server", untold),
        "storage": told.get("storage", UNTOLD),
        "tuning": told.get("tuning", untold),
        "workload": told.get("workload", result.load.workload),
        "memory": told.get("memory", ""),
        "clients": str(clients) if clients else "",
        "host": told.get("host", NO_LEVEL),
    }


def _cell(levels: dict[Factor, str]) -> Cell:
    """Return the cell of these levels; its id names those that are known."""
    clients = f"{levels['clients']}c" if levels["clients"] else ""
    told = [*(levels[factor] for factor in FACTORS if factor != "clients"), clients]
    named = [level for level in told if level not in {"", NO_LEVEL, UNTOLD}]
    return Cell(
        id="/".join(one.replace("/", "-").replace(" ", "_") for one in named) or "all",
        server=levels["server"],
        storage=levels["storage"],
        tuning=levels["tuning"],
        workload=levels["workload"],
        memory_bytes=_memory_bytes(levels["memory"]),
        clients=int(levels["clients"] or 0),
        host=levels["host"],
    )


def _likeness(result: ImportedResult) -> object:
    """Return what is equal of results of the same work; None if that is unknown.

    Outputs without their options may be anything, so each is work of its own, unless somebody numbered them
    as repeats, or they differ in clients.
    """
    asked = {
        name: value
        for name, value in result.asked.items()
        if name not in OF_CLIENTS and not name.startswith("date")
    }
    files = result.load.file_requests
    if result.numbered and not asked:
        return result.heading
    if (result.source.tool is None and not asked) or (files is not None and files.direct is None):
        return None
    return tuple(sorted(asked.items()))


def _memory_bytes(told: str) -> int:
    try:
        return int(TypeAdapter(ByteSize).validate_python(told)) if told else 0
    except ValidationError:
        return 0


# ---------------------------------------------------------------- the run


def _plan(placed: Sequence[_Placed], planned: list[PlannedTrial], left_out: list[str], name: str) -> Plan:
    cells = list({one.cell.id: one.cell for one in placed}.values())
    by_workload = grouped(placed, lambda one: one.cell.workload)
    phases = {workload: _phases([one.result for one in all_of]) for workload, all_of in by_workload.items()}
    first = next(iter(phases.values()))
    return Plan(
        study=name,
        question=f"What do the imported results of {name} show?",
        imported=True,
        imported_from=_sources([one.result for one in placed]),
        seed=0,
        same_within=SAME_WITHIN,
        warm_up_s=first.warm_up_s,
        measure_s=first.measure_s,
        phases=phases,
        left_out=left_out,
        metrics={one.cell.workload: one.metric for one in placed},
        cells=cells,
        trials=planned,
        estimated_s=0,
        estimated_bytes=0,
    )


def _sources(results: Sequence[ImportedResult]) -> list[str]:
    """Return each file with what its results say that they are, in the order of reading."""
    tools: dict[str, dict[str, None]] = {}
    for one in results:
        tools.setdefault(one.source.file, {})[one.source.tool or one.source.format] = None
    return [f"{file} ({', '.join(told)})" for file, told in tools.items()]


def _phases(results: Sequence[ImportedResult]) -> Phases:
    """Return how long results were measured, as far as known; 0 is never shown of an imported run."""
    measured = [one.load.seconds for one in results if one.load.seconds]
    warmed_up = [one.warm_up_s for one in results if one.warm_up_s]
    return Phases(
        warm_up_s=median(warmed_up) if warmed_up else 0, measure_s=median(measured) if measured else 0
    )


def _trial(one: _Placed, trial_id: str, position: int) -> Trial:
    remarks = "; ".join(one.result.remarks)
    return Trial(
        id=trial_id,
        cell=one.cell.id,
        block=one.block,
        position=position,
        started_at="",
        finished=True,
        load=one.result.load,
        findings=[Finding(check=IMPORTED, severity="note", message=remarks)] if remarks else [],
        imported=one.result.source,
    )


def _rows(one: _Placed) -> list[Row]:
    """Return the interval lines as a series; none if the length of an interval is unknown."""
    result = one.result
    if not result.interval_s:
        return []
    rate = "requests_per_s" if result.load.file_requests is not None else "transactions_per_s"
    rows = [
        (at * result.interval_s, "load", rate, per_s)
        for at, per_s in enumerate(result.intervals_per_s, start=1)
    ]
    percentile = result.interval_percentile
    latency = f"latency_p{percentile}_us" if percentile and percentile[0].isdigit() else "latency_mean_us"
    return rows + [
        (at * result.interval_s, "load", latency, value_us)
        for at, value_us in enumerate(result.intervals_latency_us, start=1)
    ]
