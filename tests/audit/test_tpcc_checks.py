"""Checks that a run was TPC-C: a sound one passes, and each fault is found by its own check."""

from typing import Any

import pytest

from support.audited import audit
from support.tpcc import make_checked, make_inputs, make_types
from support.tpcc_inputs import UNLIKELY, Drawn, distributions, smallest_p, wrong_shares

CHECKS = {"tpcc-consistency"}


def found(inputs: Drawn, **changes: Any) -> dict[str, str]:
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
