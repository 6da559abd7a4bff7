"""The pilot of a run: short trials before the first block, which choose how long the others are.

Its trials do not count, because trials of another length scatter otherwise. The trials after it are
independent of the choice, so the intervals keep their error. It is an external pilot. Internal ones count:
Wittes and Brittain, "The role of internal pilot studies in increasing the efficiency of clinical trials",
Statistics in Medicine 9, 1990.
"""

import numpy as np

from diskproof.analysis.folder import pilot_has_settled, pilot_of
from diskproof.refusal import RefusalError
from diskproof.results.plan import Phases, Pilot, Plan, PlannedTrial
from diskproof.run.bench import Bench
from diskproof.run.session import Progress, check_disks
from diskproof.run.trials import run_trial
from diskproof.study.plan import with_pilot
from diskproof.wording import numbers

BLOCKS = 3

LOAD_S = 5.0
"""Load of a trial in the first block. The next block has twice that, if a cell has not settled."""


def with_chosen_lengths(bench: Bench, progress: Progress) -> Plan:
    """Return the run's plan; if lengths are left to a pilot that was not made yet, make it."""
    plan = bench.folder.plan()
    if not plan.left_to_a_pilot or plan.pilot is not None:
        return plan
    steady = [cell for cell in plan.cells if plan.metric(cell) != "seconds"]
    load_s = LOAD_S
    for block in range(1, BLOCKS + 1):
        progress.note(
            f"pilot {block}/{BLOCKS}: {numbers.count(len(steady), 'cell')}, {numbers.duration(load_s)} each"
        )
        order = np.random.default_rng([plan.seed, 0, block]).permutation(len(steady))
        for position, at in enumerate(order, start=1):
            cell = steady[at]
            planned = PlannedTrial(
                id=f"p{block:02}-t{position:02}", block=block, position=position, cell=cell.id
            )
            check_disks(bench.layouts[cell.storage])
            trial = run_trial(bench, planned, cell, phases=Phases(warm_up_s=0, measure_s=load_s))
            bench.folder.append_pilot(trial)
            if not trial.finished:
                raise RefusalError(f"a trial of the pilot broke off: {trial.findings[-1].message.text}")
        if not pilot_has_settled(bench.folder, block):
            load_s *= 2
    pilot = pilot_of(bench.folder)
    plan = with_pilot(bench.study, plan, pilot)
    bench.folder.write_plan(plan)
    progress.note(_chosen(pilot))
    return plan


def _chosen(pilot: Pilot) -> str:
    blocks = "" if pilot.blocks is None else f", probably {numbers.count(pilot.blocks, 'block')}"
    return (
        f"the pilot chose a warm-up of {numbers.duration(pilot.warm_up_s)} and a measurement of "
        f"{numbers.duration(pilot.measure_s)}{blocks}"
    )
