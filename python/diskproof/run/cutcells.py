"""The cells that are cut, as cells of a load, so that the same checks and data sets serve both."""

import os
from dataclasses import replace

from diskproof.crash.clients import LINGER_S
from diskproof.refusal import RefusalError
from diskproof.results.crash_plan import CrashCell
from diskproof.results.plan import Cell, Plan
from diskproof.study.crash import CrashChoice
from diskproof.study.loads.ledger import Ledger
from diskproof.study.loads.tpcc import Tpcc
from diskproof.study.read import StudyFile

CUT_LOAD = "[crash]"
"""Name of the load that is cut; no workload of the user's can have it."""

CUTS_NEED_ROOT = "a power cut needs loop devices and mounts: run as root"


def no_power_cuts() -> str | None:
    """Return why the power of a virtual disk cannot be cut here; None if it can."""
    if os.geteuid() == 0:
        return None
    return f"{CUTS_NEED_ROOT}; without that, losses by a power cut are not verified"


def cut_load(crash: CrashChoice) -> Ledger | Tpcc:
    """Return the load that is cut, with the time it may run."""
    return crash.workload.model_copy(update={"warm_up_s": 0.0, "measure_s": crash.cut_before_s + LINGER_S})


def with_cut_cells(file: StudyFile, plan: Plan) -> tuple[StudyFile, Plan]:
    """Return the study and its plan with the cells that are cut among those that are measured.

    RefusalError if another machine planned cuts that cannot be made here.
    """
    crash = file.study.crash
    if plan.crash is None or crash is None:
        return file, plan
    if no_power_cuts() and any(cut.way != "kill" for cut in plan.crash.trials):
        raise RefusalError(CUTS_NEED_ROOT)
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
