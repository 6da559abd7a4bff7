"""A campaign that a refusal ends is reported as far as it came."""

from pathlib import Path

import pytest

from diskproof.cli import outcome
from diskproof.results.folder import RunFolder
from diskproof.run.execute import StoppedError
from diskproof.run.session import Progress, Request
from diskproof.study.read import StudyFile, parse_study
from support.cuts import make_crash_plan, make_cut, make_ledger, unfinished, with_cuts
from support.runs import write_run
from support.trials import make_machine, make_plan

STUDY = """question = "What is lost?"
[servers.mariadb]
family = "mysql"
[storages.ssd]
ram = "1 GiB"
[tunings.safest]
[crash]
"""
CRASH = make_crash_plan(tunings=("safest",), cuts=3)
PLAN = with_cuts(make_plan(storages=("ssd",)), CRASH, speed=False)


def stopped_run(path: Path, finished: int) -> RunFolder:
    folder = write_run(path, PLAN, [], make_machine(PLAN))
    cuts = [make_cut(CRASH, planned, ledger=make_ledger(900)) for planned in CRASH.trials]
    for cut in cuts[:finished]:
        folder.append(cut)
    folder.append(unfinished(cuts[finished]))
    return folder


def see_through(folder: RunFolder) -> int:
    def execute(request: Request, progress: Progress) -> RunFolder:
        del request, progress
        raise StoppedError("the server never starts", folder)

    request = Request(StudyFile("s", STUDY, parse_study(STUDY, "s.toml")), PLAN, folder.path.parent)
    return outcome.see_through(request, "cuts", "diskproof crash s --resume", execute)


def test_what_was_finished_is_reported_with_the_reason_and_the_way_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped_run(tmp_path / "run", finished=2)
    assert see_through(folder) == 2
    said = capsys.readouterr().err
    assert "the server never starts" in said
    assert "the finished cuts are kept: fix the cause, then `diskproof crash s --resume`" in said
    assert (folder.path / "report.html").is_file()


def test_nothing_finished_is_nothing_to_report(tmp_path: Path) -> None:
    folder = stopped_run(tmp_path / "run", finished=0)
    with pytest.raises(StoppedError, match="never starts"):
        see_through(folder)
    assert not (folder.path / "report.html").exists()
