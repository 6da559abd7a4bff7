"""The cells that are cut, as cells of a load: what is checked and loaded for these is so for those."""

from dataclasses import replace

from diskproof.results.crash_plan import CrashCell
from diskproof.results.plan import Cell, Plan
from diskproof.study.crash import CrashChoice
from diskproof.study.loads.ledger import Ledger
from diskproof.study.read import StudyFile

CUT_LOAD = "[crash]"
"""Name of the load that is cut, among a study's workloads: none of the user's own can have it."""

LINGER_S = 5.0
"""How much longer than planned a load may run, where the moment of the cut waits for activity."""


def cut_load(crash: CrashChoice) -> Ledger:
    """Return the load that is cut, with the time for which it may run."""
    return crash.ledger.model_copy(update={"warm_up_s": 0.0, "measure_s": crash.cut_before_s + LINGER_S})


def with_cut_cells(file: StudyFile, plan: Plan) -> tuple[StudyFile, Plan]:
    """Return a study and its plan in which the cells that are cut stand among those that are measured."""
    crash = file.study.crash
    if plan.crash is None or crash is None:
        return file, plan
    workloads = {**file.study.workloads, CUT_LOAD: cut_load(crash)}
    return (
        replace(file, study=file.study.model_copy(update={"workloads": workloads})),
        plan.model_copy(update={"cells": [*plan.cells, *(_measured(cell) for cell in plan.crash.cells)]}),
    )


def _measured(cell: CrashCell) -> Cell:
    return Cell(
        id=cell.id,
        server=cell.server,
        storage=cell.storage,
        tuning=cell.tuning,
        workload=CUT_LOAD,
        memory_bytes=cell.memory_bytes,
        clients=cell.clients,
    )
