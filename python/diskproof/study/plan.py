"""From a study to its plan: the cells, and the random order of their trials."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from itertools import cycle

import numpy as np
from pydantic import ByteSize

from diskproof.families import of
from diskproof.results.plan import NO_LEVEL, Cell, Cuts, Phases, Plan, PlannedTrial, Scale
from diskproof.study.costs import COPY_BYTES_PER_S, copied_bytes, written_bytes
from diskproof.study.cuts import plan_cuts
from diskproof.study.dials import point_of
from diskproof.study.hosts import HostsChoice
from diskproof.study.loads.base import Load
from diskproof.study.model import Study
from diskproof.study.read import StudyError, StudyFile
from diskproof.wording import numbers

LOAD_BYTES_PER_S = 10e6
"""A cautious rate of loading rows over a network; their size is that of the tables."""

LOAD_OVERHEAD_S = 2.0

TRIAL_OVERHEAD_S = 2.0
"""Restore, start and stop of a small data set, as measured on a small machine."""


def make_plan(
    file: StudyFile,
    only: list[str] | None = None,
    no_power_cuts: str | None = None,
    at_most_s: float | None = None,
    over_hosts: bool = False,
    cuts_alone: bool = False,
) -> Plan:
    """Plan a study; `only` keeps the cells whose id contains one of the given texts.

    `no_power_cuts` says why only processes can be killed here; None: power can be cut. `at_most_s`: the run
    goes on until its verdicts are decided, or so long; None: as the study says. `over_hosts`: the machines of
    `[hosts]` run it. `cuts_alone`: no trials; StudyError if there are no cuts.
    """
    hosts = _hosts(file.study, at_most_s, cuts_alone) if over_hosts else None
    study = file.study
    design = study.design
    compared = (hosts.compared if hosts else []) or [NO_LEVEL]
    cells = [cell for cell in _cells(study, compared) if not only or any(text in cell.id for text in only)]
    crash = plan_cuts(study, only, no_power_cuts, over_hosts=over_hosts)
    if not cells and crash is None:
        asked, known = " or ".join(f"`{text}`" for text in only or []), "\n  ".join(_ids(study))
        raise StudyError(f"no cell matches {asked}; the cells are:\n  {known}")
    loads = _loads(study, cells)
    estimated_s = (
        sum(load_seconds(study, cell.workload) * design.slower + TRIAL_OVERHEAD_S for cell in cells)
        * design.blocks
        + copied_bytes(study, cells * design.blocks) / COPY_BYTES_PER_S
        + _loading_seconds(study, cells)
    )
    at_most_s = at_most_s or design.decided_within_s
    if at_most_s is not None and estimated_s > at_most_s:
        raise StudyError(
            f"the first {numbers.count(design.blocks, 'block')} of {numbers.count(len(cells), 'cell')} take "
            f"about {numbers.duration(estimated_s)}, more than the {numbers.duration(at_most_s)} that the "
            "run may take: give it more time, or fewer `blocks` or cells, or a shorter `measure_s`"
        )
    plan = Plan(
        study=file.name,
        question=study.question,
        asks=study.asks,
        expectation=study.expectation.strip(),
        analysis=study.analysis.strip(),
        seed=design.seed,
        same_within=design.same_within,
        phases=_own_phases(study, cells),
        at_most_s=at_most_s,
        precision=design.precision,
        cpus=design.cpus,
        dilation=design.slower,
        cpus_count=min(design.cpus_count or design.slower, design.slower),
        load_hosts=hosts.loaders if hosts else [],
        scale=_scale(file),
        left_out=list(file.left_out),
        published=study.published.record(study.levels) if study.published else None,
        prices={
            name: [study.prices[device].record(device) for device in storage.bought]
            for name, storage in study.storages.items()
            if storage.bought
        },
        dials={
            name: point_of(name, storage.virtual, storage.vary)
            for name, storage in study.storages.items()
            if storage.virtual and storage.vary
        },
        warm_up_s=design.warm_up_s,
        measure_s=design.measure_s,
        metrics={name: load.metric for name, load in loads.items()},
        loads={name: load.in_short for name, load in loads.items()},
        tunings={
            name: said
            for name in dict.fromkeys(cell.tuning for cell in cells if cell.has_server)
            if (said := study.own_tuning(name))
        },
        scripts={
            f"{name}/{file}": hashlib.sha256(content).hexdigest()
            for name, files in study.files_to_keep.items()
            for file, content in files.items()
        },
        cells=cells,
        trials=_order(cells, design.blocks, design.seed),
        crash=crash,
        estimated_s=estimated_s / (len(hosts.labs) if hosts else 1),
        estimated_bytes=sum(_trial_bytes(study, cell) for cell in cells) * design.blocks
        + copied_bytes(study, cells * design.blocks, wearing=True),
    )
    plan = _on_hosts(plan, hosts) if hosts else plan
    return _only_cuts(plan) if cuts_alone else plan


def _hosts(study: Study, at_most_s: float | None, cuts_alone: bool) -> HostsChoice:
    """Return the machines; StudyError if the study cannot run on several at once."""
    if study.hosts is None:
        raise StudyError(
            "--hosts needs [hosts] in the study: `how` and the `names` of the machines, or `database` "
            "and `load`"
        )
    given = [name for name, server in study.servers.items() if server.is_given]
    why = None
    if given:
        why = f"server `{given[0]}` is one, and hosts would load it at once: leave it out"
    elif any(getattr(one, "source", None) for one in study.workloads.values()):
        why = "each would take a dump of its own: take one, and name that file in `prepare`"
    elif cuts_alone:
        return study.hosts
    elif at_most_s is not None or study.design.decided_within_s is not None:
        why = "it needs a fixed number of `blocks`: leave `until`, `precision` and --until-decided out"
    elif study.hosts.how == "spread" and study.design.blocks < len(study.hosts.labs):
        why = f"{study.design.blocks} blocks are too few for {len(study.hosts.labs)} hosts: raise `blocks`"
    elif study.hosts.has_roles:
        why = _why_no_roles(study, study.hosts)
    if why:
        raise StudyError(f"--hosts: {why}")
    return study.hosts


OF_ONE_MACHINE: Mapping[str, str] = {
    "ledger": "numbers the entries of each client",
    "tpcc": "has terminals in places of their own",
}


def _why_no_roles(study: Study, hosts: HostsChoice) -> str | None:
    """Return why a study cannot have its load on other machines; None if it can."""
    if study.design.dilation != 1:
        return "machines have one time, and `dilation` slows that of this one: leave it out"
    if study.design.cpus is not None:
        return "`cpus` divides one machine, and server and load have machines of their own: leave it out"
    for name, server in study.servers.items():
        if of(server.family).protocol is None:
            title = of(server.family).title
            return f"server `{name}` is {title}, which runs inside the load generator: leave it out"
        if server.image is not None:
            return f"server `{name}` is in a container, which has no network: name an installed server"
    for name, load in study.workloads.items():
        if not load.needs_server:
            return f"workload `{name}` is of bare files, and has no server to be loaded from elsewhere"
        if load.is_recorded:
            return f"workload `{name}` replays a log, which only this machine can: leave it out"
        if load.uses_database:
            return f"workload `{name}` has a `database`, and loads from elsewhere reach the lab's own alone"
        if load.is_job:
            return f"workload `{name}` ends by itself, and its stages cannot begin on two machines at once"
        if (why := OF_ONE_MACHINE.get(load.kind)) and len(hosts.loaders) > 1:
            return f"workload `{name}` {why}: name one machine in `load`"
        if getattr(load, "arrivals", None) == "even" and len(hosts.loaders) > 1:
            return (
                f"workload `{name}` has arrivals at even intervals, which several machines do not keep "
                'together: name one machine in `load`, or `arrivals = "poisson"`'
            )
    return None


def _on_hosts(plan: Plan, hosts: HostsChoice) -> Plan:
    """Give each trial its machine: that of its cell, or blocks in turn. The cuts of a storage share one."""
    of_cell = {cell.id: cell.host for cell in plan.cells}

    def host(trial: PlannedTrial) -> str:
        if hosts.how == "compare":
            return of_cell[trial.cell]
        return hosts.labs[(trial.block - 1) % len(hosts.labs)]

    trials = [trial.model_copy(update={"host": host(trial)}) for trial in plan.trials]
    crash = plan.crash and _cuts_on(plan.crash, hosts.labs)
    return plan.model_copy(update={"trials": trials, "crash": crash})


def _cuts_on(crash: Cuts, hosts: Sequence[str]) -> Cuts:
    """Give the cuts of each storage a machine: they share the data that they begin with."""
    storages = list(dict.fromkeys(cell.storage for cell in crash.cells))
    of_storage = dict(zip(storages, cycle(hosts), strict=False))
    cuts = [cut.model_copy(update={"host": of_storage[crash.cell(cut.cell).storage]}) for cut in crash.trials]
    return crash.model_copy(
        update={"trials": cuts, "estimated_s": crash.estimated_s / min(len(hosts), len(storages))}
    )


def _own_phases(study: Study, cells: list[Cell]) -> dict[str, Phases]:
    """Return the phases of the steady workloads that do not have those of the design."""
    default = Phases(warm_up_s=study.design.warm_up_s, measure_s=study.design.measure_s)
    return {
        name: phases
        for name, load in _loads(study, cells).items()
        if not load.is_job and (phases := study.phases(name)) != default
    }


def _loads(study: Study, cells: list[Cell]) -> dict[str, Load]:
    """Return the workloads of some cells, by name."""
    return {name: study.load(name) for name in dict.fromkeys(cell.workload for cell in cells)}


def placed(study: Study, plan: Plan) -> Plan:
    """Return the plan of the cells whose storage is ours: what this machine needs room for."""
    return plan.model_copy(update={"cells": [cell for cell in plan.cells if study.places(cell.storage)]})


def next_block(plan: Plan, cells: Collection[str]) -> list[PlannedTrial]:
    """Return one more block: these cells, in a random order that seed and number decide."""
    block = plan.blocks()[-1] + 1
    kept = [cell for cell in plan.cells if cell.id in cells]
    return _block(block, kept, np.random.default_rng([plan.seed, block]))


def _only_cuts(plan: Plan) -> Plan:
    """Return the plan without its trials: the cuts alone. StudyError if there are none."""
    if plan.crash is None:
        raise StudyError(
            "no cell that is cut matches; `diskproof crash` does not cut the measured cells:\n  "
            + "\n  ".join(cell.id for cell in plan.cells)
        )
    without = {
        "cells": [],
        "trials": [],
        "estimated_s": 0.0,
        "estimated_bytes": 0,
        "phases": {},
        "metrics": {},
        "prices": {},
        "published": None,
    }
    return plan.model_copy(update=without)


def _ids(study: Study) -> list[str]:
    """Return the ids of all cells, measured and cut."""
    cuts = plan_cuts(study)
    return [cell.id for cell in [*_cells(study), *(cuts.cells if cuts else [])]]


def _scale(file: StudyFile) -> Scale | None:
    if file.scale is None:
        return None
    chosen = file.study.scales[file.scale]
    return Scale(name=file.scale, shrinks=chosen.shrinks.strip(), carries=chosen.carries.strip())


def load_seconds(study: Study, workload: str) -> float:
    """Return how long a trial's clients are at work: as the design says, or as a job probably takes."""
    chosen = study.load(workload)
    if chosen.is_job:
        return chosen.expected_s
    phases = study.phases(workload)
    return phases.warm_up_s + phases.measure_s


def _cells(study: Study, hosts: Sequence[str] = (NO_LEVEL,)) -> list[Cell]:
    """Return every combination of the factors, in the order in which the study names their levels."""
    return [
        cell
        for server in (*study.servers, NO_LEVEL)
        for storage in study.storages_of(server)
        for tuning in (*study.tunings, NO_LEVEL)
        for name, workload in study.workloads.items()
        if _is_run(study, workload, server, storage, tuning)
        for memory in (study.design.memory if _has_memory(study, workload, server) else [ByteSize(0)])
        for clients in workload.clients or study.design.clients
        for host in hosts
        for cell in [_cell(server, storage, tuning, name, memory, clients, host)]
    ]


def _is_run(study: Study, workload: Load, server: str, storage: str, tuning: str) -> bool:
    """Tell whether a workload runs at these levels; without a server it has no server and no tuning."""
    if not workload.needs_server:
        return server == tuning == NO_LEVEL and workload.is_for(storage=storage)
    if NO_LEVEL in (server, tuning):
        return False
    return study.tunings[tuning].is_for(server, storage) and workload.is_for(server, storage, tuning)


def _has_memory(study: Study, workload: Load, server: str) -> bool:
    """Tell whether the study decides about the server's memory."""
    return workload.needs_server and server in study.servers and not study.servers[server].is_given


def _cell(
    server: str, storage: str, tuning: str, workload: str, memory: ByteSize, clients: int, host: str
) -> Cell:
    sized = [numbers.size(memory).replace(" ", "")] if memory else []
    levels = [server, storage, tuning, workload, *sized, f"{clients}c"]
    if server == NO_LEVEL:
        levels = [storage, workload, f"{clients}c"]
    levels += [host] if host != NO_LEVEL else []
    return Cell(
        id="/".join(levels),
        server=server,
        storage=storage,
        tuning=tuning,
        workload=workload,
        memory_bytes=int(memory),
        clients=clients,
        host=host,
    )


def _order(cells: list[Cell], blocks: int, seed: int) -> list[PlannedTrial]:
    """Return randomised complete blocks: every block is a fresh permutation of all cells."""
    random = np.random.default_rng(seed)
    return [trial for block in range(1, blocks + 1) for trial in _block(block, cells, random)]


def _block(block: int, cells: list[Cell], random: "np.random.Generator") -> list[PlannedTrial]:
    """Return a block in a random order."""
    order = (cells[index] for index in random.permutation(len(cells)))
    return [
        PlannedTrial(id=f"b{block:02}-t{position:02}", block=block, position=position, cell=cell.id)
        for position, cell in enumerate(order, start=1)
    ]


def _trial_bytes(study: Study, cell: Cell) -> int:
    """Estimate what a trial's load writes to storage that wears: nothing if the data is in memory."""
    if not study.load(cell.workload).writes or not study.places(cell.storage):
        return 0
    return written_bytes(study, cell.storage, load_seconds(study, cell.workload))


def loading_seconds(study: Study, trials: Sequence[Cell]) -> float:
    """Estimate how long data are loaded into servers that are there already, by the order of the trials."""
    seconds = 0.0
    holds: dict[str, tuple[str, bool]] = {}
    for cell in trials:
        server = study.servers.get(cell.server)
        if server is not None and server.is_given and not server.read_only:
            workload = study.load(cell.workload)
            data_set, changed = holds.get(cell.server, ("", False))
            if data_set != workload.data_set or (changed and server.reload):
                seconds += LOAD_OVERHEAD_S + workload.row_bytes / LOAD_BYTES_PER_S
                changed = False
            holds[cell.server] = (workload.data_set, changed or workload.writes)
    return seconds


def _loading_seconds(study: Study, cells: list[Cell]) -> float:
    """Estimate the same from the cells."""
    known = {cell.id: cell for cell in cells}
    trials = _order(cells, study.design.blocks, study.design.seed)
    return loading_seconds(study, [known[trial.cell] for trial in trials])
