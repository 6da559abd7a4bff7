"""Campaigns of cuts as they are analysed: what the tests of their counts and verdicts begin with."""

from collections.abc import Sequence

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.shapes import CutAnswer, Safety
from diskproof.results.crash import Way
from diskproof.results.cut import CutTrial
from diskproof.results.plan import Cuts
from support.cuts import (
    make_crash_plan,
    make_cut,
    make_cuts,
    make_ledger,
    with_cuts,
)
from support.trials import make_machine, make_plan, make_series, make_trials

ALONE = make_crash_plan(tunings=("safest",), cuts=10)
WAYS: tuple[Way, ...] = ("power", "stop", "kill")


def analysed(crash: Cuts, cuts: Sequence[CutTrial] | None = None, *, speed: bool = False) -> Analysis:
    storages = tuple(dict.fromkeys(cell.storage for cell in crash.cells))
    plan = with_cuts(make_plan(storages=storages), crash, speed=speed)
    trials = make_trials(plan)
    cuts = make_cuts(crash) if cuts is None else cuts
    return analyse(plan, make_machine(plan), trials, make_series(trials), cuts)


def safety_of(crash: Cuts, cuts: Sequence[CutTrial] | None = None, *, speed: bool = False) -> Safety:
    safety = analysed(crash, cuts, speed=speed).safety
    assert safety
    return safety


def only(crash: Cuts, cuts: Sequence[CutTrial]) -> CutAnswer:
    [answer] = safety_of(crash, cuts).answers
    return answer


def lossy(*losses: int, window_s: float = 0.5) -> list[CutTrial]:
    """Return cuts of a cell that lost so many transactions each."""
    crash = make_crash_plan(tunings=("safest",), cuts=len(losses))
    return [
        make_cut(crash, planned, ledger=make_ledger(1000, lost=lost, window_s=window_s))
        for planned, lost in zip(crash.trials, losses, strict=True)
    ]
