"""`diskproof run`: run a study, show progress, print the verdict."""

from pathlib import Path

from diskproof.cli.here import no_power_cuts, read_study_here
from diskproof.cli.outcome import OUT, resuming, see_through
from diskproof.run.session import Request
from diskproof.study.plan import make_plan


def run(
    study: Path,
    /,
    *,
    scale: str | None = None,
    resume: bool = False,
    only: list[str] | None = None,
    basedir: list[str] | None = None,
    out: Path = OUT,
) -> int:
    """Run a study, show progress, print the verdict.

    Parameters
    ----------
    study
        The study file.
    scale
        One of the study's scales; without it the one that the study takes by itself.
    resume
        Go on with the study's last run: finished trials are kept.
    only
        Only the cells whose id contains this text; may be given again.
    basedir
        Folder of one of the study's servers, as NAME=DIR; may be given again.
    out
        Folder for runs and loaded data sets.

    """
    file = read_study_here(study, scale, basedir)
    request = Request(file=file, plan=make_plan(file, only, no_power_cuts()), out=out, resume=resume)
    return see_through(request, "trials", resuming("run", study, scale, only, basedir, out))
