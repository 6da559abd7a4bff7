"""`diskproof run`: run a study, show progress, print the verdict."""

from contextlib import nullcontext
from pathlib import Path

from diskproof.analysis.limits.thresholds import FEWEST_PAIRS
from diskproof.cli.exits import DONE, INTERRUPTED, TRIAL_INVALID
from diskproof.cli.outcome import see_through
from diskproof.cli.runnable import WHOLE_TIMED, TimedChoice
from diskproof.cli.screen import say
from diskproof.cli.watching import watching
from diskproof.history.shelf import named
from diskproof.hosts.over import execute_over_hosts
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.run.execute import execute
from diskproof.run.session import Progress, Request

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
    watch: bool = False,
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
    watch
        Show the run as a page while it grows, as `serve` does.

    """
    if pairs is not None and not prove:
        raise RefusalError("--pairs needs --prove: it is the number of pairs of trials of each proof")
    if pairs is not None and not FEWEST_PAIRS <= pairs <= MOST_PAIRS:
        raise RefusalError(f"--pairs is a number from {FEWEST_PAIRS} to {MOST_PAIRS}, not {pairs}")
    asked = (pairs or FEWEST_PAIRS) if prove else 0
    earlier = None if against is None else RunFolder.open(named(against, choice.out)).path
    file = choice.read(study, resume=resume)
    further = ["--prove"] if prove else []
    further += ["--pairs", str(pairs)] if pairs is not None else []
    going_on = choice.resuming("run", study, further)
    plan = choice.plan(file).model_copy(update={"resume": going_on})
    request = Request(file=file, plan=plan, out=choice.out, resume=resume, pairs=asked)
    made: list[RunFolder] = []

    def remembering(request: Request, progress: Progress) -> RunFolder:
        made.append((execute_over_hosts if choice.hosts else execute)(request, progress))
        return made[-1]

    with watching(choice.out) if watch else nullcontext(lambda: None) as stay:
        code = see_through(request, "trials", going_on, remembering)
        if earlier is not None and made and code in (DONE, TRIAL_INVALID):
            code = _compared(earlier, made[-1].path) or code
        for folder in made:
            folder.release()  # its page shows the report from now on
        if code != INTERRUPTED:
            stay()
    return code


def _compared(earlier: Path, now: Path) -> int:
    """Compare two runs as `compare` does, in the fence; return its exit code."""
    from diskproof.cli import call  # noqa: PLC0415 - it has this verb

    if earlier.resolve() == now.resolve():
        say(f"--against: {earlier} is the run that was resumed, so there is nothing to compare")
        return DONE
    return call(["compare", str(earlier), str(now), "--fail-if", "slower"], apart=True)
