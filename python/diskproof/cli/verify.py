"""`diskproof advise --verify`: the advised disk, and a cheaper one, as virtual disks."""

from collections.abc import Mapping
from pathlib import Path

from diskproof.analysis.advised.records import Advice, Verification
from diskproof.analysis.advised.verified import ADVISED, CHEAPER, verified
from diskproof.analysis.folder import analyse_folder, gather_folder
from diskproof.cli.outcome import write_reports
from diskproof.cli.progress import progress_display
from diskproof.cli.runnable import Choice, read_study_here
from diskproof.cli.screen import say
from diskproof.crash.campaign import execute
from diskproof.reading import read_text
from diskproof.results.durable import write_whole, writing
from diskproof.results.folder import RunFolder
from diskproof.run.session import Request
from diskproof.study.candidates import on_disks
from diskproof.study.plan import make_plan
from diskproof.study.price_cards import MOST_BYTES


def verify(folder: RunFolder, advice: Advice, files: Mapping[str, str], choice: Choice) -> Verification:
    """Run the recorded load on the chosen disk and a cheaper one; RefusalError says why it cannot.

    The study and its device files are written into the folder of the recorded run, where its scripts are.
    """
    assert advice.chosen is not None
    study = _write(folder, advice, files)
    going_on = choice.resuming("run", study)
    say(f"verifying: the same as `{going_on.removesuffix(' --resume')}`")
    file = read_study_here(study, None, choice.basedir)
    request = Request(file=file, plan=make_plan(file), out=choice.out)
    with progress_display(request.plan) as progress:
        try:
            made = execute(request, progress)
        except KeyboardInterrupt:
            say(f"the finished trials are kept: continue with `{going_on}`")
            raise
    write_reports(made, analyse_folder(made))
    return verified(advice, gather_folder(made), str(study), str(made.path))


def _write(folder: RunFolder, advice: Advice, files: Mapping[str, str]) -> Path:
    """Write the study and the device files that it names."""
    chosen, cheaper = advice.chosen, advice.cheaper
    assert chosen is not None
    plan, cell = folder.plan(), chosen.predicted.cell
    disks = {}
    for name, one in ((ADVISED, chosen), (CHEAPER, cheaper)):
        if one is not None:
            disks[name] = _kept(folder, name, files[one.configuration.name])
    scale = plan.scale.name if plan.scale else None
    study = folder.path / f"{plan.study}-advised.toml"
    with writing(study):
        write_whole(study, on_disks(folder.study_text(), scale, cell, plan.phases_of(cell), disks))
    return study


def _kept(folder: RunFolder, name: str, device: str) -> str:
    """Return what the study calls a device: a copy of its file beside the study, or its name."""
    if not device.endswith(".toml"):
        return device
    path = folder.path / f"{name}.toml"
    with writing(path):
        write_whole(path, read_text(Path(device), MOST_BYTES))
    return path.name
