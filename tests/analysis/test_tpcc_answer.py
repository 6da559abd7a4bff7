"""What trials of TPC-C say of response times."""

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.results.load import TransactionType
from diskproof.results.tpcc import DEFERRED, Deferred
from support.tpcc import make_inputs, make_types
from support.trials import change, make_latency, make_machine, make_plan, make_series, make_trials


def answered(deferred: Deferred) -> Analysis:
    """Return the analysis of trials whose deliveries took 1 ms each, once they were begun."""
    plan = make_plan(storages=("disk",), tunings=("safest",), clients=(20,))
    inputs = make_inputs(think_times=True).model_copy(update={"deferred": deferred})
    one = TransactionType(name=DEFERRED, count=deferred.done, latency_us=make_latency(1_000.0, deferred.done))
    trials = [
        change(trial, load__tpcc=inputs, load__transaction_types=[*make_types(orders=2), one])
        for trial in make_trials(plan)
    ]
    return analyse(plan, make_machine(plan), trials, make_series(trials))


@pytest.mark.parametrize(("in_time", "kept"), [(89, False), (90, True)])
def test_a_deferred_delivery_counts_from_its_queuing(in_time: int, kept: bool) -> None:
    analysis = answered(Deferred(queued=120, done=100, done_in_time=in_time, longest_s=95.0))
    found = {one.name: one for one in analysis.tpcc[0].responses}
    deferred = found["deferred_delivery"]
    assert (deferred.count, deferred.p90_us, deferred.limit_s, deferred.kept) == (500, None, 80.0, kept)
    assert found["new_order"].kept
