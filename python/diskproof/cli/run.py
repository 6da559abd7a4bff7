"""`diskproof run`: run a study, show progress, print the verdict."""

from pathlib import Path

from diskproof.analysis.limits.thresholds import FEWEST_PAIRS
from diskproof.cli.outcome import OUT, resuming, see_through
from diskproof.cli.runnable import no_power_cuts, read_study_here
from diskproof.refusal import RefusalError
from diskproof.run.session import Request
from diskproof.study.plan import make_plan

MOST_PAIRS = 1_000


def run(
    study: Path,
    /,
    *,
    scale: str | None = None,
    resume: bool = False,
    only: list[str] | None = None,
    basedir: list[str] | None = None,
    out: Path = OUT,
    prove: bool = False,
    pairs: int | None = None,
) -> int:
    """Run a study, show progress, print the verdict.

    Parameters
    ----------
    study
        The study file.
    scale
        One of the study's scales; default: the study's own choice.
    resume
        Continue the study's last run: finished trials are kept.
    only
        Only cells with this text in their id; can be repeated.
    basedir
        Folder of one of the study's servers, as NAME=DIR; can be repeated.
    out
        Folder for runs and for loaded data sets.
    prove
        After the trials, change one thing about each cell and compare the effect with the prediction.
    pairs
        Pairs of trials of each proof, one with the change and one without; default: 3.

    """
    if pairs is not None and not prove:
        raise RefusalError("--pairs needs --prove: it is the number of pairs of trials of each proof")
    if pairs is not None and not FEWEST_PAIRS <= pairs <= MOST_PAIRS:
        raise RefusalError(f"--pairs is a number from {FEWEST_PAIRS} to {MOST_PAIRS}, not {pairs}")
    asked = (pairs or FEWEST_PAIRS) if prove else 0
    file = read_study_here(study, scale, basedir)
    plan = make_plan(file, only, no_power_cuts())
    request = Request(file=file, plan=plan, out=out, resume=resume, pairs=asked)
    further = ["--prove"] if prove else []
    further += ["--pairs", str(pairs)] if pairs is not None else []
    return see_through(request, "trials", resuming("run", study, scale, only, basedir, out, further))
