"""Whether there is room for a run: on every storage, for the data sets, and in memory."""

import psutil

from diskproof.refusal import RefusalError
from diskproof.results.plan import Cell, Plan
from diskproof.results.record import Role, format_bytes
from diskproof.run.dataset import GoldenImages
from diskproof.server.base import ServerKind
from diskproof.storage.kinds.base import check_free, same_file_system
from diskproof.storage.layout import LOG_BYTES, check_layout
from diskproof.storage.members import CAPACITY_BYTES
from diskproof.study.model import Study
from diskproof.study.places import PlaceChoice
from diskproof.study.plan import load_seconds

LOGGED_BYTES_PER_S = 10_000_000
"""What a writing load adds to logs and tables: a row-based binary log of some thousand transactions a
second, with room to spare."""


DISKS_SHARE = 0.75
"""What of the free memory virtual disks may be promised: the rest is for the page cache, the load, and what
servers take beyond `memory`."""


def check_room(study: Study, plan: Plan, servers: dict[str, ServerKind], images: GoldenImages) -> None:
    """Refuse a run that would fill a storage, the folder of the data sets, or the machine's memory."""
    missing = {
        (cell.server, cell.workload)
        for cell in plan.cells
        if cell.has_server and not images.has(servers[cell.server], study.workloads[cell.workload], plan.seed)
    }
    image_bytes = sum(study.workloads[workload].data_bytes for _, workload in missing)
    check_free("--out", images.folder, image_bytes)
    for name in dict.fromkeys(cell.storage for cell in plan.cells):
        _check_storage(
            study, name, [cell for cell in plan.cells if cell.storage == name], images, image_bytes
        )
    _check_memory(study, plan)


def _check_storage(
    study: Study, name: str, cells: list[Cell], images: GoldenImages, image_bytes: int
) -> None:
    """Check one storage for its largest trial, and for the data sets where they come to lie beside it."""
    workloads = {cell.workload: study.workloads[cell.workload] for cell in cells}
    data = max(workload.data_bytes for workload in workloads.values())
    served = {name: workload for name, workload in workloads.items() if workload.needs_server}
    writing_s = [load_seconds(study, name) for name, workload in served.items() if workload.writes]
    logged = round(max(writing_s, default=0.0) * LOGGED_BYTES_PER_S)
    log_bytes = LOG_BYTES + logged if served else 0  # bare files are written over, and nothing keeps a log
    needs: dict[Role, int] = dict.fromkeys(("redo", "binlog", "tmp"), log_bytes)
    needs["data"] = data + logged
    place = study.storages[name].places()["data"]
    if place.directory is not None and same_file_system(place.directory.expanduser(), images.folder):
        needs["data"] += image_bytes
    check_layout(name, study.storages[name], needs)


def _check_memory(study: Study, plan: Plan) -> None:
    """Refuse a buffer pool and a data set in main memory that do not fit beside each other."""
    available = psutil.virtual_memory().available
    for cell in plan.cells:
        need = _beside_disks(study, cell)
        if need > available:
            raise RefusalError(
                f"{cell.id} needs about {format_bytes(need)} of memory, "
                f"and {format_bytes(available)} are free: lower `memory` in [design]"
                + (", `rows` or `accounts`" if need > cell.memory_bytes else "")
            )


def disk_limits(study: Study, plan: Plan) -> dict[str, int]:
    """Divide the memory among the virtual disks of a run, by what each will hold; RefusalError if it lacks.

    Each disk by itself would take most of what is free for its own: two might promise more than there is,
    and be ended by the kernel instead of running full in words.
    """
    needs = _disk_needs(study, plan)
    if not needs:
        return {}
    free = psutil.virtual_memory().available - max(_beside_disks(study, cell) for cell in plan.cells)
    room, need = round(DISKS_SHARE * free), sum(needs.values())
    if need > room:
        raise RefusalError(
            f"the virtual disks of this study ({len(needs)}) will hold about {format_bytes(need)} in memory, "
            f"and {format_bytes(max(room, 0))} can be had for them beside the servers: lower `rows`, "
            "`accounts` or `memory`, or make two studies of the storages"
        )
    return {key: room * one // need for key, one in needs.items()}


def _beside_disks(study: Study, cell: Cell) -> int:
    """Return what a cell takes of the memory besides virtual disks: the server's, and a data set in tmpfs."""
    at = study.storages[cell.storage].places()["data"]
    return cell.memory_bytes + (study.workloads[cell.workload].data_bytes if at.kind == "ram" else 0)


def _disk_needs(study: Study, plan: Plan) -> dict[str, int]:
    """Estimate what each virtual disk will hold, by its key: data sets that are kept, and a trial's own.

    Of a pool each disk may come to hold its part of that, a mirror's all of it; so may its log and its cache.
    """
    needs: dict[str, int] = {}
    for name in dict.fromkeys(cell.storage for cell in plan.cells):
        kept = {(cell.server, cell.workload) for cell in plan.cells if cell.storage == name}
        sets = [study.workloads[workload].held_bytes for _, workload in kept]
        places = study.storages[name].places()
        for choice in {choice.key: choice for choice in places.values()}.values():
            holds = sum(sets) + max(sets) if choice.key == places["data"].key else 0
            for key, share in zip(choice.disk_keys, _shares(choice), strict=True):
                needs[key] = needs.get(key, LOG_BYTES) + round(share * holds)
    return needs


def _shares(choice: PlaceChoice) -> list[float]:
    """Return what part of a place's data each of its virtual disks holds."""
    if choice.zpool is None:
        return [1.0] * len(choice.disk_keys)
    pool = choice.zpool
    whole = CAPACITY_BYTES[pool.redundancy]([1] * len(pool.data))
    striped = {disk.key for disk in pool.data}
    return [1 / whole if disk.key in striped else 1.0 for disk in pool.virtual]
