"""Two runs side by side: cell by cell, with all else that changed named."""

from collections.abc import Callable
from typing import Any

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.compare import ComparisonError, compare
from diskproof.results.records import Cell, Plan, Setting, Trial
from support.intervals import bounds
from support.trials import change, make_machine, make_plan, make_server, make_trials, typical_rate

QUESTION: dict[str, Any] = {"tunings": ("safest",), "clients": (8,)}


def run(
    plan: Plan | None = None,
    rate: Callable[[Cell], float] = typical_rate,
    *,
    seed: int = 1,
    alter: Callable[[Trial], Trial] = lambda trial: trial,
    spread: float = 0.01,
    **machine: Any,
) -> Analysis:
    plan = plan or make_plan(**QUESTION)
    trials = [alter(trial) for trial in make_trials(plan, rate, seed=seed, spread=spread)]
    return analyse(plan, make_machine(plan, **machine), trials, {})


def test_a_cell_that_became_slower_is_said_so_and_the_other_not() -> None:
    def slower_disk(cell: Cell) -> float:
        return typical_rate(cell) * (0.8 if cell.storage == "disk" else 1.0)

    made = compare(run(spread=0.004), run(rate=slower_disk, seed=2, spread=0.004))
    dram, disk = made.cells
    assert disk.outcome == "slower"
    assert disk.sentence.startswith("disk: the second run is 20% slower than the first run (0.80")
    low, high = bounds(disk.ratio)
    assert low < 0.8 < high
    assert dram.outcome == "the same"
    assert made.differences == []
    assert (made.only_a, made.only_b) == ([], [])


def test_the_same_run_twice_makes_few_false_claims() -> None:
    false_claims = sum(
        any(
            cell.outcome in {"faster", "slower"}
            for cell in compare(run(seed=seed), run(seed=seed + 1000)).cells
        )
        for seed in range(60)
    )
    # A block's own luck is shared by its cells, so two cells often err together; 5 % of 60 runs is 3.
    assert false_claims <= 8


def test_noise_is_inconclusive() -> None:
    made = compare(run(spread=0.15), run(spread=0.15, seed=5))
    assert {cell.outcome for cell in made.cells} == {"inconclusive"}
    assert "more `blocks` in both runs" in made.cells[0].reasons[0]


def test_what_else_changed_is_named() -> None:
    newer = change(make_server("mariadb"), version="11.4.5")
    second = run(
        seed=2, kernel="6.12.1", cpu_model="AMD EPYC 9R14", host_cpus=64, memory_bytes=2**33, servers=[newer]
    )
    differences = {one.fact: (one.a, one.b) for one in compare(run(), second).differences}
    assert differences == {
        "CPU": ("Intel(R) Xeon(R) Platinum 8488C", "AMD EPYC 9R14"),
        "number of CPUs": ("2", "2 of 64"),
        "memory": ("4 GiB", "8 GiB"),
        "kernel": ("6.1.0-31-amd64", "6.12.1"),
        "version of mariadb": ("MariaDB 10.11.11", "MariaDB 11.4.5"),
    }


def test_another_disk_under_the_same_name_is_named_once() -> None:
    first = run()
    assert first.machine is not None
    places = [
        change(place, device=change(place.device, model="Samsung 990")) if place.device else place
        for place in first.machine.places
    ]
    differences = compare(first, run(places=places)).differences
    assert [(one.fact, one.b) for one in differences] == [("data of disk", "ext4 on Samsung 990, 64 GiB")]


def test_a_level_that_means_something_else_now_is_named() -> None:
    def altered(trial: Trial) -> Trial:
        other = Setting(name="sync_binlog", requested="100", observed="100", holds=True, level=True)
        return change(trial, settings=[*(one for one in trial.settings if one.name != "sync_binlog"), other])

    made = compare(run(), run(alter=altered))
    assert all("`sync_binlog` was 1, then 100" in cell.reasons for cell in made.cells)


def test_unequal_data_is_not_compared() -> None:
    made = compare(run(), run(alter=lambda trial: change(trial, data__rows=7)))
    assert {cell.outcome for cell in made.cells} == {"not comparable"}
    assert made.cells[0].ratio is None
    assert "40000 rows in the first run, 7 in the second" in made.cells[0].sentence


def test_too_few_valid_trials_are_not_compared() -> None:
    made = compare(run(make_plan(blocks=1, **QUESTION)), run())
    assert {cell.outcome for cell in made.cells} == {"not comparable"}
    assert "only 1 valid trial of 1 planned in the first run; 2 are the least" in made.cells[0].sentence


def test_a_cell_that_lost_half_of_its_trials_is_not_compared() -> None:
    def spoil(trial: Trial) -> Trial:
        wrong = Setting(name="sync_binlog", requested="1", observed="0", holds=False)
        return change(trial, settings=[wrong]) if trial.block <= 3 else trial

    made = compare(run(), run(alter=spoil))
    assert "only 2 valid trials of 5 planned in the second run; 3 are the least" in made.cells[0].sentence


def test_a_gate_that_speed_decides_bars_the_cell_of_that_run() -> None:
    def saturate(trial: Trial) -> Trial:
        fast = trial.block == 2 and "/dram/" in trial.cell
        return change(trial, load__client__cpu_system_s=60.0) if fast else trial

    dram, disk = compare(run(), run(alter=saturate)).cells
    assert dram.outcome == "not comparable"
    assert "in the second run: the client was the bottleneck" in dram.sentence
    assert disk.outcome != "not comparable"


def test_cells_of_one_run_only_are_listed() -> None:
    made = compare(run(), run(make_plan(storages=("disk", "nvme"), **QUESTION)))
    assert [cell.cell.storage for cell in made.cells] == ["disk"]
    assert made.only_a == ["mariadb/dram/safest/complex/128MiB/8c"]
    assert made.only_b == ["mariadb/nvme/safest/complex/128MiB/8c"]


def test_runs_without_a_common_cell_are_refused_with_what_they_have() -> None:
    with pytest.raises(ComparisonError, match="no cell in common: the first has mariadb/dram/"):
        compare(run(), run(make_plan(storages=("nvme",), **QUESTION)))
