"""A look at every workload of a plan before anything is started: the load generator reads its arguments."""

from diskproof import load
from diskproof.results.records import Plan
from diskproof.study.read import StudyError, StudyFile
from diskproof.workload.arguments import run_arguments


def rehearse(file: StudyFile, plan: Plan) -> None:
    """Refuse what the load generator would refuse only when the data sets have been loaded."""
    study = file.study
    for name in dict.fromkeys(cell.workload for cell in plan.cells):
        workload = study.workloads[name]
        if not workload.rehearses:
            continue
        try:
            load.rehearse(workload.kind, run_arguments(workload, study.design, 1, plan.seed))
        except load.LoadFailedError as error:
            raise StudyError(f"workload `{name}`: {error}") from None
