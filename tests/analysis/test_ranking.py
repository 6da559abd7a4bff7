"""Cuts that are too few to say that one setting alone loses whole databases."""

from diskproof.analysis.safety.ranking import whole_losses_by_chance
from support.cuts import make_crash_plan, make_cut, refused
from support.safety import safety_of


def pairs(gone: dict[str, int], cuts: int = 15) -> list[tuple[str, str]]:
    """Return the pairs that chance may have made if so many cuts of each level took the whole database."""
    crash = make_crash_plan(tunings=tuple(gone), cuts=cuts)
    left = dict(gone)
    made = []
    for planned in crash.trials:
        tuning = crash.cell(planned.cell).tuning
        left[tuning] -= 1
        cut = make_cut(crash, planned)
        made.append(refused(cut) if left[tuning] >= 0 else cut)
    found = whole_losses_by_chance(safety_of(crash, made).answers)
    return [(one.a.cell.tuning, one.b.cell.tuning) for one in found]


def test_one_lost_database_in_fifteen_may_be_chance() -> None:
    assert pairs({"safest": 0, "fast": 1}) == [("safest", "fast")]


def test_fifteen_in_fifteen_are_no_chance() -> None:
    assert pairs({"safest": 0, "fast": 15}) == []


def test_levels_that_both_lost_databases_or_none_need_no_order() -> None:
    assert pairs({"safest": 1, "fast": 2}) == []
    assert pairs({"safest": 0, "fast": 0}) == []
