"""Conditions that a second run must keep to: what is shown, what is not, and what cannot be tested."""

from collections.abc import Callable

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.compare import compare
from diskproof.analysis.regression import Demand
from diskproof.results.load import Rate
from diskproof.results.plan import Cell
from diskproof.results.trial import Trial
from diskproof.study.condition import parse_condition
from support.cuts import make_crash_plan, make_cuts, make_ledger
from support.safety import analysed
from support.trials import change, make_machine, make_plan, make_trials, typical_rate
from support.words import compared

PLAN = make_plan(tunings=("safest",), clients=(8,))


def run(
    disk: float = 1.0, spread: float = 0.004, alter: Callable[[Trial], Trial] = lambda trial: trial
) -> Analysis:
    """Return a run whose disk has so many times the typical throughput."""

    def rate(cell: Cell) -> float:
        return typical_rate(cell) * (disk if cell.storage == "disk" else 1)

    trials = [alter(one) for one in make_trials(PLAN, rate, spread=spread, seed=round(disk * 100))]
    return analyse(PLAN, make_machine(PLAN), trials, {})


def failing(demand: Demand, second: Analysis) -> list[tuple[str | None, str]]:
    """Return the storage of each cell that fails, and why."""
    made = compare(run(), second, conditions=[demand])
    return [(one.cell and one.cell.split("/")[1], one.why) for one in made.failed]


def slower(by: float | None = None) -> Demand:
    return Demand("c", "slower" if by is None else parse_condition(f"ratio < {1 - by}"))


def must(condition: str) -> Demand:
    return Demand("c", parse_condition(condition), must_hold=True)


def test_a_slowdown_fails_only_beyond_its_tolerance() -> None:
    assert failing(slower(), run(0.9)) == [("disk", "beyond")]
    assert failing(slower(0.05), run(0.9)) == [("disk", "beyond")]
    assert failing(slower(0.15), run(0.9)) == []
    assert failing(slower(0.05), run(1.2)) == []


def test_noise_shows_no_slowdown_and_proves_no_bound() -> None:
    noisy = run(0.95, spread=0.15)
    assert failing(slower(), noisy) == []
    assert failing(must("ratio >= 0.95"), noisy)[-1:] == [("disk", "beyond")]
    assert failing(must("ratio >= 0.95"), run(1.0)) == []


def test_a_figure_of_the_second_run_is_a_threshold_as_a_study_has_it() -> None:
    fast = must("throughput >= 1,000/s")
    assert failing(fast, run()) == [("disk", "beyond")]
    assert failing(Demand("c", parse_condition("throughput < 1,000/s")), run()) == [("disk", "beyond")]
    assert failing(must("throughput of storage dram >= 1,000/s"), run()) == []
    assert failing(must("p99 <= 1 s"), run()) == []
    assert failing(must("seconds <= 1"), run()) == [
        ("dram", "not observed"),
        ("disk", "not observed"),
    ]


def test_what_cannot_be_compared_fails() -> None:
    other = run(alter=lambda trial: change(trial, data__rows=7))
    assert failing(slower(), other) == [("dram", "not comparable"), ("disk", "not comparable")]


def test_a_rate_that_was_not_held_is_not_compared() -> None:
    missed = Rate(
        asked_per_s=2_000,
        arrivals="poisson",
        achieved_per_s=1_000,
        arrived=60_000,
        waiting=30_000,
        behind_s=15,
        most_waiting=30_000,
        most_behind_s=15,
        held=False,
        start_delay_mean_us=None,
    )
    other = run(alter=lambda trial: change(trial, load__rate=missed))
    assert failing(slower(), other) == [("dram", "not comparable"), ("disk", "not comparable")]
    assert "in the second run: the rate was not held: 1,000/s of 2,000" in compared(compare(run(), other))[0]


@pytest.mark.parametrize(("lost", "why"), [(True, {"suffers more often"}), (False, set())])
def test_cuts_fail_if_they_lose_more_often(lost: bool, why: set[str]) -> None:
    crash = make_crash_plan(tunings=("fast",), cuts=20)
    kept = [change(cut, ledger=make_ledger(900)) for cut in make_cuts(crash)]
    worse = [change(cut, ledger=make_ledger(900, lost=5, window_s=0.5)) for cut in kept]
    conditions = [Demand("c", "losing-more")]
    made = compare(analysed(crash, kept), analysed(crash, worse if lost else kept), conditions=conditions)
    assert {one.why for one in made.failed} == why


def test_a_condition_on_cuts_fails_without_cuts() -> None:
    assert failing(Demand("c", "losing-more"), run()) == [(None, "no such cell")]
    assert failing(must("lost <= 0"), run()) == [(None, "no such cell")]
