"""The measured trials of a run: each planned one that does not count yet."""

from diskproof.analysis.folder import invalidating
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from diskproof.run.bench import Bench
from diskproof.run.served import START
from diskproof.run.session import Progress, Request, check_disks, session
from diskproof.run.trial import run_trial
from diskproof.system.endings import end_if_asked


def execute(request: Request, progress: Progress) -> RunFolder:
    """Run all trials that do not count yet; KeyboardInterrupt leaves the finished ones in the folder."""
    with session(request, progress) as bench:
        run_trials(request, bench, progress)
    return bench.folder


def run_trials(request: Request, bench: Bench, progress: Progress) -> None:
    """Run the trials that do not count yet, and append each to the run folder."""
    recorded = bench.folder.trials()
    counted = {trial.id for trial in recorded if not invalidating(bench.folder, trial)}
    started = {_start_key(request.plan, trial) for trial in recorded if trial.finished}
    for planned in request.plan.trials:
        end_if_asked()
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
            raise RefusalError(trial.findings[-1].message)


def _start_key(plan: Plan, trial: Trial) -> tuple[str, str]:
    """Return what decides whether a server can start at all: itself and its tuning."""
    cell = plan.cell(trial.cell)
    return cell.server, cell.tuning
