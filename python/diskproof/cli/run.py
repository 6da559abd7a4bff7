"""`diskproof run`: run a study, show progress, print the verdict."""

from pathlib import Path

from diskproof.analysis.answers import Analysis
from diskproof.analysis.folder import analyse_folder
from diskproof.analysis.thresholds import failed_thresholds
from diskproof.cli.exits import DONE, INTERRUPTED, THRESHOLD_FAILED, TRIAL_INVALID
from diskproof.cli.progress import progress_display
from diskproof.cli.screen import complain, results, say
from diskproof.report import html, markdown, text
from diskproof.results.folder import RunFolder
from diskproof.run.execute import Request, execute
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyFile, read_study


def run(
    study: Path,
    /,
    *,
    resume: bool = False,
    only: list[str] | None = None,
    out: Path = Path("runs"),
) -> int:
    """Run a study, show progress, print the verdict.

    Parameters
    ----------
    study
        The study file.
    resume
        Go on with the study's last run: finished trials are kept.
    only
        Only the cells whose id contains this text; may be given again.
    out
        Folder for runs and loaded data sets.

    """
    file = read_study(study)
    request = Request(file=file, plan=make_plan(file, only), out=out, resume=resume)
    with progress_display(request.plan) as progress:
        try:
            folder = execute(request, progress)
        except KeyboardInterrupt:
            say(f"interrupted; the finished trials are kept: `diskproof run {study} --resume` goes on")
            return INTERRUPTED
    analysis = analyse_folder(folder)
    write_reports(folder, analysis)
    text.render(analysis, results)
    say(f"\nreport: {folder.path / 'report.html'}")
    return _exit_code(file, analysis)


def write_reports(folder: RunFolder, analysis: Analysis) -> None:
    """Write the reports that a run folder holds."""
    (folder.path / "report.html").write_text(html.render(folder, analysis))
    (folder.path / "report.md").write_text(markdown.render(analysis))


def _exit_code(file: StudyFile, analysis: Analysis) -> int:
    failed = failed_thresholds(file.study.thresholds, analysis)
    for claim in failed:
        complain(f"threshold not proved: {claim}")
    if analysis.trials_valid < analysis.trials_run:
        return TRIAL_INVALID
    return THRESHOLD_FAILED if failed else DONE
