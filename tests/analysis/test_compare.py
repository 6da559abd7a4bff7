"""Two runs side by side: cell by cell, with all else that changed named."""

from collections.abc import Callable
from typing import Any

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.compare import ComparisonError, compare
from diskproof.results.load import FileRequests, Iterations, Operation
from diskproof.results.plan import Cell, Phases, Plan, Scale
from diskproof.results.trial import Dumped, Setting, Trial
from support.intervals import bounds
from support.machines import make_machines, sharing
from support.trials import change, make_machine, make_plan, make_server, make_trials, typical_rate
from support.words import compared, texts

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
    assert compared(made)[1].startswith("20% slower (20%")
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
        for seed in range(24)
    )
    # A block's own luck is shared by its cells, so two cells often err together; 5 % of 24 runs is 1.
    assert false_claims <= 4


def test_noise_is_inconclusive() -> None:
    made = compare(run(spread=0.15), run(spread=0.15, seed=5))
    assert {cell.outcome for cell in made.cells} == {"inconclusive"}


def test_what_else_changed_is_named() -> None:
    newer = change(make_server("mariadb"), version="11.4.5")
    second = run(
        seed=2,
        kernel="6.12.1",
        cpu_model="AMD EPYC 9R14",
        host_cpus=64,
        memory_bytes=2**33,
        idle_wake_up_us=0,
        servers=[newer],
        fio_version="3.41",
    )
    first = run(fio_version="3.33")
    differences = {one.fact: (one.a.text, one.b.text) for one in compare(first, second).differences}
    assert differences == {
        "CPU": ("Intel(R) Xeon(R) Platinum 8488C", "AMD EPYC 9R14"),
        "number of CPUs": ("2", "2 of 64"),
        "memory": ("4 GiB", "8 GiB"),
        "kernel": ("6.1.0-31-amd64", "6.12.1"),
        "version of mariadb": ("MariaDB 10.11.11", "MariaDB 11.4.5"),
        "idle cores": ("may sleep", "asked to stay awake"),
        "fio": ("3.33", "3.41"),
    }


def test_what_changed_on_one_of_many_machines_is_named() -> None:
    plan = sharing(make_plan(blocks=6, **QUESTION))
    trials = make_trials(plan)
    first, second = (
        analyse(plan, make_machines(plan, b={"kernel": kernel}), trials, {})
        for kernel in ("6.1.0-31-amd64", "6.12.1")
    )
    made = compare(first, second)
    assert {one.fact: (one.a.text, one.b.text) for one in made.differences} == {
        "kernel": ("6.1.0-31-amd64", "6.1.0-31-amd64 (a) and 6.12.1 (b)")
    }
    assert made.a.host == "a and b"


def test_another_disk_under_the_same_name_is_named_once() -> None:
    first = run()
    assert first.machine is not None
    places = [
        change(place, device=change(place.device, model="Samsung 990")) if place.device else place
        for place in first.machine.places
    ]
    differences = compare(first, run(places=places)).differences
    assert [(one.fact, one.b.text) for one in differences] == [
        ("data of disk", "ext4 on Samsung 990, 64 GiB")
    ]


def test_a_level_that_means_something_else_now_is_named() -> None:
    def altered(trial: Trial) -> Trial:
        other = Setting(name="sync_binlog", requested="100", observed="100", holds=True, level=True)
        return change(trial, settings=[*(one for one in trial.settings if one.name != "sync_binlog"), other])

    made = compare(run(), run(alter=altered))
    assert all("`sync_binlog` was 1, then 100" in texts(cell.settings) for cell in made.cells)


def test_unequal_data_is_not_compared() -> None:
    made = compare(run(), run(alter=lambda trial: change(trial, data__rows=7)))
    assert {cell.outcome for cell in made.cells} == {"not comparable"}
    assert made.cells[0].ratio is None
    assert "40,000 rows in the first run, 7 in the second" in compared(made)[0]


def test_runs_of_different_scales_are_not_compared() -> None:
    def scaled(name: str) -> Analysis:
        scale = Scale(name=name, shrinks="rows", carries="nothing")
        return run(change(make_plan(**QUESTION), scale=scale))

    for first, second, said in (
        (scaled("smoke"), scaled("short"), "`smoke` and `short`"),
        (run(), scaled("short"), "the study as it stands and `short`"),
    ):
        made = compare(first, second)
        assert {cell.outcome for cell in made.cells} == {"not comparable"}
        assert f"the runs have different scales: {said}" in compared(made)[0]
    assert {cell.outcome for cell in compare(scaled("short"), scaled("short")).cells} == {"the same"}


def test_another_dump_of_a_server_is_a_difference() -> None:
    def of(digest: str) -> Analysis:
        return run(alter=lambda trial: change(trial, data__dump=Dumped(sha256=digest * 64, at="2026-11-30")))

    (difference,) = compare(of("a"), of("b")).differences
    assert (difference.fact, difference.a.text, difference.b.text) == (
        "data of the server (SHA-256)",
        "a" * 12,
        "b" * 12,
    )
    assert not compare(of("a"), of("a")).differences


def on_files(files: int, data_bytes: int) -> Callable[[Trial], Trial]:
    requests = FileRequests(
        files=files, block_bytes=4096, direct=True, one_pass=False, read_bytes=4096, written_bytes=0, syncs=0
    )
    return lambda trial: change(
        trial, load__file_requests=requests, data__rows=None, data__data_bytes=data_bytes
    )


def in_iterations(queries: int, count: int) -> Callable[[Trial], Trial]:
    iterations = Iterations(count=count, mean_s=2.0, min_s=1.0, max_s=3.0, queries_per_client=queries)
    return lambda trial: change(trial, load__iterations=iterations, data__rows=None)


def with_operations(planned: int) -> Callable[[Trial], Trial]:
    operations = [
        Operation(test="t", name=name, clients=1, planned=planned, count=planned, seconds=1.0)
        for name in ("insert", "select")
    ]
    return lambda trial: change(trial, load__operations=operations, data__rows=None)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (on_files(4, 2**20), on_files(4, 2**21), "1,048,576 bytes of files in the first run, 2,097,152"),
        (on_files(4, 2**20), on_files(8, 2**20), "4 files in the first run, 8"),
        (in_iterations(10, 3), in_iterations(100, 3), "10 queries a client in the first run, 100"),
        (with_operations(10), with_operations(20), "10 of `t/insert` planned in the first run, 20"),
    ],
)
def test_loads_of_another_size_are_not_compared(
    first: Callable[[Trial], Trial], second: Callable[[Trial], Trial], said: str
) -> None:
    made = compare(run(alter=first), run(alter=second))
    assert {cell.outcome for cell in made.cells} == {"not comparable"}
    assert said in compared(made)[0]
    alike = compare(run(alter=first), run(alter=first))
    assert {cell.outcome for cell in alike.cells} == {"the same"}


def test_more_iterations_of_the_same_are_no_other_size() -> None:
    made = compare(run(alter=in_iterations(10, 3)), run(alter=in_iterations(10, 5)))
    assert {cell.outcome for cell in made.cells} == {"the same"}


def test_too_few_valid_trials_are_not_compared() -> None:
    made = compare(run(make_plan(blocks=1, **QUESTION)), run())
    assert {cell.outcome for cell in made.cells} == {"not comparable"}
    assert "1 of 1 planned trials in the first run is valid; at least 2 are needed" in compared(made)[0]


def test_a_cell_that_lost_half_of_its_trials_is_not_compared() -> None:
    def spoil(trial: Trial) -> Trial:
        wrong = Setting(name="sync_binlog", requested="1", observed="0", holds=False)
        return change(trial, settings=[wrong]) if trial.block <= 3 else trial

    made = compare(run(), run(alter=spoil))
    assert "2 of 5 planned trials in the second run are valid; at least 3 are needed" in compared(made)[0]


def test_a_cell_without_a_figure_is_not_compared() -> None:
    plan = change(make_plan(**QUESTION), metrics={"complex": "latency_mean_us"})
    made = compare(run(plan), run(plan, alter=lambda trial: change(trial, load__latency_us=None)))
    assert {cell.outcome for cell in made.cells} == {"not comparable"}
    assert "the second run has no figure of it" in compared(made)[0]


def test_a_gate_that_speed_decides_bars_the_cell_of_that_run() -> None:
    def saturate(trial: Trial) -> Trial:
        fast = trial.block == 2 and "/dram/" in trial.cell
        return change(trial, load__client__cpu_system_s=60.0) if fast else trial

    made = compare(run(), run(alter=saturate))
    dram, disk = made.cells
    assert dram.outcome == "not comparable"
    assert "in the second run: the client was the bottleneck" in compared(made)[0]
    assert disk.outcome != "not comparable"


def test_phases_of_a_workloads_own_are_what_changed() -> None:
    plan = make_plan(workloads=("a", "b"), measure_s=30, **QUESTION)
    own = change(plan, phases={"b": Phases(warm_up_s=2, measure_s=30)})
    differences = {one.fact: (one.a.text, one.b.text) for one in compare(run(plan), run(own)).differences}
    assert differences == {"warm-up": ("10 s", "10 s (a) and 2 s (b)")}


def test_cells_of_one_run_only_are_listed() -> None:
    made = compare(run(), run(make_plan(storages=("disk", "nvme"), **QUESTION)))
    assert [cell.cell.storage for cell in made.cells] == ["disk"]
    assert made.only_a == ["mariadb/dram/safest/complex/128MiB/8c"]
    assert made.only_b == ["mariadb/nvme/safest/complex/128MiB/8c"]


def test_runs_without_a_common_cell_are_refused_with_what_they_have() -> None:
    with pytest.raises(ComparisonError, match="no cell in common: the first has mariadb/dram/"):
        compare(run(), run(make_plan(storages=("nvme",), **QUESTION)))
