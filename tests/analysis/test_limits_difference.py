"""The difference between two cells, in parts of a transaction's time."""

import pytest

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.difference import difference_of
from diskproof.analysis.limits.records import Difference
from diskproof.results.factor import Factor
from diskproof.results.trial import Trial
from support.limited import MAKERS, SECONDS, virtual_machine
from support.trials import change, make_plan


def made_of(blocks: int = 3, factor: Factor = "storage") -> Difference | None:
    """Return the difference of a cell that waits for its log and one that computes."""
    plan = make_plan(
        storages=("ssd", "disk"), tunings=("safest",), clients=(1,), blocks=blocks, measure_s=SECONDS
    )
    baseline, cell = plan.cells

    def trial(number: int) -> Trial:
        planned = plan.trials[number]
        made = MAKERS["log flush" if planned.cell == cell.id else "CPU"](plan, number)
        return change(made, id=planned.id, cell=planned.cell, block=planned.block)

    trials = [trial(number) for number in range(len(plan.trials))]
    return difference_of(Gathered(plan, virtual_machine(plan), trials, {}), factor, cell, baseline)


def test_the_parts_explain_what_takes_longer_block_by_block() -> None:
    found = made_of()
    assert found is not None
    assert found.whole_us.n == 3
    assert found.whole_us.estimate > 0
    of_parts = sum(part.estimate for part in found.parts.values()) + found.unexplained_us.estimate
    assert of_parts == pytest.approx(found.whole_us.estimate)
    assert max(found.parts, key=lambda name: found.parts[name].estimate) == "log flush"


def test_one_block_has_no_interval_and_other_transactions_no_difference() -> None:
    assert made_of(blocks=1) is None
    assert made_of(factor="workload") is None
    assert made_of(factor="clients") is None
