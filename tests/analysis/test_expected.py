"""What a plan will come to by an earlier run: held against the formulas of its blocks."""

import pytest

from diskproof.analysis.expected import expect
from diskproof.analysis.gather import Gathered
from diskproof.results.plan import Plan
from diskproof.stats.intervals import paired_ratio
from diskproof.stats.sequential import blocks_for_precision, blocks_needed_at_any_time
from support.trials import change, make_machine, make_plan, make_trials

SPEEDS = {"dram": 400.0, "disk": 460.0}


def plan_of(blocks: int = 8) -> Plan:
    return make_plan(tunings=("safest",), clients=(8,), blocks=blocks)


def earlier() -> Gathered:
    plan = plan_of()
    trials = make_trials(plan, lambda cell: SPEEDS[cell.storage], spread=0.06, seed=4)
    return Gathered(plan, make_machine(), trials, {})


def test_a_fixed_plan_is_as_precise_as_its_blocks_allow() -> None:
    made, run = expect(plan_of(), earlier()), earlier()
    first, second = run.plan.cells
    interval = paired_ratio(list(run.speeds(second).values()), list(run.speeds(first).values())).interval
    assert made is not None and made.precision == pytest.approx(interval.uncertainty, rel=0.02)
    more = expect(plan_of(32), run)
    assert more is not None and more.precision < 0.55 * made.precision
    assert more.seconds == pytest.approx(4 * made.seconds)
    assert (made.pairs, made.hopeless) == (1, 0)


def test_a_run_until_decided_takes_the_blocks_that_decide_it() -> None:
    run = earlier()
    first, second = run.plan.cells
    test = run.ratio(run.speeds(second), run.speeds(first))
    assert test is not None and test.log_deviation is not None
    decided = blocks_needed_at_any_time(test.interval.estimate, test.log_deviation, 0.03, 1)
    precise = blocks_for_precision(test.log_deviation, 0.02)
    assert decided is not None and precise is not None
    a_block = expect(plan_of(1), run)
    assert a_block is not None
    until = expect(change(plan_of(2), at_most_s=1200.0), run)
    assert until is not None and until.seconds == pytest.approx(decided * a_block.seconds, rel=0.15)
    exact = expect(change(plan_of(2), at_most_s=1200.0, precision=0.02), run)
    assert exact is not None and exact.seconds == pytest.approx(precise * a_block.seconds, rel=0.15)
    never = expect(change(plan_of(2), at_most_s=1200.0, precision=0.0001), run)
    assert never is not None and never.hopeless == 1


def test_other_cells_say_nothing() -> None:
    other = make_plan(servers=("postgresql",), tunings=("safest",))
    assert expect(other, earlier()) is None
