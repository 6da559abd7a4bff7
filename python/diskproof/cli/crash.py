"""`diskproof crash`: cut the power again and again, and count what was lost."""

from dataclasses import replace
from pathlib import Path

from diskproof.cli.exits import DONE, INTERRUPTED, THRESHOLD_FAILED
from diskproof.cli.here import no_power_cuts, read_study_here
from diskproof.cli.outcome import OUT, resuming, see_through
from diskproof.cli.progress import cut_line, progress_display
from diskproof.cli.screen import results, say
from diskproof.crash.replay import check_study, open_evidence
from diskproof.crash.replay import replay as make_again
from diskproof.refusal import RefusalError
from diskproof.run.session import Request
from diskproof.study.crash import MAX_CUTS, CrashChoice
from diskproof.study.plan import make_plan, only_cuts
from diskproof.study.read import StudyFile


def crash(
    study: Path | None = None,
    /,
    *,
    scale: str | None = None,
    resume: bool = False,
    only: list[str] | None = None,
    basedir: list[str] | None = None,
    cuts: int | None = None,
    out: Path = OUT,
    replay: Path | None = None,
) -> int:
    """Cut the power again and again while clients commit, and count what was lost.

    Parameters
    ----------
    study
        The study file; one without `[crash]` is cut as that section's defaults say.
    scale
        One of the study's scales; without it the one that the study takes by itself.
    resume
        Go on with the study's last campaign: finished cuts are kept; with more `--cuts`, beyond its end.
    only
        Only the cells whose id contains this text; may be given again.
    basedir
        Folder of one of the study's servers, as NAME=DIR; may be given again.
    cuts
        Cuts of each cell in each way, instead of the study's.
    out
        Folder for runs and loaded data sets.
    replay
        Make again, byte for byte, the cut whose evidence lies in this folder, RUN/cuts/ID; needs no STUDY.

    """
    if replay is not None:
        return _replay(replay, study, basedir)
    if study is None:
        raise RefusalError("name a study file, or a kept cut with --replay RUN/cuts/ID")
    file = _with_crash(read_study_here(study, scale, basedir), cuts)
    plan = only_cuts(make_plan(file, only, no_power_cuts()))
    request = Request(file=file, plan=plan, out=out, resume=resume)
    further = [] if cuts is None else ["--cuts", str(cuts)]
    return see_through(request, "cuts", resuming("crash", study, scale, only, basedir, out, further))


def _replay(folder: Path, study: Path | None, basedir: list[str] | None) -> int:
    """Make a cut again from its evidence, and print what comes out."""
    try:
        found = open_evidence(folder)
    except PermissionError as error:
        raise RefusalError(
            f"{error.filename} cannot be read: {error.strerror}; the run is another user's"
        ) from None
    if found.to_replay.disks and (why := no_power_cuts()):
        raise RefusalError(f"{folder} is a cut of virtual disks: {why.partition(';')[0]}")
    plan = found.run.plan()
    scale = plan.scale.name if plan.scale else None
    file = read_study_here(study or found.run.path / "study.toml", scale, basedir)
    check_study(found, file)
    with progress_display(plan) as progress:
        try:
            again = make_again(found, file, progress)
        except KeyboardInterrupt:
            say("interrupted; the evidence is as it was")
            return INTERRUPTED
    results.print(cut_line(found.cut), markup=False, soft_wrap=True)
    if not again.differences:
        results.print("made again from its logs: the same comes out", markup=False)
        return DONE
    results.print("made again from its logs, and something else comes out:", markup=False)
    for difference in again.differences:
        results.print(f"  {difference}", markup=False)
    return THRESHOLD_FAILED


def _with_crash(file: StudyFile, cuts: int | None) -> StudyFile:
    """Return the study with as many cuts as are asked for, and with a `[crash]` where it has none."""
    chosen = file.study.crash
    if chosen is None:
        if not file.study.servers:
            raise RefusalError(
                f"{file.name} has no servers: only what a database has acknowledged can be lost"
            )
        chosen = CrashChoice()
        say(
            f"{file.name} has no [crash]: its cells are cut as that section's defaults say, "
            f"{cuts or chosen.cuts} times each, by power cuts where the storage is virtual"
        )
    if cuts is not None and not 1 <= cuts <= MAX_CUTS:
        raise RefusalError(f"--cuts is a number from 1 to {MAX_CUTS:,}, not {cuts}")
    if cuts is not None:
        chosen = chosen.model_copy(update={"cuts": cuts})
    return replace(file, study=file.study.model_copy(update={"crash": chosen}))
