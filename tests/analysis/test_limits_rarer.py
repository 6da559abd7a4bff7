"""Page writes, relaxed commits, a busy load generator: as cells of `studies/limits-rarer.toml` had them."""

import pytest

from diskproof.analysis.limits.records import CellLimit, Signal
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from diskproof.results.usage import CpuUse, ServerAccount
from support.limited import (
    MICRO,
    SECONDS,
    activity,
    cpu_bound,
    device,
    flush_bound,
    limit_of,
    one_cell,
    trial_of,
    used,
)
from support.trials import change, load_of

CLIENTS = 8


def pressed(
    *,
    age: float = 0.99,
    oldest: float = 1.0,
    tuning: str = "fast",
    cleaned: bool = True,
    watched: bool = True,
) -> CellLimit:
    """Return a cell whose clients wait for room in the log, which comes with the pages that are written.

    They try again and again, so that all CPUs are full of them. The page cleaner's flushes, and the writes
    between, keep the disk busy. With `cleaned` false it has hardly anything to do.
    """
    plan = one_cell(CLIENTS, tunings=(tuning,))

    def made(number: int) -> Trial:
        trial = trial_of(plan, number, {"update_index": 12_000.0})
        load = load_of(trial)
        flushes_per_s = 16.0 if cleaned else 0.5
        return used(
            trial,
            device(
                load,
                busy=0.56 if cleaned else 0.02,
                writes=650.0 / load.transactions_per_s,
                write_us=11_000.0,
                flushes=flushes_per_s / load.transactions_per_s,
                flush_us=23_000.0,
            ),
            server_us=400.0,
            doing=activity(
                ("computing", None, 0.95, 7.5),
                background=[("flushing", "data", 0.33, 0.33), ("flushing", "redo", 0.07, 0.07)],
            )
            if watched
            else None,
            account=ServerAccount(
                commits=load.transactions,
                page_reads=0,
                clean_page_waits=0,
                checkpoint_age_mean=age,
                checkpoint_age_max=oldest,
            ),
            busy_beside=2.0,
        )

    return limit_of(plan, [made(number) for number in range(len(plan.trials))])


def said(cell: CellLimit, limit: str, instrument: str) -> Signal | None:
    return next((one for one in cell.signals if (one.limit, one.instrument) == (limit, instrument)), None)


def test_clients_that_wait_for_room_in_the_log_are_held_back_by_page_writes() -> None:
    cell = pressed()
    assert cell.limit == "page writes", cell.sentence.text
    server, kernel = said(cell, "page writes", "server"), said(cell, "page writes", "kernel")
    assert server is not None
    assert server.says.text == (
        "the log is on average 99% of the way to where clients must wait for page writes"
    )
    assert kernel is not None
    assert kernel.says.text == "vda is busy 56% of the time, mostly writing, and flushes pages 30%"


def test_cpus_that_are_full_of_clients_who_wait_are_not_the_limit() -> None:
    cell = pressed()
    kernel, server = said(cell, "CPU", "kernel"), said(cell, "CPU", "server")
    assert kernel is not None
    assert kernel.supports
    assert server is not None
    assert not server.supports


def test_a_log_that_was_nearly_full_for_a_moment_says_nothing() -> None:
    """MariaDB does not count waits for a checkpoint, so there may have been some."""
    assert said(pressed(age=0.76, oldest=0.98), "page writes", "server") is None
    roomy = said(pressed(age=0.3, oldest=0.5), "page writes", "server")
    assert roomy is not None
    assert not roomy.supports
    assert roomy.says.text == "nobody waited for a clean page"


def test_a_disk_that_hardly_writes_contradicts_a_full_log() -> None:
    cell = pressed(cleaned=False)
    kernel = said(cell, "page writes", "kernel")
    assert kernel is not None
    assert not kernel.supports
    assert cell.limit != "page writes"


def test_flushes_that_commits_wait_for_are_no_writing_of_pages() -> None:
    """The same disk at safest: 56% of its time alone is not enough."""
    cell = pressed(tuning="safest")
    assert said(cell, "page writes", "kernel") is None
    assert cell.limit != "page writes"


@pytest.mark.parametrize("counted", [True, False])
def test_flushes_of_the_log_behind_the_clients_are_no_writing_of_pages(counted: bool) -> None:
    """PostgreSQL's WAL writer keeps a disk flushing for 90% of the time, which else is 5% busy."""
    plan = one_cell(CLIENTS, tunings=("fast",))
    made = []
    for number in range(len(plan.trials)):
        trial = trial_of(plan, number, {"update_index": 12_000.0})
        load = load_of(trial)
        n, flushes = load.known_transactions, 120.0 / load.transactions_per_s
        disk = device(load, busy=0.05, writes=1.0, write_us=300.0, flushes=flushes, flush_us=7500.0)
        account = ServerAccount(commits=n, log_flushes=round(flushes * n) if counted else None)
        doing = activity(("computing", None, 0.5, 0.5), background=[("flushing", "redo", 0.9, 0.9)])
        made.append(used(trial, disk, server_us=400.0, doing=doing, account=account))
    kernel = said(limit_of(plan, made), "page writes", "kernel")
    assert kernel is None or not kernel.supports


def test_flushes_of_unknown_purpose_give_no_signal() -> None:
    assert said(pressed(watched=False), "page writes", "kernel") is None


def test_if_no_commit_waits_no_part_is_a_flush() -> None:
    """A background thread keeps the log's disk busy; the settings say that nobody waits for it."""
    plan = one_cell(CLIENTS, tunings=("fast",))
    cell = limit_of(plan, [flush_bound(plan, number) for number in range(len(plan.trials))])
    assert cell.split is not None
    assert not [part for part in cell.split.parts if part.name == "log flush"]
    assert {one.instrument for one in cell.signals if one.limit == "log flush" and one.supports} == {
        "clients"
    }
    server = said(cell, "log flush", "server")
    assert server is not None
    assert server.says.text == "by the server's settings no commit waits for a flush"
    assert cell.limit is None


def test_settings_that_were_not_read_back_promise_nothing() -> None:
    """A result of another tool has no settings: its COMMIT is what it is."""
    plan = one_cell(CLIENTS, tunings=("fast",))
    trials = [change(flush_bound(plan, number), settings=[]) for number in range(len(plan.trials))]
    assert limit_of(plan, trials).limit == "log flush"


def computing(plan: Plan, *, load_us: float, server_us: float, others_s: float = 0.0) -> CellLimit:
    """Return a cell whose load generator and server compute so long for a transaction of 300 us a client."""
    made = []
    for number in range(len(plan.trials)):
        trial = cpu_bound(plan, number)
        load = load_of(trial)
        n = load.known_transactions
        cpu = {"load": n * load_us / MICRO, "server": n * server_us / MICRO}
        busy_s = min(sum(cpu.values()) + others_s, 2 * SECONDS)
        made.append(
            change(
                trial,
                usage__cpu={party: CpuUse(used_s=used_s, waited_s=0.0) for party, used_s in cpu.items()},
                usage__host_cpu_busy_s=busy_s,
                load__client__delay_mean_us=0.7 * load.latency_us.mean / 20 if load.latency_us else None,
                load__client__workers=2,
            )
        )
    return limit_of(plan, made)


def test_one_client_that_computes_most_of_the_time_holds_itself_back() -> None:
    """It leaves one of two CPUs idle, so they cannot be full."""
    plan = one_cell(1)
    latency = load_of(cpu_bound(plan, 0)).latency_us
    assert latency is not None
    cell = computing(plan, load_us=0.7 * latency.mean, server_us=0.2 * latency.mean)
    assert cell.limit == "load generator", cell.sentence.text
    kernel = said(cell, "load generator", "kernel")
    assert kernel is not None
    assert kernel.says.text == "the load generator computes 70% of the time for each client"


@pytest.mark.parametrize(("others_s", "supported"), [(0.0, True), (50.0, False)])
def test_what_others_have_of_the_cpus_is_not_the_load_generators(others_s: float, supported: bool) -> None:
    """It has two thirds of what load and server have: that is most of full CPUs only without other work."""
    plan = one_cell(CLIENTS)
    per_s = load_of(cpu_bound(plan, 0)).transactions_per_s
    all_us = (2 - others_s / SECONDS) / per_s * MICRO
    cell = computing(plan, load_us=all_us * 2 / 3, server_us=all_us / 3, others_s=others_s)
    kernel = said(cell, "load generator", "kernel")
    assert (kernel is not None and kernel.supports) == supported
