"""A look at a plan before anything is started: the programs read what the study names."""

from diskproof import disk, load
from diskproof.results.records import Plan
from diskproof.study.read import StudyError, StudyFile
from diskproof.workload.arguments import run_arguments


def rehearse(file: StudyFile, plan: Plan) -> None:
    """Refuse what the programs would refuse later: a workload only when the data sets have been loaded."""
    study = file.study
    for name in dict.fromkeys(cell.storage for cell in plan.cells):
        for choice in study.storages[name].places().values():
            for device in choice.virtual_disks:
                _look_at(name, device)
    for name in dict.fromkeys(cell.workload for cell in plan.cells):
        workload = study.workloads[name]
        if not workload.rehearses:
            continue
        try:
            load.rehearse(workload.kind, run_arguments(workload, study.design, 1, plan.seed))
        except load.LoadFailedError as error:
            raise StudyError(f"workload `{name}`: {error}") from None


def _look_at(storage: str, device: str) -> None:
    """Refuse a virtual disk that is not known, or whose file is wrong."""
    if not disk.is_installed():
        return  # a run says so, with its remedy
    try:
        disk.show(device)
    except disk.DiskError as error:
        raise StudyError(f"storage `{storage}`: {error}") from None
