"""The cuts of two runs side by side: differences that chance does not make, and what must not be compared."""

import io
from collections.abc import Sequence

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.compare import ComparisonError, compare
from diskproof.cli.screen import Screen
from diskproof.report.compose import cut_words
from diskproof.report.compose.comparison import compose
from diskproof.report.write import markdown, one_screen
from diskproof.results.cut import CutTrial
from diskproof.results.plan import Cuts
from support.cuts import make_crash_plan, make_cut, make_cuts, make_ledger, silent, with_cuts
from support.trials import change, make_plan

CRASH = make_crash_plan(tunings=("safest", "fast"), cuts=20)


def run_of(crash: Cuts, cuts: Sequence[CutTrial] | None = None) -> Analysis:
    plan = with_cuts(make_plan(), crash, speed=False)
    return analyse(plan, None, [], {}, make_cuts(crash) if cuts is None else cuts)


def losing(crash: Cuts, every: int) -> list[CutTrial]:
    """Return a campaign in which every so many cuts of a cell lose five transactions."""
    return [
        make_cut(
            crash, planned, ledger=make_ledger(900, lost=0 if planned.block % every else 5, window_s=0.1)
        )
        for planned in crash.trials
    ]


def test_a_run_against_itself_shows_no_difference() -> None:
    made = compare(run_of(CRASH), run_of(CRASH))
    assert [(one.cell.tuning, one.outcome, one.p_adjusted) for one in made.cuts] == [
        ("safest", "no difference seen", 1.0),
        ("fast", "no difference seen", 1.0),
    ]


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [(20, 1, "suffers more often"), (1, 20, "suffers less often"), (4, 5, "no difference seen")],
)
def test_a_difference_is_one_that_chance_does_not_make(before: int, after: int, outcome: str) -> None:
    made = compare(run_of(CRASH, losing(CRASH, before)), run_of(CRASH, losing(CRASH, after)))
    assert {one.outcome for one in made.cuts} == {outcome}


def damaging(cuts: Sequence[CutTrial]) -> list[CutTrial]:
    """Return the campaign with every second cut damaged."""
    return [change(cut, recovery__complaints=["page 7 is torn"]) if cut.block % 2 else cut for cut in cuts]


@pytest.mark.parametrize("losing_every", [100, 1])
def test_damage_is_a_difference_even_where_every_cut_loses(losing_every: int) -> None:
    before = losing(CRASH, losing_every)
    worse, better = (
        compare(run_of(CRASH, one), run_of(CRASH, two)).cuts
        for one, two in ((before, damaging(before)), (damaging(before), before))
    )
    assert {one.outcome for one in worse} == {"damaged more often"}
    assert {one.outcome for one in better} == {"damaged less often"}
    assert all(one.p_adjusted is not None and one.p_adjusted < 0.05 for one in [*worse, *better])


def test_a_loss_here_and_damage_there_add_up_to_a_difference() -> None:
    crash = make_crash_plan(tunings=("safest",), cuts=20)
    kept = [make_cut(crash, planned, ledger=make_ledger(900)) for planned in crash.trials]
    worse = [
        *(change(cut, recovery__complaints=["page 7 is torn"]) for cut in kept[:4]),
        *(change(cut, ledger=make_ledger(900, lost=5, window_s=0.1)) for cut in kept[4:8]),
        *kept[8:],
    ]
    [found] = compare(run_of(crash, kept), run_of(crash, worse)).cuts
    assert (found.outcome, found.b.with_loss, found.b.damaged) == ("suffers more often", 4, 4)


def of_cells(**changes: object) -> Cuts:
    return change(CRASH, cells=[change(cell, **changes) for cell in CRASH.cells])


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (
            change(CRASH, keep="nothing"),
            "a power cut kept differ: random in the first run, nothing",
        ),
        (change(CRASH, accounts=50), "1,000 accounts in the first run, 50 accounts in the second"),
        (change(CRASH, filler_bytes=4000), "100 bytes of filler in each row in the first run, 4,000"),
        (
            change(CRASH, cut_before_s=9.0),
            "cuts fell 0.5 s to 2 s after the first answer in the first run, 0.5 s to 9 s",
        ),
        (change(CRASH, cut_after_s=0.05), "in the first run, 0.05 s to 2 s in the second"),
        (
            change(CRASH, cells=[change(one, clients=1) for one in CRASH.cells]),
            "8 clients in the first run, 1 client",
        ),
        (
            change(CRASH, cells=[change(one, memory_bytes=1) for one in CRASH.cells]),
            "memory is 128 MiB in the first run, 1 B",
        ),
    ],
)
def test_other_cuts_are_not_compared(other: Cuts, why: str) -> None:
    made = compare(run_of(CRASH), run_of(other))
    assert {(one.outcome, one.p_adjusted) for one in made.cuts} == {("not comparable", None)}
    assert all(why in cut_words.comparison(one) for one in made.cuts)


def test_a_kill_does_not_ask_what_a_power_cut_keeps() -> None:
    crash = make_crash_plan(ways=("kill",), cuts=3)
    made = compare(run_of(crash), run_of(change(crash, keep="all")))
    assert {one.outcome for one in made.cuts} == {"no difference seen"}


def test_without_a_telling_cut_there_is_nothing_to_compare() -> None:
    made = compare(run_of(CRASH), run_of(CRASH, [silent(cut) for cut in make_cuts(CRASH)]))
    assert all("no cut of the second run proves anything" in cut_words.comparison(one) for one in made.cuts)


def test_runs_of_other_cells_are_refused_by_name() -> None:
    with pytest.raises(ComparisonError, match=r"mariadb/ssd/safest.*mariadb/other/safest"):
        compare(run_of(CRASH), run_of(make_crash_plan(storages=("other",), cuts=2)))


def test_the_comparison_is_shown_in_words_and_as_a_table() -> None:
    made = compare(run_of(CRASH, losing(CRASH, 20)), run_of(CRASH, losing(CRASH, 1)))
    file = io.StringIO()
    one_screen.write(compose(made), Screen(file=file, width=80))
    [row] = [line for line in file.getvalue().splitlines() if "/fast" in line]
    assert row.split() == "mariadb/ssd/fast power suffers more often 20 of 20 1 of 20".split()  # noqa: SIM905
    line = "| mariadb/ssd/fast | power | suffers more often | 20 of 20 | 1 of 20 | 0 | 0 | 5 | 5 |"
    assert line in markdown.write(compose(made))


def test_a_barred_comparison_says_why_below_its_table() -> None:
    said = markdown.write(compose(compare(run_of(CRASH), run_of(change(CRASH, keep="all")))))
    assert "\n- mariadb/ssd/fast, to the power cut: the writes that a power cut kept differ" in said
