"""The exit code of a run with cuts: a broken promise is never hidden by a trial that broke off."""

from collections.abc import Callable
from pathlib import Path

import pytest

from diskproof.analysis.folder import analyse_folder
from diskproof.cli.outcome import exit_code
from diskproof.results.cut import CutTrial
from diskproof.study.read import StudyFile, parse_study
from support.cuts import (
    changed,
    control,
    make_crash_plan,
    make_cut,
    make_ledger,
    refused,
    unfinished,
    with_cuts,
)
from support.runs import write_run
from support.trials import change, make_machine, make_plan

STUDY = """question = "What is lost?"
[servers.mariadb]
family = "mysql"
[storages.ssd]
ram = "1 GiB"
[tunings.safest]
[crash]
"""
CRASH = make_crash_plan(tunings=("safest",), cuts=5, controls=[control("keep", "safest")])


def losing(cut: CutTrial) -> CutTrial:
    return change(cut, ledger=make_ledger(900, lost=3, window_s=0.1))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({1: losing}, 10),
        ({1: refused}, 10),
        ({4: unfinished}, 12),
        ({1: losing, 4: unfinished}, 10),
        (dict.fromkeys(range(5), unfinished), 12),  # the control was not tried, and why is known
    ],
)
def test_a_failed_control_comes_before_a_cut_that_broke_off(
    tmp_path: Path, changes: dict[int, Callable[[CutTrial], CutTrial]], code: int
) -> None:
    plan = with_cuts(make_plan(storages=("ssd",)), CRASH, speed=False)
    folder = write_run(tmp_path / "run", plan, [], make_machine(plan))
    kept = [make_cut(CRASH, planned, ledger=make_ledger(900)) for planned in CRASH.trials]
    for cut in changed(kept, changes):
        folder.append(cut)
    file = StudyFile("s", STUDY, parse_study(STUDY, "s.toml"))
    assert exit_code(file, analyse_folder(folder), folder) == code
