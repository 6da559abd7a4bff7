"""Cuts held to controls and to documentation."""

from collections.abc import Callable, Sequence

import pytest

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.controls import rarer_to_see
from diskproof.analysis.safety.documented import allowed_s
from diskproof.analysis.safety.shapes import Rarer
from diskproof.analysis.thresholds import failed_controls
from diskproof.report.compose.cut_words import control as control_words
from diskproof.report.compose.cut_words import unasked
from diskproof.report.compose.safety import documented as table
from diskproof.results.cut import CutTrial
from diskproof.results.plan import Documented
from support.cuts import (
    A_SECOND,
    CONTROLS,
    CORRUPT,
    KEPT,
    changed,
    control,
    make_crash_plan,
    make_cut,
    make_cuts,
    make_ledger,
    refused,
    silent,
    unreadable,
)
from support.safety import ALONE, WAYS, analysed, lossy, safety_of
from support.trials import change

# ---------------------------------------------------------------- controls


def failed(analysis: Analysis) -> list[str]:
    assert analysis.safety
    return [control_words(analysis.safety, one) for one in failed_controls(analysis)]


def test_controls_hold_where_honest_disks_keep_and_others_lose() -> None:
    crash = make_crash_plan(storages=("ssd", "liar", "disk"), ways=WAYS, controls=CONTROLS)
    analysis = analysed(crash)
    assert analysis.safety
    assert [(one.cell, one.must, one.outcome) for one in analysis.safety.controls] == [
        ("mariadb/ssd/safest", "keep", "holds"),
        ("mariadb/disk/safest", "keep", "holds"),
        ("mariadb/ssd/fast", "lose", "holds"),
        ("mariadb/liar/fast", "lose", "holds"),  # on `disk` nothing but the server can die
        ("mariadb/liar/safest", "lose", "holds"),
    ]
    assert failed_controls(analysis) == []


@pytest.mark.parametrize(
    "broken",
    [
        lambda cut: change(cut, ledger=make_ledger(500, lost=1, window_s=0.1)),
        lambda cut: change(cut, recovery__complaints=["checksum mismatch"]),
        refused,
        unreadable,
    ],
)
def test_one_loss_or_damage_fails_a_control_that_must_keep(broken: Callable[[CutTrial], CutTrial]) -> None:
    crash = change(ALONE, controls=[control("keep", "safest")])
    analysis = analysed(crash, changed(make_cuts(crash), {4: broken}))
    [sentence] = failed(analysis)
    assert sentence.startswith("mariadb/ssd/safest must keep everything at the power cut: it ")


def test_a_campaign_that_sees_no_loss_where_there_must_be_one_is_too_weak() -> None:
    crash = make_crash_plan(tunings=("fast",), cuts=20, controls=[control("lose", "fast")])
    lucky = [make_cut(crash, planned, ledger=make_ledger(500)) for planned in crash.trials]
    [sentence] = failed(analysed(crash, lucky))
    assert sentence.startswith("mariadb/ssd/fast must lose something to the power cut: it lost none in 20")
    assert "39 cuts more would show what 5% of cuts do" in sentence
    assert failed_controls(analysed(crash, lucky[:10])) == []  # interrupted: the rest may still lose


def test_what_must_break_does_not_by_losing() -> None:
    crash = make_crash_plan(tunings=("fast",), cuts=20, controls=[control("break", "fast")])
    torn = [
        make_cut(crash, planned, ledger=make_ledger(500, lost=9, window_s=0.3)) for planned in crash.trials
    ]
    [sentence] = failed(analysed(crash, torn))
    assert sentence.startswith("mariadb/ssd/fast must be damaged by the power cut: it lost up to 9 ")


@pytest.mark.parametrize(
    "broken",
    [
        lambda cut: change(cut, recovery__damaged_tables=["page 7 is torn"]),
        lambda cut: change(cut, ledger=change(make_ledger(500), half_applied=1)),
        refused,
    ],
)
def test_one_damaged_cut_is_enough_for_what_must_break(broken: Callable[[CutTrial], CutTrial]) -> None:
    crash = make_crash_plan(tunings=("fast",), cuts=20, controls=[control("break", "fast")])
    cuts = [make_cut(crash, planned, ledger=make_ledger(500)) for planned in crash.trials]
    analysis = analysed(crash, changed(cuts, {4: broken}))
    assert analysis.safety
    [answer] = analysis.safety.controls
    assert (answer.must, answer.outcome) == ("break", "holds")
    assert control_words(analysis.safety, answer).startswith(
        "mariadb/ssd/fast must be damaged by the power cut: it "
    )


@pytest.mark.parametrize("must", ["keep", "lose", "break"])
def test_a_control_without_a_telling_cut_proves_nothing(must: str) -> None:
    crash = change(ALONE, controls=[control(must, "safest")])  # type: ignore[arg-type]
    analysis = analysed(crash, [silent(cut) for cut in make_cuts(crash)])
    [sentence] = failed(analysis)
    assert "no cut proves whether it does" in sentence


def test_a_control_that_fits_nothing_that_is_cut_is_named() -> None:
    never = control("lose", "fast", ways=["stop"])
    safety = safety_of(change(ALONE, controls=[never, control("keep", "safest")]))
    assert len(safety.controls) == 1
    assert list(map(unasked, safety.unasked)) == [
        "fast on ssd and disk must lose something to a stop of the operating system, "
        "but this run cuts no such cell"
    ]
    assert [unasked(one).partition(" must")[0] for one in safety.unasked] == ["fast on ssd and disk"]
    kept = safety_of(change(ALONE, controls=[control("keep", "fast", ways=["stop"])]))
    assert "fast on ssd and disk must keep everything at a stop" in unasked(kept.unasked[0])


def test_more_cuts_look_for_what_is_rarer() -> None:
    assert rarer_to_see(58) == Rarer(share=0.05, more_cuts=1)
    assert rarer_to_see(59) == Rarer(share=0.01, more_cuts=240)
    assert rarer_to_see(10**6) is None


# ---------------------------------------------------------------- documentation


def outcome_of(documented: Documented, cuts: Sequence[CutTrial]) -> tuple[str, str]:
    crash = change(ALONE, documented=[change(documented, tunings=["safest"], storages=["ssd"])])
    safety = safety_of(crash, cuts)
    [answer] = safety.documented
    return answer.outcome, " | ".join(table(safety).rows[0])


@pytest.mark.parametrize(
    ("documented", "cuts", "outcome"),
    [
        (KEPT, lossy(0, 0, 0), "agrees"),
        (KEPT, lossy(0, 1, 0), "contradicts"),
        (KEPT, [refused(cut) for cut in lossy(0)], "contradicts"),
        (KEPT, [silent(cut) for cut in lossy(0)], "not tried"),
        (A_SECOND, lossy(0, 0), "not seen"),
        (A_SECOND, lossy(0, 9, window_s=0.9), "agrees"),
        (A_SECOND, lossy(0, 9, window_s=1.34), "agrees"),
        (A_SECOND, lossy(0, 9, window_s=1.36), "contradicts"),
        (A_SECOND, [change(cut, ledger__half_applied=1) for cut in lossy(3)], "contradicts"),
        (CORRUPT, lossy(0, 0), "not seen"),
        (CORRUPT, lossy(9, 9), "agrees"),
        (CORRUPT, [refused(cut) for cut in lossy(0)], "agrees"),
    ],
)
def test_documentation_stands_beside_what_was_observed(
    documented: Documented, cuts: list[CutTrial], outcome: str
) -> None:
    assert outcome_of(documented, cuts)[0] == outcome


def test_a_window_may_be_longer_by_what_a_timer_may_be_late() -> None:
    assert allowed_s(1.0) == pytest.approx(1.35)
    assert (
        "up to 1 s (1.35 s with a timer and two flushes)" in outcome_of(A_SECOND, lossy(9, window_s=1.2))[1]
    )


def test_what_was_not_seen_has_an_upper_bound() -> None:
    assert "at most 63% of cuts, one-sided 95% bound" in outcome_of(A_SECOND, lossy(0, 0, 0))[1]


def test_the_first_documentation_that_fits_counts_and_of_the_rest_nothing_is_said() -> None:
    crash = make_crash_plan(ways=WAYS, cuts=2, documented=[A_SECOND, change(KEPT, tunings=["fast"])])
    assert [(one.way, one.documented.says) for one in safety_of(crash).documented] == [
        ("power", "may lose"),
        ("stop", "may lose"),
        ("kill", "kept"),
    ]
