"""The measured trials of a run, one after another: restore, start, measure, stop.

A run that goes on until its verdicts are decided looks at them after each block. Looking costs no validity:
its intervals hold at any time (`stats/sequential.py`).
"""

from collections.abc import Sequence
from itertools import chain
from statistics import fmean

from diskproof.analysis.answers import Verdict
from diskproof.analysis.folder import invalidating, open_verdicts
from diskproof.refusal import RefusalError
from diskproof.results.findings import START
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Cell, Plan, PlannedTrial
from diskproof.results.trial import Trial
from diskproof.run.attempt import Attempt
from diskproof.run.bare import FilesAttempt
from diskproof.run.bench import MISHAPS, Bench
from diskproof.run.served import ServerAttempt
from diskproof.run.session import Progress, check_disks
from diskproof.stats.groups import grouped
from diskproof.study.plan import next_block


def run_trials(bench: Bench, progress: Progress) -> None:
    """Run the planned trials that do not count yet, and append each to the run folder.

    If the plan says so, further blocks of the cells of open verdicts follow, and are added to the plan.
    """
    plan, recorded = bench.folder.plan(), bench.folder.trials()
    counted = {trial.id for trial in recorded if not invalidating(bench.folder, trial)}
    started = {_start_key(plan, trial) for trial in recorded if trial.finished}
    _run([one for one in plan.trials if one.id not in counted], plan, started, bench, progress)
    while plan.at_most_s is not None and (is_open := open_verdicts(bench.folder)):
        seconds = _mean_seconds(bench.folder)
        left_s = plan.at_most_s - _used_s(bench.folder)
        cells = set(chain.from_iterable((one.cell, one.baseline_cell) for one in is_open))
        progress.looked(is_open, _needed_s(plan, is_open, seconds), left_s)
        if sum(seconds[cell] for cell in cells) > left_s:
            return
        added = next_block(plan, cells)
        plan = plan.model_copy(update={"trials": [*plan.trials, *added]})
        bench.folder.write_plan(plan)
        _run(added, plan, started, bench, progress)


def _run(
    trials: Sequence[PlannedTrial],
    plan: Plan,
    started: set[tuple[str, str]],
    bench: Bench,
    progress: Progress,
) -> None:
    """Run these trials; `started` has the servers and tunings that are known to start."""
    for planned in trials:
        layout = bench.layouts[plan.cell(planned.cell).storage]
        check_disks(layout)
        progress.trial_begins(planned)
        trial = run_trial(bench, planned, plan.cell(planned.cell))
        bench.folder.append_trial(trial)
        progress.trial_ends(trial, invalidating(bench.folder, trial))
        check_disks(layout)
        if trial.finished:
            started.add(_start_key(plan, trial))
        elif trial.findings[-1].check == START and _start_key(plan, trial) not in started:
            raise RefusalError(trial.findings[-1].message.text)


def _used_s(folder: RunFolder) -> float:
    """Return the seconds that the trials took; those that broke off have no time on record."""
    return sum(trial.timings.total_s for trial in folder.trials() if trial.timings)


def _mean_seconds(folder: RunFolder) -> dict[str, float]:
    """Return what a trial of each cell took."""
    timed = grouped((trial for trial in folder.trials() if trial.timings), lambda trial: trial.cell)
    return {
        cell: fmean(trial.timings.total_s for trial in trials if trial.timings)
        for cell, trials in timed.items()
    }


def _needed_s(plan: Plan, is_open: Sequence[Verdict], seconds: dict[str, float]) -> float | None:
    """Return the seconds after which all verdicts are probably decided; None: not in sight."""
    blocks: dict[str, int] = {}
    made = len(plan.blocks())
    for verdict in is_open:
        if verdict.blocks_needed is None:
            return None
        for cell in (verdict.cell, verdict.baseline_cell):
            blocks[cell] = max(blocks.get(cell, 0), verdict.blocks_needed - made)
    return sum(seconds[cell] * more for cell, more in blocks.items())


def run_trial(bench: Bench, planned: PlannedTrial, cell: Cell) -> Trial:
    """Run one trial to its end. If a part of it fails, the trial records a finding and the run goes on.

    A data set that cannot be loaded (DataSetError) is raised: no trial caused it.
    """
    attempt: Attempt = (ServerAttempt if cell.has_server else FilesAttempt)(bench, planned, cell)
    try:
        attempt.restore()
        attempt.start()
        attempt.measure()
        attempt.stop()
    except MISHAPS as error:
        attempt.fail(error)
    finally:
        attempt.clear()
    return attempt.record()


def _start_key(plan: Plan, trial: Trial) -> tuple[str, str]:
    """Return what decides whether a server can start at all: itself and its tuning."""
    cell = plan.cell(trial.cell)
    return cell.server, cell.tuning
