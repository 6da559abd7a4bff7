"""Response times of TPC-C beside the limits of its specification."""

import pytest

from diskproof.analysis.analyse import analyse
from support.tpcc import make_inputs, make_types
from support.trials import change, make_machine, make_plan, make_trials


@pytest.mark.parametrize(("mean_us", "kept"), [(5_000.0, 5), (9_000_000.0, 1)])
def test_late_answers_do_not_keep_their_limit(mean_us: float, kept: int) -> None:
    """The stock level alone may take 20 s."""
    plan = make_plan(storages=("disk",), tunings=("safest",), clients=(8,), blocks=3)
    trials = [
        change(one, load__tpcc=make_inputs(), load__transaction_types=make_types(mean_us=mean_us))
        for one in make_trials(plan)
    ]
    (answer,) = analyse(plan, make_machine(plan), trials, {}).tpcc
    assert sum(one.kept is True for one in answer.responses) == kept
    assert len(answer.responses) == 5
