"""Answers of a run over many machines: each cell is judged by its own, and two machines are not paired."""

from typing import Any

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.evidence import Side
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.cpu_time import taken_share
from diskproof.analysis.limits.observed import observe
from diskproof.analysis.so_far import look, pairs
from diskproof.stats.intervals import independent_ratio, paired_ratio
from support.intervals import given
from support.machines import comparing, make_machines, sharing
from support.trials import change, make_plan, make_trials, usage_of

LARGE: dict[str, Any] = {"cpus": 32, "host_cpus": 32}
ONE_QUESTION: dict[str, Any] = {"tunings": ("safest",), "clients": (8,)}


def test_a_cell_is_judged_by_its_own_machine() -> None:
    plan = comparing(make_plan(storages=("disk",), **ONE_QUESTION))
    on_a, on_b = plan.cells
    gathered = Gathered(plan, make_machines(plan, b=LARGE), make_trials(plan), {})
    sides = {cell.host: Side.of(gathered, cell) for cell in plan.cells}
    assert {host: (side.cpus, side.counted_cpus) for host, side in sides.items()} == {
        "a": (2, 2),
        "b": (32, 32),
    }
    busy = {host: side.machine_share or 0.0 for host, side in sides.items()}
    assert busy["a"] / busy["b"] == pytest.approx(16, rel=0.1)
    assert taken_share(sides["a"].trials) > 10 * taken_share(sides["b"].trials) > 0
    counts = []
    for cell in (on_a, on_b):
        seen = observe(gathered, cell)
        assert seen is not None
        counts.append(seen.cpu.count)
    assert counts == [2, 32]


def test_a_trial_is_judged_by_its_own_machine() -> None:
    plan = sharing(make_plan(storages=("disk",), blocks=6, **ONE_QUESTION))
    trials = [
        change(one, usage__host_cpu_busy_s=(16 if one.block % 2 else 256) * usage_of(one).seconds / 10)
        for one in make_trials(plan)
    ]
    gathered = Gathered(plan, make_machines(plan, b=LARGE), trials, {})
    (cell,) = plan.cells
    assert Side.of(gathered, cell).machine_share == pytest.approx(0.8)


def test_machines_are_not_paired_by_block_but_what_ran_on_one_is() -> None:
    plan = comparing(make_plan(blocks=6, **ONE_QUESTION))
    analysis = analyse(plan, make_machines(plan), make_trials(plan), {})
    speeds = {one.cell.id: [*one.block_speeds.values()] for one in analysis.cells}
    assert {one.factor for one in analysis.verdicts} == {"host", "storage"}
    for one in analysis.verdicts:
        ratio = independent_ratio if one.factor == "host" else paired_ratio
        assert given(one.ratio) == ratio(speeds[one.cell], speeds[one.baseline_cell]).interval


def test_two_machines_are_not_paired_while_a_run_grows_either() -> None:
    plan = comparing(make_plan(**ONE_QUESTION))
    machines, trials = make_machines(plan), make_trials(plan)
    analysis = analyse(plan, machines, trials, {})
    found = pairs(plan, [look(one, plan, machines) for one in trials])
    assert [one.ratio for one in found] == [one.ratio for one in analysis.verdicts]
