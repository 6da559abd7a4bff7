"""What `run` and `crash` share: the reports of a run, and its exit code."""

import shlex
from collections.abc import Callable

from diskproof.analysis.answers import Analysis
from diskproof.analysis.folder import analyse_folder
from diskproof.analysis.thresholds import FailedClaim, failed_controls, failed_thresholds, is_control_broken
from diskproof.cli.exits import DONE, INTERRUPTED, REFUSED, THRESHOLD_FAILED, TRIAL_INVALID
from diskproof.cli.progress import progress_display
from diskproof.cli.screen import complain, results, say
from diskproof.refusal import NotWrittenError
from diskproof.report import markdown
from diskproof.report.compose import names, verdict_words
from diskproof.report.compose.answer import answer as sentence
from diskproof.report.compose.one_screen import run as answer
from diskproof.report.intervals import with_bounds
from diskproof.report.write import one_screen
from diskproof.results.durable import write_whole
from diskproof.results.factor import FACTORS
from diskproof.results.folder import RunFolder
from diskproof.results.plan import NO_LEVEL
from diskproof.results.summary import Summary
from diskproof.run.execute import StoppedError, execute
from diskproof.run.session import Progress, Request
from diskproof.study.condition import Condition
from diskproof.study.read import StudyFile


def see_through(
    request: Request,
    what: str,
    going_on: str,
    execute: Callable[[Request, Progress], RunFolder] = execute,
) -> int:
    """Make a run, report what there is of it, and return the exit code.

    `what` it makes: trials or cuts; `going_on` is the command that resumes it; `execute` runs it. A run
    that a refusal ends is reported as far as it came.
    """
    refusal: StoppedError | None = None
    with progress_display(request.plan) as progress:
        try:
            folder = execute(request, progress)
        except KeyboardInterrupt:
            say(f"interrupted; the finished {what} are kept: continue with `{going_on}`")
            return INTERRUPTED
        except StoppedError as stopped:
            if not _is_anything_finished(stopped.folder):
                raise
            refusal, folder = stopped, stopped.folder
    analysis = analyse_folder(folder)
    unwritten = _unwritten_reports(folder, analysis)
    # What went wrong comes first: a terminal is left on the answer.
    if unwritten is not None:
        complain(f"{unwritten}; then write it with `{report_command(folder)}`")
    if refusal is not None:
        complain(str(refusal))
        say(f"the run ended early; the finished {what} are kept: fix the cause, then `{going_on}`")
    code = REFUSED if refusal is not None else exit_code(request.file, analysis, folder)
    page = folder.path / "report.html" if unwritten is None else folder.path
    whole = shlex.join(["diskproof", "report", str(folder.path), "--full"])
    one_screen.write(answer(analysis), results, (str(page), f"all of it: {whole}"))
    return code if unwritten is None else REFUSED


def _is_anything_finished(folder: RunFolder) -> bool:
    return any(trial.finished for trial in folder.trials()) or any(cut.finished for cut in folder.cuts())


def report_command(folder: RunFolder) -> str:
    """Return the command that writes the page of a run once more."""
    return shlex.join(["diskproof", "report", str(folder.path), "--html", str(folder.path / "report.html")])


def _unwritten_reports(folder: RunFolder, analysis: Analysis) -> str | None:
    """Write the reports; say why they could not be, which takes nothing from what was measured."""
    try:
        write_reports(folder, analysis)
    except NotWrittenError as refused:
        return str(refused)
    return None


def write_reports(folder: RunFolder, analysis: Analysis) -> None:
    """Write the reports that a run folder holds."""
    from diskproof.report import html  # noqa: PLC0415 - drawing takes long to load; a refusal needs none of it

    plan = analysis.plan
    folder.write(Summary(question=plan.question, answer=sentence(analysis), facts=_facts(analysis)))
    picture = html.picture(analysis)
    for name, content in (
        ("report.html", html.render(analysis)),
        ("report.md", markdown.render(analysis, markdown.PICTURE if picture else "")),
        *([(markdown.PICTURE, picture)] if picture else []),
    ):
        write_whole(folder.path / name, content)


def _facts(analysis: Analysis) -> list[str]:
    """Return what a run can be found by besides its answer."""
    machine = analysis.machine
    on = [machine.host, machine.cpu_model, machine.distribution] if machine else []
    levels = {cell.level(factor) for cell in analysis.plan.every_cell for factor in FACTORS} - {NO_LEVEL}
    disks = names.storages(analysis).values()
    return [
        names.servers(analysis),
        *on,
        *sorted({*levels, *disks, *(one.outcome for one in analysis.verdicts)}),
    ]


def exit_code(file: StudyFile, analysis: Analysis, folder: RunFolder) -> int:
    """Say what was not proved, and return the exit code.

    A control that lost what it must keep comes before invalid trials. What was merely not proved comes after
    them, because they may be the reason.
    """
    asked = [claim for claim in file.study.thresholds if _is_there(file, claim)]
    for claim in file.study.thresholds:
        if claim not in asked:
            say(
                f"threshold not tested: {claim.words}: this machine does not have the optional "
                f"{' and '.join(file.left_out)}"
            )
    failed = failed_thresholds(asked, analysis)
    for one in failed:
        complain(f"threshold not proved: {one.claim.words}: {_why(one)}")
    controls = failed_controls(analysis)
    if controls:
        what = "a control" if len(controls) == 1 else f"{len(controls)} controls"
        complain(f"{what} failed")
    unfinished = [cut for cut in folder.cuts() if not cut.finished]
    if unfinished:
        complain(
            f"{len(unfinished)} cuts broke off; the last one: {unfinished[-1].findings[-1].message.text}"
        )
    if is_control_broken(analysis):
        return THRESHOLD_FAILED
    if unfinished or analysis.trials_valid < analysis.trials_run:
        return TRIAL_INVALID
    return THRESHOLD_FAILED if failed or controls else DONE


def _why(failed: FailedClaim) -> str:
    """Say what was found instead of a claim."""
    if failed.verdict is not None:
        return verdict_words.verdict(failed.verdict)
    if failed.cell is None:
        return (
            "the run compares no such levels"
            if failed.claim.figure == "ratio"
            else "the run has no such cell"
        )
    if failed.found is None:
        return f"{failed.cell}: not observed"
    if failed.claim.figure == "lost":
        return f"{failed.cell}: {failed.found.estimate:,.0f} in the worst cut that was made"
    return f"{failed.cell}: {with_bounds(failed.found)}"


def _is_there(file: StudyFile, claim: Condition) -> bool:
    """Tell whether the study still has a claim's levels: those of an optional server may be left out."""
    named = {level for level in (claim.level, claim.baseline) if level is not None}
    return claim.factor is None or named <= set(file.study.levels(claim.factor))
