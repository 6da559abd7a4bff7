"""What a replay refuses, and what it takes for a difference."""

import os
import shutil
from pathlib import Path

import pytest

from diskproof.cli import call
from diskproof.crash import evidence
from diskproof.refusal import RefusalError
from diskproof.results.cut import Recovery
from diskproof.run import replay as replaying
from diskproof.run.replay import check_study, differences, open_evidence
from diskproof.run.session import Progress, Request
from diskproof.study.model import Study
from diskproof.study.read import StudyFile
from diskproof.wording import say
from support.cuts import make_crash_plan, make_cut, make_ledger, refused, with_cuts
from support.runs import write_run
from support.trials import change, make_machine, make_plan

CRASH = make_crash_plan(tunings=("safest",), cuts=1, at_once=3)
CUT = make_cut(CRASH, CRASH.trials[0], ledger=make_ledger(900, lost=3, window_s=0.1))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The folder of a cut of one disk, in its run."""
    plan = with_cuts(make_plan(storages=("ssd",)), CRASH, speed=False)
    folder = write_run(tmp_path / "run", plan, [], make_machine(plan)).cut_folder(CUT.id)
    folder.mkdir(parents=True)
    (folder / evidence.RECORD).write_text(CUT.model_dump_json())
    disk = evidence.DiskToReplay(log="requests-ssd.log", image="../disks/ssd.image")
    (folder / evidence.REPLAY).write_text(
        evidence.ToReplay(cut_us=1, folders={}, disks=[disk]).model_dump_json()
    )
    (folder.parent / "disks").mkdir()
    for file in (disk.log, disk.image):
        (folder / file).touch()
    return folder


def test_a_cut_of_disks_asks_for_root(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert call(["crash", "--replay", str(kept)]) == 2
    said = capsys.readouterr().err
    assert "is a cut of virtual disks" in said
    assert "run as root" in said


def test_an_unreadable_run_is_refused_with_a_message(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def closed(path: Path, _flags: int) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", closed)
    assert call(["crash", "--replay", str(kept)]) == 2
    assert "cannot be read: you have no permission" in " ".join(capsys.readouterr().err.split())


def test_a_server_that_is_not_here_is_asked_for(kept: Path) -> None:
    found = open_evidence(kept)
    file = StudyFile(
        "study", found.run.study_text(), Study.model_construct(question="?"), left_out=(found.cell.server,)
    )
    with pytest.raises(RefusalError, match=f"--basedir {found.cell.server}=DIR"):
        check_study(found, file)


def test_a_folder_outside_its_run_is_refused_with_a_remedy(kept: Path, tmp_path: Path) -> None:
    assert open_evidence(kept).cut == CUT
    alone = shutil.copytree(kept, tmp_path / "alone" / "cuts" / CUT.id)
    with pytest.raises(RefusalError, match="copy the whole RUN folder"):
        open_evidence(alone)


def test_a_replay_takes_the_memory_of_one_cut(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []

    def taken(request: Request, *_: object, **__: object) -> None:
        asked.append(request)
        raise RefusalError("enough")

    monkeypatch.setattr(replaying, "session", taken)
    found = open_evidence(kept)
    file = StudyFile("study", found.run.study_text(), Study.model_construct(question="?", crash=None))
    with pytest.raises(RefusalError, match="enough"):
        replaying.replay(found, file, Progress())
    crash = asked[0].plan.crash
    assert crash is not None
    assert (crash.cells, crash.at_once) == ([found.cell], 1)


def test_a_ledger_on_one_side_only_is_a_difference() -> None:
    lost = refused(change(CUT, ledger=None))
    assert lost.recovery is not None
    assert CUT.recovery is not None
    assert differences(lost, lost.recovery, None) == []
    gone = Recovery(mount_s=None, server_s=None, refused=say("no"))
    assert differences(CUT, gone, None)[-1].text == "whether the ledger can be read: yes then, no now"
    back = [one.text for one in differences(lost, CUT.recovery, CUT.ledger)]
    assert "whether the ledger can be read: no then, yes now" in back
