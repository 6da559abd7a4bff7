"""Checks that a run was TPC-C: a sound one passes, and each fault is found by its own check."""

from typing import Any

import numpy as np
import pytest

from diskproof.audit.tpcc import too_short
from diskproof.results.plan import Phases
from diskproof.results.tpcc import Inputs
from support.audited import audit
from support.tpcc import make_checked, make_inputs, make_types
from support.tpcc_inputs import UNLIKELY, distributions, smallest_p, wrong_shares

CHECKS = {"tpcc-consistency", "tpcc-mix", "tpcc-response", "tpcc-rate"}


def found(inputs: Inputs, **changes: Any) -> dict[str, str]:
    """Return what the checks of TPC-C say, by their names."""
    given = {
        "load__tpcc": inputs,
        "load__transaction_types": make_types(),
        "tables": make_checked(),
        **changes,
    }
    findings = audit(given)
    return {name: finding.message.text for name, finding in findings.items() if name in CHECKS}


@pytest.mark.parametrize("seed", range(20))
def test_sound_runs_raise_nothing(seed: int) -> None:
    assert found(make_inputs(seed=seed)) == {}
    assert found(make_inputs(seed=seed, warehouses=1)) == {}
    assert not wrong_shares(make_inputs(seed=seed))
    p = smallest_p(make_inputs(seed=seed))
    assert p is not None
    assert p > 1e-4


def test_broken_conditions_are_found() -> None:
    said = found(make_inputs(), tables=make_checked(broken=3))
    assert said == {
        "tpcc-consistency": "consistency condition 5 (a = b) is broken in 3 orders",
    }
    (one,) = make_checked(broken=1).complaints
    assert one.endswith("is broken in 1 order")


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"rolled_back": 0}, "new orders that roll back"),
        ({"remote_lines": 0}, "order lines from another warehouse"),
        ({"remote_payments": 0}, "payments for another warehouse"),
        ({"by_last_name": 22_000}, "customers by last name"),
        ({"items": [2_000] * 100}, "items"),
        ({"districts": [42_000, *[0] * 9]}, "districts"),
    ],
)
def test_inputs_that_are_easier_than_specified_are_found(changes: dict[str, Any], wrong: str) -> None:
    inputs = make_inputs().model_copy(update=changes)
    unlikely = [name for name, p in distributions(inputs).items() if p < UNLIKELY]
    assert [*wrong_shares(inputs), *unlikely] == [wrong]


def test_a_mix_without_the_long_transactions_is_found() -> None:
    types = [
        kind.model_copy(update={"count": 10}) if kind.name == "delivery" else kind for kind in make_types()
    ]
    assert "kind delivery" in found(make_inputs(), load__transaction_types=types)["tpcc-mix"]


def test_late_answers_are_found() -> None:
    said = found(make_inputs(), load__transaction_types=make_types(mean_us=9_000_000.0))
    assert "the 90th percentile of" in said["tpcc-response"]


def test_more_than_the_terminals_can_enter_is_no_tpmc() -> None:
    """Without think times the same figure is fine: it is not called tpmC."""
    inputs = make_inputs(think_times=True)
    assert "each; its terminals can enter 12.86 in the mean" in found(inputs)["tpcc-rate"]
    assert "tpcc-rate" not in found(inputs, load__transaction_types=make_types(orders=2))
    assert "tpcc-rate" not in found(make_inputs())


KEYING_S, THINKING_S = (18, 3, 2, 2, 2), (12, 12, 10, 5, 5)
"""Of the five kinds, in their order (clause 5.2.5.7)."""


def new_orders_in_a_minute(seed: int) -> int:
    """Return what ten terminals enter in a minute if every answer comes at once."""
    draw = np.random.default_rng(seed)
    orders = 0
    for _ in range(10):
        at_s, cards = 0.0, list[int]()
        while at_s < 160:
            cards = cards or list(draw.permutation([0] * 10 + [1] * 10 + [2, 3, 4]))
            kind = cards.pop()
            at_s += KEYING_S[kind] + draw.exponential(THINKING_S[kind])
            orders += kind == 0 and 100 <= at_s < 160
    return orders


def test_a_short_run_may_scatter_above_what_terminals_enter_in_the_mean() -> None:
    inputs = make_inputs(warehouses=1, think_times=True)
    entered = [new_orders_in_a_minute(seed) for seed in range(50)]
    assert max(entered) > 15
    for orders in {*entered}:
        said = found(inputs, load__transaction_types=make_types(orders=orders), load__seconds=60.0)
        assert "tpcc-rate" not in said, orders
    many = found(inputs, load__transaction_types=make_types(orders=40), load__seconds=60.0)
    assert "40 new orders a minute on 1 warehouse" in many["tpcc-rate"]
    long = found(inputs, load__transaction_types=make_types(orders=960), load__seconds=3600.0)
    assert "16 new orders a minute on 1 warehouse" in long["tpcc-rate"]


def test_thirty_seconds_with_think_times_are_too_short() -> None:
    findings = audit({"load__tpcc": make_inputs(think_times=True), "load__transaction_types": make_types()})
    assert "too short for TPC-C" in findings["tpcc-length"].message.text
    quick = audit({"load__tpcc": make_inputs(), "load__transaction_types": make_types()})
    assert "tpcc-length" not in quick


@pytest.mark.parametrize(
    ("warm_up_s", "measure_s", "short"), [(5, 30, True), (21, 105, False), (5, 600, True), (60, 60, True)]
)
def test_terminals_need_time_for_a_few_transactions(warm_up_s: int, measure_s: int, short: bool) -> None:
    assert bool(too_short(Phases(warm_up_s=warm_up_s, measure_s=measure_s))) == short
