"""Advice: the cheapest that meets a target, and what follows from the others."""

import math

import pytest

from diskproof.analysis.advised.advise import advise, durable_cells
from diskproof.analysis.advised.chance import probability
from diskproof.analysis.advised.records import Advice, Configuration, Target
from diskproof.analysis.gather import Gathered
from diskproof.analysis.other_disk.records import Predicted
from diskproof.results.limit import Limit
from diskproof.stats.intervals import Interval
from diskproof.wording import say
from support.limited import MAKERS, one_cell, virtual_machine
from support.trials import change, make_plan

CELLS = {cell.tuning: cell for cell in make_plan(storages=("disk",), clients=(8,)).cells}
DURABLE = {CELLS["safest"].id: True, CELLS["fast"].id: False}


def configuration(name: str, a_month: float) -> Configuration:
    return Configuration(name=name, device=name, card=name, currency="USD", a_month=a_month, source="chosen")


SOLD = [configuration("dear", 100.0), configuration("cheap", 10.0), configuration("middling", 30.0)]


def predicted(
    device: str, per_s: float | None, tuning: str = "safest", limit: Limit = "log flush"
) -> Predicted:
    interval = None
    if per_s is not None:
        interval = Interval(estimate=per_s, low=per_s / 1.2, high=per_s * 1.2, n=1, confidence=0.9)
    return Predicted(
        device=device,
        cell=CELLS[tuning],
        recorded={"disk": 100.0},
        per_s=interval,
        mean_us=None if per_s is None else 8e6 / per_s,
        p95_us=None if per_s is None else 16e6 / per_s,
        limit=limit,
    )


SAFE = [predicted("cheap", 500.0), predicted("middling", 1000.0), predicted("dear", 2000.0)]


def advice(target: Target, found: list[Predicted], *, durable_only: bool = False) -> Advice:
    return advise(target, SOLD, found, DURABLE, durable_only=durable_only)


def test_the_cheapest_that_meets_the_target_is_chosen() -> None:
    made = advice(Target(per_s=800.0), SAFE)
    assert [one.configuration.name for one in made.candidates] == ["cheap", "middling", "dear"]
    assert made.chosen is not None
    assert made.chosen.configuration.name == "middling"
    assert made.step_up is not None
    assert made.step_up.configuration.name == "dear"


def test_near_the_target_the_next_one_is_chosen() -> None:
    """A prediction that just reaches it is right in half of the cases."""
    made = advice(Target(per_s=1000.0), SAFE)
    assert made.candidates[1].probability == pytest.approx(0.5)
    assert made.chosen is not None
    assert made.chosen.configuration.name == "dear"


def test_the_interval_holds_its_share() -> None:
    low = Target(per_s=500.0 / 1.2)
    assert probability(low, SAFE[0]) == pytest.approx(0.95, abs=0.001)


def test_all_parts_of_a_target_must_hold() -> None:
    both = Target(per_s=300.0, p95_us=16e6 / 500.0)
    assert probability(both, SAFE[0]) == pytest.approx(0.5)


def test_a_target_beyond_everything_has_no_choice() -> None:
    made = advice(Target(per_s=1e5), [*SAFE, predicted("ram", 3000.0)])
    assert made.chosen is None
    assert made.most_per_s == 3000.0


def test_what_cannot_be_predicted_is_never_chosen() -> None:
    made = advice(Target(per_s=1.0), [predicted("cheap", None), SAFE[1]])
    assert made.chosen is not None
    assert made.chosen.configuration.name == "middling"
    assert math.isclose(made.chosen.probability or 0, 1.0)


def test_only_durable_settings_count_if_that_is_asked() -> None:
    fast = [predicted(one.device, 900.0, "fast") for one in SAFE]
    made = advice(Target(per_s=700.0), [*SAFE, *fast])
    assert made.chosen is not None
    assert (made.chosen.configuration.name, made.chosen.durable) == ("cheap", False)
    only = advice(Target(per_s=700.0), [*SAFE, *fast], durable_only=True)
    assert only.chosen is not None
    assert (only.chosen.configuration.name, only.chosen.durable) == ("middling", True)


@pytest.mark.parametrize(("per_s", "cheaper"), [(950.0, "middling"), (450.0, "cheap"), (700.0, None)])
def test_a_cheaper_disk_that_may_do_is_named_too(per_s: float, cheaper: str | None) -> None:
    made = advice(Target(per_s=per_s), SAFE)
    assert (made.cheaper and made.cheaper.configuration.name) == cheaper


def test_nothing_is_cheaper_than_the_cheapest() -> None:
    assert advice(Target(per_s=100.0), SAFE).cheaper is None


def test_data_that_the_machine_takes_with_it_are_not_durable() -> None:
    sold = [one.model_copy(update={"outlives_machine": one.name != "cheap"}) for one in SOLD]
    target = Target(per_s=300.0)
    made = advise(target, sold, SAFE, DURABLE, durable_only=False)
    assert made.chosen is not None
    assert (made.chosen.configuration.name, made.chosen.durable) == ("cheap", False)
    only = advise(target, sold, SAFE, DURABLE, durable_only=True)
    assert only.chosen is not None
    assert only.chosen.configuration.name == "middling"


def test_money_buys_nothing_where_the_cpus_decide() -> None:
    same = [predicted(one.device, 2000.0, limit="CPU") for one in SAFE]
    made = advice(Target(per_s=800.0), same)
    assert made.step_up is None
    assert made.held_back_by == "CPU"


def test_a_step_up_is_dearer() -> None:
    """A cheaper disk may do more transactions and miss the target all the same."""
    slow_at_times = predicted("cheap", 3000.0).model_copy(update={"p95_us": 1e6})
    made = advice(Target(p95_us=25_000.0), [slow_at_times, predicted("middling", 1000.0)])
    assert made.chosen is not None
    assert made.chosen.configuration.name == "middling"
    assert made.step_up is None


def test_if_none_is_sure_the_cheapest_likely_one_is_the_nearest() -> None:
    found = [predicted("cheap", 500.0), predicted("middling", 850.0), predicted("dear", 870.0)]
    made = advice(Target(per_s=800.0), found)
    assert made.chosen is None
    assert made.nearest is not None
    assert made.nearest.configuration.name == "middling"


def test_a_missing_prediction_has_its_reason_in_the_notes() -> None:
    missing = predicted("cheap", None).model_copy(update={"missing": say("it is too slow")})
    (note,) = advice(Target(per_s=800.0), [missing, SAFE[2]]).notes
    assert note.text == "nothing is predicted for 1 disk: it is too slow"


@pytest.mark.parametrize(("engine", "durable"), [("InnoDB", True), ("MyISAM", False)])
def test_tables_without_commits_are_not_durable(engine: str, durable: bool) -> None:
    plan = one_cell()
    both = {"data__engine": engine, "data__declared_engine": engine}
    trials = [change(MAKERS["log flush"](plan, number), **both) for number in range(len(plan.trials))]
    assert list(durable_cells(Gathered(plan, virtual_machine(plan), trials, {})).values()) == [durable]


@pytest.mark.parametrize(("per_s", "target", "chosen"), [(263.0, 300.0, "dear"), (330.0, 300.0, "cheap")])
def test_a_disk_is_judged_by_what_was_measured_on_it(per_s: float, target: float, chosen: str) -> None:
    """One trial has no interval; its figure is judged all the same."""
    measured = predicted("cheap", per_s).model_copy(
        update={
            "measured": True,
            "per_s": Interval(estimate=per_s, low=None, high=None, n=1),
            "p95_us": 16e6 / per_s,
        }
    )
    made = advice(Target(per_s=target), [measured, predicted("dear", 600.0)])
    assert made.chosen is not None
    assert made.chosen.configuration.name == chosen
