"""A cut is recorded before its evidence is kept, and what earlier sessions recorded is remembered."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Barrier, Event
from types import SimpleNamespace
from typing import Any, cast

import pytest

from diskproof.crash import evidence
from diskproof.refusal import RefusalError
from diskproof.results.cut import CutTrial
from diskproof.results.findings import START
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Cell, PlannedCut
from diskproof.results.trial import Finding
from diskproof.run import cuts as cuts_of_run
from diskproof.run.attempt import Steps
from diskproof.run.bench import Bench
from diskproof.system.endings import HANDLED, at_interruption, ending_in_good_order, sleep
from support.cuts import make_crash_plan, make_cut, refused, with_cuts
from support.trials import change, make_plan

PLAN = make_crash_plan(tunings=["safest"], ways=["kill"], cuts=4)


class Attempt:
    """A cut that was made, with its record."""

    find = Steps.find

    def __init__(self, bench: Bench, cut: CutTrial) -> None:
        self.bench, self._cut = bench, cut
        self.folder = bench.folder.new_cut_folder(cut.id).absolute()
        self.findings: list[Finding] = []
        self.told: list[Any] = []
        self.ledger = None
        self.cut_us = 1
        self.is_logged = False

    def go(self) -> None:
        """Be made."""

    def record(self, evidence: str | None) -> CutTrial:
        return change(self._cut, evidence=evidence, findings=[*self._cut.findings, *self.findings])


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(cuts_of_run, "check_disks", lambda _: None)
    layouts = {cell.storage: None for cell in PLAN.cells}
    folder = RunFolder.create(tmp_path / "run", "question = '?'", with_cuts(make_plan(), PLAN))
    return cast("Bench", SimpleNamespace(folder=folder, layouts=layouts, lane=1))


@pytest.fixture
def signals() -> Iterator[None]:
    """Take ending signals as a run does, and be as before at the end."""
    before, hook = {number: signal.getsignal(number) for number in HANDLED}, sys.unraisablehook
    at_interruption(nothing)
    try:
        with ending_in_good_order():
            yield
    finally:
        with ending_in_good_order():  # forgets the signals that came
            pass
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def interrupt() -> None:
    """Interrupt the main thread, and wait until that was noted."""
    os.kill(os.getpid(), signal.SIGINT)
    with suppress(KeyboardInterrupt):
        sleep(10)


def broken_off(cut: CutTrial) -> CutTrial:
    why = Finding(check=START, severity="invalid", message="it did not start")
    return change(cut, finished=False, ledger=None, recovery=None, findings=[why])


def nothing(*_: object) -> None:
    """Do nothing."""


def make(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    *cuts: CutTrial,
    at_once: int = 1,
    kind: type[Attempt] = Attempt,
    note: Callable[[str], object] = nothing,
    at_end: Callable[[], object] = nothing,
) -> set[int]:
    """Go on with the campaign, in which these cuts come out; return the lanes that made them.

    `note` gets what is shown, and `at_end` is called when the lanes' disks are given back.
    """
    coming = {cut.id: cut for cut in cuts}
    planned = [one for one in PLAN.trials if one.id in coming]

    together = Barrier(at_once)
    used: set[int] = set()

    def make_one(bench: Bench, planned: PlannedCut, cell: Cell) -> Attempt:
        del cell
        together.wait(10)
        used.add(bench.lane)
        attempt = kind(bench, coming[planned.id])
        attempt.go()
        return attempt

    @contextmanager
    def lanes(bench: Bench, _: object, count: int) -> Iterator[list[SimpleNamespace]]:
        try:
            yield [SimpleNamespace(**vars(bench) | {"lane": number}) for number in range(1, count + 1)]
        finally:
            at_end()

    monkeypatch.setattr(cuts_of_run, "make_cut", make_one)
    monkeypatch.setattr(cuts_of_run, "lanes", lanes)
    progress = SimpleNamespace(begins=nothing, ends=nothing, note=note)
    cuts_of_run.make_cuts(change(PLAN, trials=planned, at_once=at_once), bench, cast("Any", progress))
    return used


def a_cut(number: int) -> CutTrial:
    return change(make_cut(PLAN, PLAN.trials[number]), evidence=None)


def lost(number: int) -> CutTrial:
    return change(refused(a_cut(number)), evidence=None)


def test_a_failed_cut_is_recorded_with_its_evidence(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    make(bench, monkeypatch, a_cut(0), lost(1))
    kept, failed = bench.folder.cuts()
    assert kept.evidence is None
    assert not bench.folder.cut_folder(kept.id).exists()
    assert failed.evidence == f"cuts/{failed.id}"
    assert (bench.folder.path / failed.evidence / evidence.READ_ME).exists()


@pytest.mark.parametrize("part", ["keep", "explain"])
def test_a_loss_counts_though_its_evidence_cannot_be_kept(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(evidence, part, full)
    make(bench, monkeypatch, lost(0))
    [cut] = bench.folder.cuts()
    assert cut.finished
    assert cut.recovery == lost(0).recovery
    assert cut.evidence is None
    assert "No space left" in cut.findings[-1].message.text
    assert cut.findings[-1].severity == "warning"
    assert not bench.folder.cut_folder(cut.id).exists()


def test_a_loss_counts_though_its_evidence_was_interrupted_and_the_rest_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as interrupted:
        interrupted.setattr(evidence, "keep", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            make(bench, monkeypatch, lost(0))
    [cut] = bench.folder.cuts()
    assert cut.recovery == lost(0).recovery
    assert bench.folder.cut_folder(cut.id).exists()
    make(bench, monkeypatch, a_cut(0), a_cut(1))  # the first would now lose nothing
    assert [one.recovery for one in bench.folder.cuts()] == [lost(0).recovery, a_cut(1).recovery]
    assert not bench.folder.cut_folder(cut.id).exists(), "half of an evidence is none"


def test_a_server_that_started_in_an_earlier_session_may_fail_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(bench, monkeypatch, a_cut(0))
    make(bench, monkeypatch, broken_off(a_cut(1)), a_cut(2))
    assert [cut.finished for cut in bench.folder.cuts()] == [True, False, True]


def test_a_server_that_never_started_ends_the_campaign_and_is_tried_anew_in_the_next(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        with pytest.raises(RefusalError, match="it did not start"):
            make(bench, monkeypatch, broken_off(a_cut(0)), broken_off(a_cut(1)))
    make(bench, monkeypatch, *(a_cut(number) for number in range(4)))
    assert all(cut.finished for cut in bench.folder.cuts())


def test_an_error_in_one_lane_ends_the_others_after_their_cut(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RefusalError, match="it did not start"):
        make(bench, monkeypatch, *(broken_off(a_cut(number)) for number in range(4)), at_once=2)
    assert len(bench.folder.cuts()) == 2
    assert make(bench, monkeypatch, *(a_cut(number) for number in range(4)), at_once=2) == {1, 2}
    assert all(cut.finished for cut in bench.folder.cuts())


class Struck(Attempt):
    """A cut whose server dies by the signal that ends the run, while it is verified."""

    def go(self) -> None:
        Steps.take(cast("Any", self), self.verify)

    def verify(self) -> None:
        if self.bench.lane == 2:  # finds damage, and is done
            interrupt()
            return
        with suppress(KeyboardInterrupt):
            sleep(10)
        raise RefusalError("the server has gone away")

    def fail(self, error: Exception) -> None:
        self.findings.append(Finding(check=START, severity="invalid", message=str(error)))

    def clear(self) -> None: ...


@pytest.mark.usefixtures("signals")
def test_what_the_end_of_the_run_breaks_is_no_cut(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        make(bench, monkeypatch, lost(0), lost(1), at_once=2, kind=Struck)
    assert bench.folder.cuts() == [], "neither damaged nor broken off: both are made again"


class Slower(Attempt):
    """The first lane fails, and the other one goes on until that was noted, and is interrupted."""

    noted, ended = Event(), Event()

    def go(self) -> None:
        if self.bench.lane == 1:
            raise RefusalError("the disk is gone")
        assert self.noted.wait(10)
        interrupt()
        time.sleep(0.3)
        self.ended.set()


@pytest.mark.usefixtures("signals")
def test_lanes_have_ended_before_their_disks_are_given_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    had_ended: list[bool] = []

    def note(text: str) -> None:
        notes.append(text)
        Slower.noted.set()

    with pytest.raises(KeyboardInterrupt):
        make(
            *(bench, monkeypatch, a_cut(0), a_cut(1)),
            at_once=2,
            kind=Slower,
            note=note,
            at_end=lambda: had_ended.append(Slower.ended.is_set()),
        )
    assert had_ended == [True]
    assert notes == ["the run ends here, when the cuts under way have finished"]
