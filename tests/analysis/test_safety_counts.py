"""What the cuts took: counted by hand, over those that tell something."""

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.safety.analyse import answer_safety
from diskproof.analysis.thresholds import failed_controls
from diskproof.report.compose.cut_words import causes, counterexample, loss, outcome
from diskproof.results.crash import Way
from diskproof.results.cut import CutTrial, StateSeen, StatesSeen
from diskproof.results.trial import Setting
from support.cuts import (
    changed,
    make_crash_plan,
    make_cut,
    make_ledger,
    refused,
    silent,
    unfinished,
    unreadable,
    with_cuts,
)
from support.safety import ALONE, WAYS, analysed, lossy, only
from support.trials import change, make_machine, make_plan, make_trials
from support.words import on_safety, texts


def test_without_cuts_nothing_is_said() -> None:
    plan = make_plan()
    assert analyse(plan, make_machine(plan), make_trials(plan), {}).safety is None
    assert failed_controls(analyse(plan, make_machine(plan), make_trials(plan), {})) == []


def test_losses_are_counted_over_all_telling_cuts() -> None:
    answer = only(ALONE, lossy(0, 0, 0, 4, 10, 0, 0, 0, 0, 100))
    assert (answer.made, answer.telling, answer.with_loss) == (10, 10, 3)
    assert answer.lost
    assert (answer.lost.median, answer.lost.worst) == (0, 100)
    assert answer.commits_per_s and answer.commits_per_s.estimate == pytest.approx(1000 / 1.4)
    assert answer.window_s
    assert (answer.window_s.median, answer.window_s.worst) == (0, 0.5)
    assert answer.loss_share
    assert (answer.loss_share.seen, answer.loss_share.n) == (3, 10)
    assert (round(answer.loss_share.low, 3), round(answer.loss_share.high, 3)) == (0.067, 0.652)
    assert answer.most_lost == 100


def test_in_slow_time_commits_are_counted_by_the_seconds_of_the_trial() -> None:
    plan = change(with_cuts(make_plan(storages=("disk",)), ALONE), dilation=4)
    safety = answer_safety(plan, lossy(*[0] * 10), [])
    assert safety
    [answer] = safety.answers
    assert answer.commits_per_s and answer.commits_per_s.estimate == pytest.approx(4 * 1000 / 1.4)


def test_cuts_that_prove_nothing_are_counted_apart_with_their_reasons() -> None:
    cuts = changed(lossy(*[7] * 6), {0: silent, 1: silent, 2: unfinished})
    cuts[3] = change(
        cuts[3], settings=[Setting(name="sync_binlog", requested="1", observed="0", holds=False)]
    )
    answer = only(ALONE, cuts)
    assert (answer.planned, answer.made, answer.telling, answer.with_loss) == (10, 6, 2, 2)
    assert [(one.why.text, one.cuts) for one in answer.silent] == [
        ("no transaction was acknowledged in the last second", 2),
        ("`sync_binlog` did not hold", 1),
    ]
    assert causes(answer.unfinished) == "the disk did not answer: timed out after 10 s (1)"


def test_a_campaign_without_a_telling_cut_has_no_figure() -> None:
    answer = only(ALONE, [silent(cut) for cut in lossy(3, 4)])
    assert (answer.loss_share, answer.lost, answer.window_s) == (None,) * 3
    assert not answer.is_whole
    analysis = analysed(ALONE, [silent(cut) for cut in lossy(3, 4)])
    assert analysis.safety
    assert on_safety(analysis)[0] == "has 2 cuts that prove nothing"


def test_a_database_that_is_no_more_has_lost_all_that_it_acknowledged() -> None:
    cuts = changed(lossy(0, 0), {0: lambda cut: change(refused(cut), acknowledged=321)})
    answer = only(ALONE, cuts)
    assert (answer.with_loss, answer.damaged, answer.damage.refused) == (1, 1, 1)
    assert answer.lost and answer.lost.worst == 321
    assert answer.window_s
    assert answer.window_s.n == 1  # all that it ever held is gone: that is no window


def test_a_ledger_that_cannot_be_read_has_lost_all_that_it_acknowledged() -> None:
    cuts = changed(lossy(0, 0), {0: lambda cut: change(unreadable(cut), acknowledged=321)})
    answer = only(ALONE, cuts)
    assert (answer.with_loss, answer.gone, answer.damaged, answer.damage.refused) == (1, 1, 1, 0)
    assert answer.lost and answer.lost.worst == 321
    assert outcome(answer) == "lost the whole database in 1 of 2 cuts"


def test_what_broke_off_after_its_recovery_has_lost_nothing_that_is_known() -> None:
    [cut] = lossy(5)
    broken_off = change(refused(cut), finished=False)
    assert (broken_off.lost, broken_off.has_loss, broken_off.is_gone) == (None, False, False)


def one_of(lost: int, window_s: float) -> CutTrial:
    [cut] = lossy(lost, window_s=window_s)
    return cut


def test_the_worst_amount_and_the_worst_window_may_be_of_different_cuts() -> None:
    two = [one_of(968, 0.2), one_of(30, 0.94), one_of(0, 0.0)]
    assert outcome(only(ALONE, two)) == (
        "lost up to 968 transactions and up to 0.94 s of commits (2 of 3 cuts)"
    )


def test_a_lost_database_is_told_first_and_apart_from_what_others_lost() -> None:
    cuts = [change(refused(one_of(0, 0.0)), acknowledged=968), one_of(30, 0.2), one_of(12, 0.1)]
    answer = only(ALONE, cuts)
    assert answer.lost
    assert answer.lost.worst == 968
    assert loss(answer) == (
        "lost the whole database in 1 of 3 cuts, and in others up to 30 transactions and up to 0.20 s of "
        "commits"
    )
    assert loss(only(ALONE, cuts[:1])) == "lost the whole database in 1 of 1 cut"


def test_where_nothing_acknowledged_survived_the_window_is_the_load_and_no_more_than_a_lower_bound() -> None:
    all_lost = make_ledger(112, lost=112, window_s=1.7)
    gone = [change(cut, ledger=change(all_lost, last_kept_before_s=None)) for cut in lossy(0)]
    answer = only(ALONE, [*gone, one_of(30, 0.2)])
    assert answer.open_windows == 1
    assert loss(answer) == (
        "lost at least 112 transactions and 1.7 s of commits "
        "(2 of 2 cuts; in 1 of them all that was acknowledged)"
    )
    assert only(ALONE, lossy(0, 9)).open_windows == 0


def test_the_worst_cut_is_a_lost_database_then_a_damaged_one_then_the_largest_loss() -> None:
    cuts = [change(one_of(500, 0.5), id="much"), change(one_of(3, 0.1), id="torn")]
    cuts[1] = change(cuts[1], ledger__half_applied=1, evidence="cuts/torn")
    answer = only(ALONE, cuts)
    assert answer.gravest
    assert (answer.gravest.id, answer.gravest.evidence) == ("torn", "cuts/torn")
    assert "the worst cut is torn; its evidence is in cuts/torn" in on_safety(analysed(ALONE, cuts))[1]
    lost_whole = change(refused(one_of(0, 0.0)), id="whole", acknowledged=2)
    worst = only(ALONE, [*cuts, lost_whole]).gravest
    assert worst
    assert worst.id == "whole"
    assert only(ALONE, lossy(0, 0)).gravest is None


# ---------------------------------------------------------------- something at risk


def idle(cut: CutTrial, **disk: int) -> CutTrial:
    """Return the cut as one of disks that held nothing, but for what is said."""
    nothing = {"under_way": 0, "at_risk_writes": 0} | disk
    return change(cut, disks=[change(one, **nothing) for one in cut.disks], unflushed_acknowledgements=0)


@pytest.mark.parametrize("way", WAYS)
def test_cuts_with_something_at_risk_are_counted_where_disks_tell(way: Way) -> None:
    crash = make_crash_plan(tunings=("safest",), ways=(way,), cuts=4)
    cuts = [make_cut(crash, planned, ledger=make_ledger(900)) for planned in crash.trials]
    cuts[0], cuts[1], cuts[2] = idle(cuts[0]), idle(cuts[1], under_way=1), idle(cuts[2], at_risk_writes=9)
    # Eight clients may each have been told of the last flush: nine commits are more than that.
    cuts[0] = change(cuts[0], unflushed_acknowledgements=8)
    cuts[3] = change(idle(cuts[3]), unflushed_acknowledgements=9)
    answer = only(crash, cuts)
    # A request under way that is no write is no risk, nor is a disk's cache where the operating system stops.
    assert answer.at_risk == {"power": 2, "stop": 1, "kill": None}[way]
    assert answer.telling == 4


def test_what_was_taken_was_at_risk_though_no_disk_knew_of_it() -> None:
    assert only(ALONE, [idle(cut) for cut in lossy(0, 5)]).at_risk == 1


def test_damage_is_told_beside_a_lost_database_where_it_is_more_than_that() -> None:
    cuts = changed(lossy(0, 0, 0), {0: refused, 1: lambda cut: change(cut, ledger__duplicated=1)})
    assert outcome(only(ALONE, cuts)) == (
        "lost the whole database in 1 of 3 cuts and was damaged in 2 of 3 cuts "
        "(no database came back: 1; transactions were there twice: 1)"
    )


def test_a_window_that_is_too_short_to_be_told_has_no_up_to() -> None:
    said = loss(only(ALONE, lossy(6, window_s=0.0004)))
    assert said == "lost up to 6 transactions and less than 1 ms of commits (1 of 1 cut)"


def test_a_bound_of_cuts_that_could_take_nothing_says_so() -> None:
    assert outcome(only(ALONE, [idle(cut) for cut in lossy(0, 0)])) == (
        "lost none in 2 cuts (at most 78% of cuts, one-sided 95% bound; "
        "in none was anything known to be at risk)"
    )


SEEN = StatesSeen(moments=6, checked=20, equal=1, all_of_them=True)
FOUND = StateSeen(at_us=5, arrived=3, risk=[2], lost=[])


@pytest.mark.parametrize(
    ("logs", "said"),
    [
        ([SEEN, SEEN], "kept everything in 40 states, which are all"),
        ([change(SEEN, counterexample=FOUND)], "in the last of 20 states tried (before 6 flushes"),
        ([SEEN, change(SEEN, counterexample=FOUND)], "in 1 of 2 runs, after 40 states tried (before 12"),
    ],
)
def test_states_say_where_harm_was_found_only_as_far_as_that_is_known(
    logs: list[StatesSeen], said: str
) -> None:
    cuts = [
        change(cut, states=log)
        for log, cut in zip(logs, lossy(*(9 if log.counterexample else 0 for log in logs)), strict=True)
    ]
    assert said in outcome(only(ALONE, cuts))


def test_a_counterexample_with_every_write_does_not_say_what_was_lost() -> None:
    """It may be damaged instead."""
    said = counterexample(change(SEEN, counterexample=FOUND))
    assert said == "the smallest counterexample lacks no write that had reached the disk"


@pytest.mark.parametrize(
    ("field", "worse"),
    [
        ("complaints", {"recovery__complaints": ["page 7 is torn"]}),
        ("damaged_tables", {"recovery__damaged_tables": ["ledger_accounts: index is corrupt"]}),
        ("half_applied", {"ledger__half_applied": 1}),
        ("half_applied", {"ledger__invariant_off_by": -5}),
        ("duplicated", {"ledger__duplicated": 2}),
        ("never_sent", {"ledger__never_sent": 1}),
    ],
)
def test_every_kind_of_damage_is_counted_and_is_no_loss(field: str, worse: dict[str, object]) -> None:
    answer = only(ALONE, changed(lossy(0, 0, 0), {1: lambda cut: change(cut, **worse)}))
    assert (answer.damaged, answer.with_loss) == (1, 0)
    assert getattr(answer.damage, field) == 1
    assert texts(answer.damage_reports) == [
        line for lines in worse.values() if isinstance(lines, list) for line in lines
    ]
    assert sum(answer.damage.model_dump().values()) == 1
    assert not answer.is_whole


def test_the_binary_log_is_held_against_the_tables() -> None:
    cuts = changed(
        lossy(0, 0, 0),
        {
            0: lambda cut: change(cut, recovery__binlog_only=5),
            1: lambda cut: change(cut, recovery__engine_only=2),
            2: lambda cut: change(cut, recovery__binlog_only=None, recovery__engine_only=None),
        },
    )
    binlog = only(ALONE, cuts).binlog
    assert binlog
    assert (binlog.asked, binlog.cuts_binlog_only, binlog.worst_binlog_only) == (2, 1, 5)
    assert (binlog.cuts_engine_only, binlog.worst_engine_only) == (1, 2)
