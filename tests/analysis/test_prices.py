"""What speed costs to buy: sums that can be done by hand, and no price of what is not known."""

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.prices.analyse import amount, price_over, usable_bytes
from diskproof.analysis.prices.shapes import CellPrice, Prices
from diskproof.families.durability import at_risk
from diskproof.results.load import FileRequests
from diskproof.results.plan import Plan
from diskproof.results.trial import Finding, Trial
from diskproof.stats.intervals import Interval
from support.prices import GB, make_price, with_prices
from support.trials import change, make_machine, make_plan, make_series, make_trials

DISK, SSD = make_price("disk", 150.0), make_price("ssd", 300.0, size_bytes=30 * GB)
RENTED = make_price("volume", 12.0, per="month")


def answered(plan: Plan, trials: list[Trial] | None = None, **machine: object) -> Analysis:
    trials = make_trials(plan) if trials is None else trials
    return analyse(plan, make_machine(plan, **machine), trials, make_series(trials))


def prices_of(plan: Plan, trials: list[Trial] | None = None, **machine: object) -> Prices:
    prices = answered(plan, trials, **machine).prices
    assert prices
    return prices


def priced_cells(plan: Plan, trials: list[Trial] | None = None, **machine: object) -> dict[str, CellPrice]:
    return {one.cell.id: one for one in prices_of(plan, trials, **machine).cells}


def only_cell(plan: Plan) -> CellPrice:
    (cell,) = priced_cells(plan, make_trials(plan)).values()
    return cell


ONE = with_prices(make_plan(storages=("disk",), tunings=("safest",), clients=(8,)), disk=[DISK])


# ---------------------------------------------------------------- sums


def test_without_prices_nothing_is_said() -> None:
    assert answered(make_plan()).prices is None


def test_what_is_bought_is_summed_and_what_is_rented_makes_all_of_it_monthly() -> None:
    assert amount([DISK, SSD, SSD], "purchase") == 750
    assert amount([DISK, RENTED], "month") == pytest.approx(12 + 150 / 36)
    assert amount([change(DISK, years=5.0)], "month") == pytest.approx(150 / 60)


def test_room_is_that_of_the_first_device_and_of_those_alike() -> None:
    assert usable_bytes([DISK, SSD]) == 100 * GB
    assert usable_bytes([SSD, DISK]) == 30 * GB
    assert usable_bytes([SSD, SSD, DISK]) == 60 * GB


def test_a_price_over_a_speed_turns_the_interval_over() -> None:
    per = price_over(100.0, Interval(estimate=50, low=40, high=80, n=5))
    assert (per.estimate, per.low, per.high, per.n) == (2.0, 1.25, 2.5, 5)
    alone = price_over(100.0, Interval(estimate=50, low=None, high=None, n=1))
    assert (alone.estimate, alone.low, alone.high) == (2.0, None, None)


def test_one_rented_storage_makes_the_whole_run_monthly() -> None:
    plan = with_prices(make_plan(clients=(8,)), disk=[DISK], dram=[RENTED])
    prices = prices_of(plan)
    assert prices.basis == "month"
    assert {one.storage: one.amount for one in prices.storages} == {
        "disk": pytest.approx(150 / 36),
        "dram": 12.0,
    }
    assert prices_of(with_prices(make_plan(clients=(8,)), disk=[DISK])).basis == "purchase"


def test_a_storage_without_a_price_is_named_and_its_cells_have_none() -> None:
    prices = prices_of(with_prices(make_plan(), disk=[DISK, SSD]))
    assert prices.unpriced == ["dram"]
    assert {one.cell.storage for one in prices.cells} == {"disk"}
    assert prices.storages[0].amount_per_gb == pytest.approx(450 / 100)
    assert prices.storages[0].bought == ["disk", "ssd"]


def test_prices_over_throughput() -> None:
    cell = only_cell(ONE)
    assert cell.per_1000_per_s
    assert cell.per_1000_per_s.estimate == pytest.approx(150 / cell.speed.estimate * 1000)
    assert cell.speed.high
    assert cell.per_1000_per_s.low == pytest.approx(150_000 / cell.speed.high)


def test_a_cell_without_a_valid_trial_has_no_price() -> None:
    broken = Finding(check="server", severity="invalid", message="it ended")
    trials = [change(trial, findings=[broken]) for trial in make_trials(ONE)]
    assert not prices_of(ONE, trials).cells


def test_at_a_rate_that_the_study_sets_speed_has_no_price() -> None:
    assert not prices_of(change(ONE, metrics={"complex": "latency_mean_us"})).cells


def test_durability_follows_each_familys_settings() -> None:
    safe = {"synchronous_commit": "on", "fsync": "on", "full_page_writes": "on"}
    assert at_risk("postgresql", safe) == {}
    assert at_risk("postgresql", {**safe, "synchronous_commit": "off"}) == {"synchronous_commit": "off"}
    assert at_risk("postgresql", {}) == dict.fromkeys(sorted(safe))
    assert at_risk("sqlite", {"journal_mode": "wal", "synchronous": "FULL"}) == {}
    assert at_risk("sqlite", {"journal_mode": "wal", "synchronous": "normal"}) == {"synchronous": "normal"}
    assert at_risk("sqlite", {"synchronous": "full"}) == {"journal_mode": None}


# ---------------------------------------------------------------- loads on bare files


FILES = with_prices(
    change(
        make_plan(
            servers=("-",),
            storages=("disk",),
            tunings=("-",),
            workloads=("random", "sequential"),
            clients=(1, 8, 64),
        ),
        metrics={"random": "requests_per_s", "sequential": "requests_per_s"},
    ),
    disk=[DISK],
)


def on_files(rate: dict[int, float]) -> list[Trial]:
    """Return trials of loads on bare files, as fast as their number of clients says."""
    trials = make_trials(FILES, lambda cell: rate[cell.clients], spread=0.001)
    modes = {"random": "rndrd", "sequential": "seqrd"}
    requests = FileRequests(
        files=4, block_bytes=4096, direct=True, one_pass=False, read_bytes=196_608, written_bytes=0, syncs=0
    )
    return [
        change(
            trial,
            load__workload="fileio",
            load__mix=modes[FILES.cell(trial.cell).workload],
            load__file_requests=requests,
        )
        for trial in trials
    ]


def test_what_has_no_transactions_has_no_price_of_them() -> None:
    assert prices_of(FILES, on_files({1: 100.0, 8: 400.0, 64: 300.0})).cells == []


def test_what_must_not_be_compared_has_no_price() -> None:
    plan = with_prices(make_plan(tunings=("safest",), clients=(8,)), dram=[SSD], disk=[DISK])
    bar = Finding(check="physics", severity="warning", message="a cache answered")
    trials = [
        change(trial, findings=[bar]) if plan.cell(trial.cell).storage == "dram" else trial
        for trial in make_trials(plan)
    ]
    by_storage = {one.cell.storage: one for one in priced_cells(plan, trials).values()}
    assert by_storage["dram"].bars
    assert by_storage["dram"].per_1000_per_s is None
    assert by_storage["disk"].per_1000_per_s
