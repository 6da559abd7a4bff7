"""The measured trials of a run, one after another: restore, start, measure, stop."""

from diskproof.analysis.folder import invalidating
from diskproof.refusal import RefusalError
from diskproof.results.findings import START
from diskproof.results.plan import Cell, Plan, PlannedTrial
from diskproof.results.trial import Trial
from diskproof.run.attempt import Attempt
from diskproof.run.bare import FilesAttempt
from diskproof.run.bench import MISHAPS, Bench
from diskproof.run.served import ServerAttempt
from diskproof.run.session import Progress, Request, check_disks


def run_trials(request: Request, bench: Bench, progress: Progress) -> None:
    """Run the trials that do not count yet, and append each to the run folder."""
    recorded = bench.folder.trials()
    counted = {trial.id for trial in recorded if not invalidating(bench.folder, trial)}
    started = {_start_key(request.plan, trial) for trial in recorded if trial.finished}
    for planned in request.plan.trials:
        if planned.id in counted:
            continue
        layout = bench.layouts[request.plan.cell(planned.cell).storage]
        check_disks(layout)
        progress.trial_begins(planned)
        trial = run_trial(bench, planned, request.plan.cell(planned.cell))
        bench.folder.append_trial(trial)
        progress.trial_ends(trial, invalidating(bench.folder, trial))
        check_disks(layout)
        if trial.finished:
            started.add(_start_key(request.plan, trial))
        elif trial.findings[-1].check == START and _start_key(request.plan, trial) not in started:
            raise RefusalError(trial.findings[-1].message.text)


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
