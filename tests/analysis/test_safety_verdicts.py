"""What is said of cuts: the ways to die never put together, speed beside safety, words."""

import re
from pathlib import Path

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.report.compose.cut_words import interval, points, seconds
from diskproof.results.cut import CutTrial, LedgerOutcome
from diskproof.results.plan import Cuts, PlannedCut
from diskproof.stats.proportions import share
from diskproof.wording import say
from diskproof.wording import seconds as seconds_
from support.cuts import (
    changed,
    make_crash_plan,
    make_cut,
    make_cuts,
    make_ledger,
    refused,
    silent,
    unfinished,
    with_cuts,
)
from support.safety import ALONE, WAYS, analysed, safety_of
from support.trials import change, make_machine, make_plan, make_series, make_trials
from support.words import on_safety, texts, worst_of

# ---------------------------------------------------------------- ways to die


def test_ways_to_die_are_never_put_together() -> None:
    crash = make_crash_plan(ways=WAYS, cuts=5)
    safety = safety_of(crash)
    assert [(one.way, one.cell.tuning) for one in safety.answers] == [
        (way, tuning) for way in WAYS for tuning in ("safest", "fast")
    ]
    assert all(one.made == 5 for one in safety.answers)
    of_fast = {one.way: one for one in safety.answers if one.cell.tuning == "fast"}
    assert (of_fast["kill"].with_loss, of_fast["power"].with_loss > 0) == (0, True)


@pytest.mark.parametrize("way", ["kill", "stop"])
def test_what_survives_another_death_is_never_called_safe_from_the_power_cut(way: str) -> None:
    crash = make_crash_plan(tunings=("safest",), ways=(way,), cuts=50)  # type: ignore[arg-type]
    sentence, reasons = on_safety(analysed(crash))
    assert "power cut" not in sentence
    assert reasons[0].startswith("power-cut safety is unverified: these cuts only ")


def in_ways(crash: Cuts, **ledgers: LedgerOutcome) -> list[CutTrial]:
    """Return the cuts of one cell, with what each of its ways left."""
    return [make_cut(crash, planned, ledger=ledgers[planned.way]) for planned in crash.trials]


WHOLE, WORN = make_ledger(900), make_ledger(900, lost=9, window_s=0.1)


@pytest.mark.parametrize("way", ["stop", "kill"])
def test_no_verdict_says_kept_over_a_loss_to_a_lesser_death(way: str) -> None:
    crash = make_crash_plan(tunings=("safest",), ways=WAYS, cuts=3)
    ledgers = {one: WORN if one == way else WHOLE for one in WAYS}
    [worst] = worst_of(safety_of(crash, in_ways(crash, **ledgers)))
    assert (worst.with_loss > 0, worst.way) == (True, way)
    sentence, reasons = on_safety(analysed(crash, in_ways(crash, **ledgers)))
    assert "lost up to 9 transactions and up to 0.10 s of commits" in sentence
    assert reasons[0].startswith(
        "by chance, the power cut was milder: it lost none in 3 cuts (at most 63% of"
    )


def test_of_ways_that_all_lost_a_verdict_has_the_worst_and_damage_outweighs_any_loss() -> None:
    crash = make_crash_plan(tunings=("safest",), ways=WAYS, cuts=2)
    more = make_ledger(900, lost=500, window_s=0.7)
    cuts = in_ways(crash, power=WORN, stop=more, kill=WORN)
    assert [one.way for one in worst_of(safety_of(crash, cuts))] == ["stop"]
    at = next(index for index, cut in enumerate(cuts) if cut.way == "kill")
    damaged = changed(cuts, {at: lambda cut: change(cut, recovery__complaints=["page 7 is torn"])})
    [worst] = worst_of(safety_of(crash, damaged))
    assert (worst.way, worst.damaged) == ("kill", 1)


def test_where_no_way_took_more_a_verdict_is_of_the_power_cut_and_says_how_many_cuts_it_rests_on() -> None:
    crash = make_crash_plan(tunings=("safest",), ways=WAYS, cuts=3)
    [worst] = worst_of(safety_of(crash, in_ways(crash, power=WHOLE, stop=WHOLE, kill=WHOLE)))
    assert (worst.way, worst.is_whole, worst.telling) == ("power", True, 3)


def test_power_cuts_of_which_none_tells_leave_the_rest_unverified() -> None:
    crash = make_crash_plan(tunings=("safest",), ways=("power", "kill"), cuts=2)
    cuts = [silent(cut) if cut.way == "power" else cut for cut in make_cuts(crash)]
    assert [one.way for one in worst_of(safety_of(crash, cuts))] == ["kill"]
    _, reasons = on_safety(analysed(crash, cuts))
    assert reasons[0] == "power-cut safety is unverified: these cuts only killed the server"


# ---------------------------------------------------------------- verdicts


def test_every_measured_cell_that_was_cut_has_its_speed() -> None:
    safety = safety_of(make_crash_plan(cuts=2), speed=True)
    assert [(one.cell.tuning, one.cell.clients) for one in safety.speeds] == [
        ("safest", 1),
        ("safest", 8),
        ("fast", 1),
        ("fast", 8),
    ]


def test_a_cell_without_a_valid_trial_keeps_its_losses_beside_an_unknown_speed() -> None:
    crash = make_crash_plan(cuts=2)
    plan = with_cuts(make_plan(storages=("ssd",)), crash)
    trials = [
        change(trial, finished=False, load=None) if "safest" in trial.cell else trial
        for trial in make_trials(plan)
    ]
    analysis = analyse(plan, make_machine(plan), trials, make_series(trials), make_cuts(crash))
    safety = analysis.safety
    assert safety
    assert [one.throughput_per_s is None for one in safety.speeds] == [True, True, False, False]
    assert on_safety(analysis)[0].startswith("lost up to ")


def test_a_run_that_was_cut_short_speaks_of_what_was_cut() -> None:
    crash = make_crash_plan(ways=("power", "kill"), cuts=5)
    cuts = [cut for cut in make_cuts(crash) if cut.way == "kill" and "safest" in cut.cell]
    analysis = analysed(crash, cuts)
    assert analysis.safety
    assert not analysis.complete
    assert [(one.cell.id, one.way) for one in worst_of(analysis.safety)] == [("mariadb/ssd/safest", "kill")]


def test_a_verdict_quotes_the_log_rather_than_the_refusal() -> None:
    gone = change(refused(make_cuts(ALONE)[0]), recovery__complaints=["corrupted page 7"])
    [answer] = safety_of(ALONE, [gone]).answers
    assert texts(answer.damage_reports) == ["corrupted page 7"]
    assert (answer.damaged, answer.damage.refused, answer.damage.complaints) == (1, 1, 1)


# ---------------------------------------------------------------- what else may stand in a run folder


def test_a_cut_that_was_not_planned_is_left_aside() -> None:
    stray = make_cut(
        ALONE, PlannedCut(id="c99", block=9, position=1, cell=ALONE.cells[0].id, way="kill", seed=1)
    )
    gone = change(make_cuts(ALONE)[0], cell="mariadb/ssd/forgotten")
    assert safety_of(ALONE, [stray, gone]).made == 0


def test_findings_that_differ_in_figures_alone_are_one() -> None:
    cuts = make_cuts(ALONE)
    cuts[1], cuts[2] = (
        unfinished(cuts[1], say("no answer after {time}", time=seconds_(10))),
        unfinished(cuts[2], say("no answer after {time}", time=seconds_(12))),
    )
    [found] = safety_of(ALONE, cuts).findings
    assert found.finding.message.text == "no answer after 10 s to 12 s"
    assert found.cuts == [cuts[1].id, cuts[2].id]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0%"),
        (0.0003, "0.03%"),
        (0.0582, "5.8%"),
        (0.0996, "10%"),
        (0.63, "63%"),
        (0.9496, "95%"),
        (0.9951, "99.5%"),
        (0.99999, "more than 99.99%"),
        (1.0, "100%"),
    ],
)
def test_shares_are_shown_with_the_digits_that_tell_something(value: float, shown: str) -> None:
    assert points(value) == shown


@pytest.mark.parametrize(
    ("seen", "shown"), [(0, "at most 14%"), (1, "0.13 to 25%"), (19, "75 to 99.9%"), (20, "at least 86%")]
)
def test_a_bound_is_not_shown_as_an_interval(seen: int, shown: str) -> None:
    assert interval(share(seen, 20)) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0 s"), (0.0002, "less than 1 ms"), (0.944, "0.94 s"), (12.3, "12 s")]
)
def test_times_before_a_cut(value: float, shown: str) -> None:
    assert seconds(value) == shown


def test_the_page_on_safety_has_the_bounds_that_are_computed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "safety.md").read_text()
    rows = re.findall(r"^\| (\d+) \| ([\d.]+%) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    assert [shown for _, shown in rows] == [points(share(0, int(n)).high) for n, _ in rows]
