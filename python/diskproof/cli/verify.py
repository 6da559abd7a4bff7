"""`diskproof advise --verify`: the search for the cheapest disk, among virtual disks."""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path

from diskproof.analysis.advised.records import Advice, Candidate, Measured, Target, Verification
from diskproof.analysis.advised.search import MOST_RUNS, search
from diskproof.analysis.advised.verified import verified
from diskproof.analysis.folder import analyse_folder, gather_folder
from diskproof.cli.outcome import write_reports
from diskproof.cli.progress import progress_display
from diskproof.cli.runnable import Choice, read_study_here
from diskproof.cli.screen import say
from diskproof.reading import read_text
from diskproof.results.durable import write_whole, writing
from diskproof.results.folder import RunFolder
from diskproof.run.execute import execute
from diskproof.run.session import Request
from diskproof.study.candidates import ADVISED, on_disk
from diskproof.study.plan import make_plan
from diskproof.study.price_cards import MOST_BYTES
from diskproof.system.endings import ending_in_good_order


def verify(
    folder: RunFolder, advice: Advice, files: Mapping[str, str], choice: Choice
) -> Iterator[Verification]:
    """Run the recorded load on one disk after the other; yield what is known after each run.

    The studies and their device files are written into the folder of the recorded run, where its scripts are.
    RefusalError says why a disk cannot be run.
    """
    numbers = itertools.count(1)
    return search(
        advice.target,
        advice.candidates,
        lambda one: _run(folder, advice.target, one, files[one.configuration.name], next(numbers), choice),
    )


def _run(
    folder: RunFolder, target: Target, one: Candidate, device: str, number: int, choice: Choice
) -> Measured:
    study = _write(folder, one, device, f"{ADVISED}-{number}")
    going_on = choice.resuming("run", study)
    say(f"run {number}, of {MOST_RUNS} at most: {one.configuration.name}")
    say(f"the same as `{going_on.removesuffix(' --resume')}`")
    file = read_study_here(study, None, choice.basedir)
    request = Request(file=file, plan=make_plan(file).model_copy(update={"resume": going_on}), out=choice.out)
    # A run ignores signals while it cleans up, to its end; the next one must hear them again.
    with ending_in_good_order(), progress_display(request.plan) as progress:
        try:
            made = execute(request, progress)
        except KeyboardInterrupt:
            say(f"the finished trials are kept: continue with `{going_on}`")
            raise
    write_reports(made, analyse_folder(made))
    return verified(target, one, gather_folder(made), str(study), str(made.path))


def _write(folder: RunFolder, one: Candidate, device: str, name: str) -> Path:
    """Write the study of one disk, and the device file that it names."""
    plan, cell = folder.plan(), one.predicted.cell
    kept = _kept(folder, name, device)
    scale = plan.scale.name if plan.scale else None
    study = folder.path / f"{plan.study}-{name}.toml"
    with writing(study):
        write_whole(study, on_disk(folder.study_text(), scale, cell, plan.phases_of(cell), kept))
    return study


def _kept(folder: RunFolder, name: str, device: str) -> str:
    """Return what the study calls a device: a copy of its file beside the study, or its name."""
    if not device.endswith(".toml"):
        return device
    path = folder.path / f"{name}.toml"
    with writing(path):
        write_whole(path, read_text(Path(device), MOST_BYTES))
    return path.name
