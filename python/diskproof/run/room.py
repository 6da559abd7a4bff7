"""Whether there is room for a run: on every storage, for the data sets, and in memory."""

from pathlib import Path

import psutil

from diskproof.refusal import RefusalError
from diskproof.results.records import Cell, Plan, Role, format_bytes
from diskproof.run.dataset import GoldenImages
from diskproof.server.base import ServerKind
from diskproof.storage.kinds.base import check_free, nearest
from diskproof.storage.layout import LOG_BYTES, check_layout
from diskproof.study.model import Study
from diskproof.study.plan import load_seconds

LOGGED_BYTES_PER_S = 10_000_000
"""What a writing load adds to logs and tables: a row-based binary log of some thousand transactions a
second, with room to spare."""


def check_room(study: Study, plan: Plan, servers: dict[str, ServerKind], images: GoldenImages) -> None:
    """Refuse a run that would fill a storage, the folder of the data sets, or the machine's memory."""
    missing = {
        (cell.server, cell.workload)
        for cell in plan.cells
        if not images.has(servers[cell.server], study.workloads[cell.workload], plan.seed)
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
    writing_s = [load_seconds(study, name) for name, workload in workloads.items() if workload.writes]
    logged = round(max(writing_s, default=0.0) * LOGGED_BYTES_PER_S)
    needs: dict[Role, int] = dict.fromkeys(("redo", "binlog", "tmp"), LOG_BYTES + logged)
    needs["data"] = data + logged
    place = study.storages[name].places()["data"]
    if place.directory is not None and _same_file_system(place.directory.expanduser(), images.folder):
        needs["data"] += image_bytes
    check_layout(name, study.storages[name], needs)


def _check_memory(study: Study, plan: Plan) -> None:
    """Refuse a buffer pool and a data set in main memory that do not fit beside each other.

    Virtual disks keep every data set in memory that was ever put on them, each by itself.
    """
    available = psutil.virtual_memory().available
    kept = _kept_on_virtual_disks(study, plan)
    for cell in plan.cells:
        in_ram = study.storages[cell.storage].places()["data"].in_memory
        need = cell.memory_bytes + kept + (study.workloads[cell.workload].data_bytes if in_ram else 0)
        if need > available:
            raise RefusalError(
                f"{cell.id} needs about {format_bytes(need)} of memory, "
                f"and {format_bytes(available)} are free: lower `memory` in [design]"
                + (" or `rows`" if in_ram else "")
                + (f"; virtual disks keep {format_bytes(kept)} of that" if kept else "")
            )


def _kept_on_virtual_disks(study: Study, plan: Plan) -> int:
    """Estimate what snapshots of loaded data sets take: one for each storage, server and workload."""
    kept = {(cell.storage, cell.server, cell.workload) for cell in plan.cells}
    return sum(
        study.workloads[workload].data_bytes
        for storage, _, workload in kept
        if study.storages[storage].places()["data"].has_virtual_disks
    )


def _same_file_system(path: Path, other: Path) -> bool:
    return nearest(path).stat().st_dev == nearest(other).stat().st_dev
