"""`diskproof crash`: cut the power again and again, and count the losses."""

from dataclasses import replace
from pathlib import Path

from diskproof.cli.exits import DONE, INTERRUPTED, THRESHOLD_FAILED
from diskproof.cli.outcome import see_through
from diskproof.cli.progress import cut_line, progress_display
from diskproof.cli.runnable import WHOLE, Choice, read_study_here
from diskproof.cli.screen import results, say
from diskproof.hosts.over import execute_over_hosts
from diskproof.refusal import RefusalError
from diskproof.run.capacity import fitting
from diskproof.run.cut_rights import CUTS_NEED_ROOT, no_power_cuts
from diskproof.run.execute import execute
from diskproof.run.replay import check_study, open_evidence
from diskproof.run.replay import replay as make_again
from diskproof.run.session import Request
from diskproof.study.crash import MAX_CUTS
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyFile


def crash(
    study: Path | None = None,
    /,
    *,
    choice: Choice = WHOLE,
    resume: bool = False,
    cuts: int | None = None,
    states: int | None = None,
    program: Path | None = None,
    replay: Path | None = None,
) -> int:
    """Cut the power again and again while clients commit, and count the losses.

    Parameters
    ----------
    study
        The study file; without a `[crash]` section its defaults apply.
    resume
        Continue the study's last campaign: finished cuts are kept. A larger `--cuts` extends it.
    cuts
        Cuts of each cell in each way, instead of the study's number.
    states
        Instead of random moments, log one run of each cell, and check up to so many states that a cut \
        before any of its flushes can leave, until one does harm.
    program
        The same as STUDY, for one with a `[program]`.
    replay
        Replay the cut with its evidence in this folder, RUN/cuts/ID, byte for byte; needs no STUDY.

    """
    if replay is not None:
        return _replay(replay, study, choice.basedir)
    if program is not None and study is not None:
        raise RefusalError("give the study once: leave STUDY or --program out")
    study = study or program
    if study is None:
        raise RefusalError("no study file: name one, or give a kept cut with --replay RUN/cuts/ID")
    file = _with_crash(choice.read(study, to_cut=True, resume=resume), cuts, states)
    plan = make_plan(file, choice.only, no_power_cuts(), over_hosts=choice.hosts, cuts_alone=True)
    further = [] if cuts is None else ["--cuts", str(cuts)]
    further += [] if states is None else ["--states", str(states)]
    going_on = choice.resuming("crash", study, further)
    plan = fitting(file.study, plan).model_copy(update={"resume": going_on})
    request = Request(file=file, plan=plan, out=choice.out, resume=resume)
    return see_through(request, "cuts", going_on, execute_over_hosts if choice.hosts else execute)


def _replay(folder: Path, study: Path | None, basedir: list[str] | None) -> int:
    """Make a cut again from its evidence, and print what comes out."""
    try:
        found = open_evidence(folder)
    except PermissionError as error:
        raise RefusalError(
            f"{error.filename} cannot be read: {error.strerror}; the run belongs to another user"
        ) from None
    if found.to_replay.disks and no_power_cuts():
        raise RefusalError(f"{folder} is a cut of virtual disks: {CUTS_NEED_ROOT}")
    plan = found.run.plan()
    scale = plan.scale.name if plan.scale else None
    file = read_study_here(study or found.run.path / "study.toml", scale, basedir)
    check_study(found, file)
    with progress_display(plan) as progress:
        try:
            differences = make_again(found, file, progress)
        except KeyboardInterrupt:
            say("interrupted; the evidence is unchanged")
            return INTERRUPTED
    results.print(cut_line(found.cut), soft_wrap=True)
    if not differences:
        results.print("replayed from its logs: the result is the same")
        return DONE
    results.print("replayed from its logs: the result differs:")
    for difference in differences:
        results.print(f"  {difference.text}")
    return THRESHOLD_FAILED


def _with_crash(file: StudyFile, cuts: int | None, states: int | None) -> StudyFile:
    """Return the study with the requested number of cuts, or of states of one run of each cell."""
    chosen = file.study.crash
    assert chosen is not None
    if cuts is not None and not 1 <= cuts <= MAX_CUTS:
        raise RefusalError(f"--cuts is a number from 1 to {MAX_CUTS:,}, not {cuts}")
    if states is not None:
        if not 1 <= states <= MAX_CUTS:
            raise RefusalError(f"--states is a number from 1 to {MAX_CUTS:,}, not {states}")
        if why := no_power_cuts():
            raise RefusalError(why)
        chosen = chosen.model_copy(update={"states": states, "cuts": 1})
    if cuts is not None:
        chosen = chosen.model_copy(update={"cuts": cuts})
    return replace(file, study=file.study.model_copy(update={"crash": chosen}))
