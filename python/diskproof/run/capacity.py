"""Checks that a run fits: on every storage, beside the data sets, into memory; and that servers get there."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from diskproof.refusal import RefusalError
from diskproof.results.plan import CUT_LOAD, Cell, Plan
from diskproof.results.record import Role
from diskproof.run.dataset import is_dumped, is_loaded
from diskproof.server.base import ServerKind
from diskproof.storage.kinds.base import (
    LESS_DATA,
    check_free,
    resolved,
    same_file_system,
)
from diskproof.storage.layout import LOG_BYTES, check_layout
from diskproof.study.loads.own_data import OwnData
from diskproof.study.model import Study
from diskproof.study.places import PlaceChoice
from diskproof.study.plan import load_seconds, placed
from diskproof.wording import numbers

LOGGED_BYTES_PER_S = 10_000_000
"""What a writing load adds to logs and tables: some thousand transactions a second with a row-based binary
log, and a reserve."""

DISKS_SHARE = 0.75
"""Share of the free memory that virtual disks may use. The rest is for the page cache, the load, and what
servers take beyond `memory`."""


def check_room(study: Study, plan: Plan, servers: Mapping[str, ServerKind], images: Path) -> None:
    """Refuse a run that would fill a storage, the folder of the data sets, or the machine's memory.

    Directories that a server's user cannot reach are refused, too.

    `images` is that folder. A plan may name `servers` that are not there.
    """
    needs: dict[object, int] = {}
    for cell in plan.cells:
        server, workload = servers.get(cell.server), study.load(cell.workload)
        if server:
            place = study.storages[cell.storage].places()["data"]
            for directory in filter(None, (images, place.directory)):
                server.check_reach(Path(directory))
        if not cell.has_server or (server and is_loaded(images, server, workload, plan.seed)):
            continue
        sizes: dict[object, int] = {(cell.server, workload.data_set): workload.data_bytes}
        if isinstance(workload, OwnData) and workload.source and not is_dumped(images, workload):
            sizes[workload.source] = workload.size
        needs |= {one: max(size, needs.get(one, 0)) for one, size in sizes.items()}
    image_bytes = sum(needs.values())
    check_free("--out", images, image_bytes)
    for name in dict.fromkeys(cell.storage for cell in plan.cells):
        _check_storage(
            study, name, [cell for cell in plan.cells if cell.storage == name], images, image_bytes
        )
    _check_memory(study, plan)


def _check_storage(study: Study, name: str, cells: list[Cell], images: Path, image_bytes: int) -> None:
    """Check one storage for its largest trial, and for the data sets if they lie on the same file system."""
    workloads = {cell.workload: study.load(cell.workload) for cell in cells}
    data = max(workload.data_bytes for workload in workloads.values())
    served = {name: workload for name, workload in workloads.items() if workload.needs_server}
    writing_s = [load_seconds(study, name) for name, workload in served.items() if workload.writes]
    logged = round(max(writing_s, default=0.0) * LOGGED_BYTES_PER_S)
    log_bytes = LOG_BYTES + logged if served else 0  # bare files are overwritten, and nothing keeps a log
    needs: dict[Role, int] = dict.fromkeys(("redo", "binlog", "tmp"), log_bytes)
    needs["data"] = data + logged
    place = study.storages[name].places()["data"]
    if place.directory is not None:
        directory = resolved(f"storage `{name}`", place.directory)
        needs["data"] += image_bytes if same_file_system(directory, images) else 0
    check_layout(name, study.storages[name], needs)


def _check_memory(study: Study, plan: Plan) -> None:
    """Refuse a buffer pool and a data set in main memory that do not fit together."""
    available = psutil.virtual_memory().available
    for cell in plan.cells:
        lanes, need = _lanes(plan, cell), _beside_disks(study, plan, cell)
        if need > available:
            less_data = f", or {LESS_DATA}" if need > lanes * cell.memory_bytes else ""
            raise RefusalError(
                f"{cell.id} needs about {numbers.size(need)} of memory, {numbers.size(available)} are free: "
                f"lower `memory` in [design]{less_data}{', or fewer cuts `at_once`' if lanes > 1 else ''}"
            )


def fitting(study: Study, plan: Plan) -> Plan:
    """Return the plan with as many cuts at once as fit into memory, if the study does not say how many."""
    while study.crash and study.crash.at_once is None and plan.crash and plan.crash.at_once > 1:
        here = placed(study, plan.with_every_cell())
        try:
            _check_memory(study, here)
            disk_limits(study, here)
            break
        except RefusalError:
            lanes = plan.crash.at_once
            fewer = {"at_once": lanes - 1, "estimated_s": plan.crash.estimated_s * lanes / (lanes - 1)}
            plan = plan.model_copy(update={"crash": plan.crash.model_copy(update=fewer)})
    return plan


def disk_limits(study: Study, plan: Plan, *, beside: bool = False) -> dict[str, int]:
    """Divide the memory among the virtual disks of a run, by their needs; refuse it if it is too small.

    Each disk alone would claim most of the free memory. Two could then promise more than there is, and the
    kernel would kill one of them. Cuts that are made at once have disks and a server each: `beside` returns
    the limits of those that lanes beside the first one have, which hold no data sets of trials.
    """
    needs = _disk_needs(study, plan.cells)
    if not needs:
        return {}
    lanes = plan.crash.at_once if plan.crash else 1
    further = _disk_needs(study, [cell for cell in plan.cells if cell.workload == CUT_LOAD])
    others = max(_beside_disks(study, plan, cell) for cell in plan.cells)
    room = round(DISKS_SHARE * (psutil.virtual_memory().available - others))
    need = sum(needs.values()) + (lanes - 1) * sum(further.values())
    if need > room:
        remedy = "set `at_once = 1` in [crash]" if lanes > 1 else "make two studies of the storages"
        raise RefusalError(
            f"the virtual disks of this study ({len(needs) + (lanes - 1) * len(further)}) need about "
            f"{numbers.size(need)} of memory, and {numbers.size(max(room, 0))} are free for them beside the "
            f"servers: lower `memory`, {LESS_DATA}, or {remedy}"
        )
    return {key: room * one // need for key, one in (further if beside else needs).items()}


def _lanes(plan: Plan, cell: Cell) -> int:
    """Return how many cells like this one are at work at a time: trials are alone."""
    return plan.crash.at_once if plan.crash and cell.workload == CUT_LOAD else 1


def _beside_disks(study: Study, plan: Plan, cell: Cell) -> int:
    """Return the memory that a cell takes apart from virtual disks: the server's, and a data set in tmpfs."""
    at = study.storages[cell.storage].places()["data"]
    in_tmpfs = study.load(cell.workload).data_bytes if at.kind == "ram" else 0
    return _lanes(plan, cell) * (cell.memory_bytes + in_tmpfs)


def _disk_needs(study: Study, cells: Sequence[Cell]) -> dict[str, int]:
    """Estimate what each virtual disk will hold, by its key: kept data sets, and a trial's own.

    Each data disk of a pool may hold its part of that; its log and its cache all of it.
    """
    needs: dict[str, int] = {}
    for name in dict.fromkeys(cell.storage for cell in cells):
        kept = {(cell.server, cell.workload) for cell in cells if cell.storage == name}
        sets = [study.load(workload).held_bytes for _, workload in kept]
        places = study.storages[name].places()
        for choice in {choice.key: choice for choice in places.values()}.values():
            holds = sum(sets) + max(sets) if choice.key == places["data"].key else 0
            for key, share in zip(choice.disk_keys, _shares(choice), strict=True):
                needs[key] = needs.get(key, LOG_BYTES) + round(share * holds)
    return needs


def _shares(choice: PlaceChoice) -> list[float]:
    """Return the share of a place's data that each of its virtual disks holds."""
    if choice.zpool is None:
        return [1.0] * len(choice.disk_keys)
    pool = choice.zpool
    striped = {disk.key for disk in pool.data}
    return [1 / len(pool.data) if disk.key in striped else 1.0 for disk in pool.virtual]
