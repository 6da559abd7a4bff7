"""Cuts that are too few to say which setting is harmed more often."""

from diskproof.analysis.safety.ranking import unranked
from diskproof.stats.proportions import trials_to_tell_apart
from support.cuts import make_crash_plan, make_cut, make_ledger
from support.safety import safety_of


def pairs(losses: dict[str, int], cuts: int = 15) -> list[tuple[int, int, int | None]]:
    """Return the pairs that are not ranked if so many cuts of each level lost something."""
    crash = make_crash_plan(tunings=tuple(losses), cuts=cuts)
    left = dict(losses)
    made = []
    for planned in crash.trials:
        tuning = crash.cell(planned.cell).tuning
        left[tuning] -= 1
        made.append(make_cut(crash, planned, ledger=make_ledger(900, lost=3 if left[tuning] >= 0 else 0)))
    return [(one.a.harmed, one.b.harmed, one.cuts_needed) for one in unranked(safety_of(crash, made).answers)]


def test_one_loss_in_fifteen_is_not_fewer_than_two() -> None:
    [(few, more, needed)] = pairs({"safest": 1, "fast": 2})
    assert (few, more) == (1, 2)
    assert needed == trials_to_tell_apart(1 / 15, 2 / 15) == 314


def test_none_in_fifteen_is_fewer_than_all() -> None:
    assert pairs({"safest": 0, "fast": 15}) == []


def test_settings_without_any_loss_need_no_order() -> None:
    assert pairs({"safest": 0, "fast": 0}) == []


def test_equal_shares_ask_for_no_number_of_cuts() -> None:
    assert pairs({"safest": 15, "fast": 15}) == [(15, 15, None)]


def test_a_larger_difference_needs_fewer_trials() -> None:
    assert trials_to_tell_apart(0.5, 0.5) is None
    # (1.9600 + 0.8416)^2 (0.24 + 0.21) / 0.01 = 353.2
    assert trials_to_tell_apart(0.6, 0.7) == 354
    assert trials_to_tell_apart(0.7, 0.6) == 354
