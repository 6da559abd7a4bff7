"""A look at a plan before anything is started: the programs read what the study names."""

from diskproof import disk, load
from diskproof.fio import program as fio
from diskproof.results.plan import Plan
from diskproof.server.durability import LOG_ROLE
from diskproof.storage.kinds.base import same_file_system
from diskproof.study.loads.fileio import Fileio
from diskproof.study.model import Study
from diskproof.study.places import PlaceChoice
from diskproof.study.read import StudyError, StudyFile
from diskproof.workload.arguments import run_arguments
from diskproof.workload.fileio import descriptors


def rehearse(file: StudyFile, plan: Plan) -> None:
    """Refuse what the programs would refuse later: a workload only when the data sets have been loaded."""
    study = file.study
    _look_for_logs(study, plan)
    for name in dict.fromkeys(cell.storage for cell in plan.cells):
        for choice in study.storages[name].places().values():
            for device in choice.virtual_disks:
                _look_at(name, device)
    for name in dict.fromkeys(cell.workload for cell in plan.cells):
        workload = study.workloads[name]
        if not workload.rehearses:
            continue
        try:
            load.rehearse(workload.kind, run_arguments(workload, study.phases(name), 1, plan.seed))
        except load.LoadFailedError as error:
            raise StudyError(f"workload `{name}`: {error}") from None


def _look_for_logs(study: Study, plan: Plan) -> None:
    """Refuse a place for the redo log that a server cannot use: its log lies beside its data."""
    for server, storage in dict.fromkeys(
        (cell.server, cell.storage) for cell in plan.cells if cell.has_server
    ):
        places = study.storages[storage].places()
        family = study.servers[server].family
        if LOG_ROLE[family] == "data" and _lie_apart(places["data"], places["redo"]):
            raise StudyError(
                f"`{server}` keeps its log beside its data and cannot put it on the `redo` of storage "
                f"`{storage}`: leave that server out (`servers` of a workload, or of `[crash]`), or make two "
                "studies of the storages"
            )


def _lie_apart(data: PlaceChoice, redo: PlaceChoice) -> bool:
    """Tell whether two places are certain to be two file systems."""
    if data.directory is not None and redo.directory is not None:
        return not same_file_system(data.directory.expanduser(), redo.directory.expanduser())
    if "command" in (data.kind, redo.kind):
        return False  # only its commands know
    return data.key != redo.key


def check_fio(study: Study, plan: Plan) -> None:
    """Refuse loads on bare files where fio is missing, too old, or may not hold their files open."""
    bare = [cell for cell in plan.cells if not cell.has_server]
    if bare:
        fio.version()
    for cell in bare:
        workload = study.workloads[cell.workload]
        if isinstance(workload, Fileio):
            fio.check_threads(cell.clients)
            fio.check_descriptors(descriptors(workload, cell.clients))


def _look_at(storage: str, device: str) -> None:
    """Refuse a virtual disk that is not known, or whose file is wrong."""
    if not disk.is_installed():
        return  # a run says so, with its remedy
    try:
        disk.show(device)
    except disk.DiskError as error:
        raise StudyError(f"storage `{storage}`: {error}") from None
