"""`diskproof run`: run a study, show progress, print the verdict."""

from pathlib import Path

from diskproof.analysis.limits.thresholds import FEWEST_PAIRS
from diskproof.cli.compare import compare
from diskproof.cli.exits import DONE, TRIAL_INVALID
from diskproof.cli.outcome import see_through
from diskproof.cli.runnable import WHOLE_TIMED, TimedChoice
from diskproof.history.shelf import find
from diskproof.hosts.over import execute_over_hosts
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.run.execute import execute
from diskproof.run.resume import earlier_runs
from diskproof.run.session import Request

MOST_PAIRS = 1_000


def run(
    study: Path,
    /,
    *,
    choice: TimedChoice = WHOLE_TIMED,
    resume: bool = False,
    prove: bool = False,
    pairs: int | None = None,
    against: str | None = None,
) -> int:
    """Run a study, show progress, print the verdict.

    Parameters
    ----------
    study
        The study file.
    resume
        Continue the study's last run: finished trials are kept.
    prove
        After the trials, change one thing about each cell and compare the effect with the prediction.
    pairs
        Pairs of trials of each proof, one with the change and one without; default: 3.
    against
        An earlier run, by its folder, label or `newest`: compare with it, exit code 10 if a cell is slower.

    """
    if pairs is not None and not prove:
        raise RefusalError("--pairs needs --prove: it is the number of pairs of trials of each proof")
    if pairs is not None and not FEWEST_PAIRS <= pairs <= MOST_PAIRS:
        raise RefusalError(f"--pairs is a number from {FEWEST_PAIRS} to {MOST_PAIRS}, not {pairs}")
    asked = (pairs or FEWEST_PAIRS) if prove else 0
    earlier = None if against is None else _earlier(against, choice.out)
    file = choice.read(study)
    further = ["--prove"] if prove else []
    further += ["--pairs", str(pairs)] if pairs is not None else []
    going_on = choice.resuming("run", study, further)
    plan = choice.plan(file).model_copy(update={"resume": going_on})
    request = Request(file=file, plan=plan, out=choice.out, resume=resume, pairs=asked)
    code = see_through(request, "trials", going_on, execute_over_hosts if choice.hosts else execute)
    if earlier is None or code not in (DONE, TRIAL_INVALID):
        return code
    return compare(earlier, earlier_runs(choice.out, file.name)[0], fail_if=["slower"]) or code


def _earlier(against: str, out: Path) -> Path:
    """Return the folder of a run to compare with, before anything starts."""
    found = Path(against) if Path(against).exists() else find(against, out)
    if found is None:
        raise RefusalError(f"--against: {out} has no run `{against}`: `diskproof runs` lists them")
    return RunFolder.open(found).path
