"""How often a transaction waits for a disk, and the predicted effect if each wait takes longer."""

import heapq
import random
from typing import Any

import pytest

from diskproof.analysis.limits.prediction import predict
from diskproof.analysis.limits.records import Awaited, CellLimit
from diskproof.results.limit import Intervention
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from diskproof.results.usage import ServerAccount
from support.limited import (
    Found,
    activity,
    device,
    flush_bound,
    limit_of,
    limited,
    one_cell,
    read_bound,
    served,
    trial_of,
    used,
    virtual_machine,
)
from support.trials import change, load_of

BOTH: tuple[Found, ...] = (("flushing", "redo", 0.4, 0.4), ("flushing", "binlog", 0.4, 0.4))


def committed(
    clients: int,
    flushes: float,
    doing: tuple[Found, ...] = BOTH,
    commit_us: float = 24_000.0,
    **account: float,
) -> CellLimit:
    """Return a cell whose disk is sent so many flushes a transaction; the account is of a transaction."""
    plan = one_cell(clients)
    made = []
    for number in range(3):
        trial = trial_of(plan, number, {"commit": commit_us, "begin": 40.0})
        load = load_of(trial)
        disk = device(load, busy=0.9, writes=1.0, write_us=300.0, flushes=flushes, flush_us=7900.0)
        told = {name: round(each * load.known_transactions) for name, each in account.items()}
        kept = ServerAccount(commits=load.transactions, page_reads=0).model_copy(update=told)
        made.append(used(trial, disk, server_us=450.0, doing=activity(*doing), account=kept))
    return limit_of(plan, made)


def flushes_of(cell: CellLimit) -> Awaited:
    [found] = [one for one in cell.awaited if one.on == "flush"]
    assert found.disk == "disk"
    return found


def test_one_clients_flushes_are_those_of_its_disk() -> None:
    """MariaDB does not report flushes of its log: a commit flushes redo and binary log, whose file grows."""
    found = flushes_of(committed(1, 3.04, binlog_groups=1.0))
    assert found.least == found.most == pytest.approx(3.04, rel=0.01)


def test_flushes_of_pages_do_not_count_but_may_delay_a_commit() -> None:
    """Ten of eleven are of pages: a commit waits for its own, and maybe for one that is under way."""
    found = flushes_of(
        committed(1, 11.0, (("flushing", "redo", 0.2, 0.2),), log_flushes=1.0, page_flushes=10.0)
    )
    assert found.least == pytest.approx(1, rel=0.01)
    assert found.most == pytest.approx(2, rel=0.01)


def test_page_flushes_that_the_server_does_not_count_are_those_of_threads() -> None:
    """A thread was at one in 79% of moments: at 7.9 ms each that is 100 of them a second."""
    plan = one_cell(1)
    per_s = load_of(trial_of(plan, 0, {"commit": 24_000.0, "begin": 40.0})).transactions_per_s
    doing: tuple[Found, ...] = (("flushing", "redo", 0.2, 0.2), ("flushing", "data", 0.79, 0.79))
    found = flushes_of(committed(1, 1 + 100.0 / per_s, doing))
    assert found.least == pytest.approx(1, rel=0.02)
    assert found.most == pytest.approx(2, rel=0.02)


def test_each_flush_of_several_clients_may_wait_for_one_of_each_log() -> None:
    """Two of its own; each may find one of the redo log and one of the binary log that have just begun."""
    found = flushes_of(committed(8, 0.6, binlog_groups=0.3, commit_us=40_000.0))
    assert found.least == pytest.approx(2)
    assert found.most == pytest.approx(6, rel=0.01)
    journal = flushes_of(committed(8, 0.9, binlog_groups=0.3, commit_us=40_000.0))
    assert journal.least == pytest.approx(2)
    assert journal.most == pytest.approx(9, rel=0.01)
    untold = flushes_of(limited("log flush", 8, usage__account=None, usage__activity=None))
    assert untold.least == pytest.approx(1)
    assert untold.most == pytest.approx(2)


def test_if_no_commit_waits_no_flush_is_awaited() -> None:
    plan = one_cell(1, tunings=("fast",))
    cell = limit_of(plan, [flush_bound(plan, number) for number in range(3)])
    assert not [one for one in cell.awaited if one.on == "flush"]


def test_a_log_on_its_own_disk_has_only_its_own_flushes() -> None:
    """Data and redo on one disk that turns, binary log on another: the means of all would give 2.13 times.

    The transaction takes as long as two flushes of it and what is computed; each is one turn longer.
    """
    plan = one_cell(1)
    machine = virtual_machine(plan)
    other = change(machine.places[0], role="binlog")
    places = [one for one in machine.places if one.role != "binlog"]
    facts = [disk.model_copy(update={"name": "other"}) for disk in other.virtual_disks]
    machine = change(machine, places=[*places, change(other, virtual=facts[0], device=None)])
    made = [two_disks(plan, number) for number in range(3)]
    cell = limit_of(plan, made, machine)
    counts = {one.disk: (one.least, one.most) for one in cell.awaited if one.on == "flush"}
    assert counts["disk"][0] == pytest.approx(1, rel=0.01)
    assert counts["disk"][1] == pytest.approx(2, rel=0.01)
    assert counts["other"][0] == counts["other"][1] == pytest.approx(1, rel=0.01)
    assert cell.split is not None
    added = {"disk": 8333.0, "other": 8333.0}
    slower = Intervention(change="slower flushes", says="slower", factor=2.13, added_us=added)
    found = predict(cell, slower)
    assert found is not None
    whole = cell.split.latency_us
    assert found.high == pytest.approx(whole / (whole + 2 * 8333), rel=0.01)
    assert found.low == pytest.approx(whole / (whole + 3 * 8333), rel=0.01)


def two_disks(plan: Plan, number: int) -> Trial:
    trial = trial_of(plan, number, {"commit": 8900.0, "begin": 40.0})
    load = load_of(trial)
    shared = device(load, busy=0.9, writes=1.0, write_us=300.0, flushes=11.0, flush_us=700.0)
    alone = device(load, busy=0.1, writes=1.0, write_us=10.0, flushes=1.0, flush_us=500.0)
    n = load.known_transactions
    account = ServerAccount(
        commits=n, log_flushes=n, page_flushes=10 * n, binlog_groups=n, binlog_commits=n, page_reads=0
    )
    made = used(trial, shared, server_us=450.0, doing=activity(*BOTH), account=account)
    return change(made, virtual_disks=[*made.virtual_disks, change(served(alone), name="other")])


@pytest.mark.parametrize("model_us", [8000.0, 2000.0])
def test_number_and_time_of_reads_come_from_one_account(model_us: float) -> None:
    """Ten reads of 8 ms each by the kernel; the model's shorter time does not make them more."""

    def quicker(use: Any) -> Any:
        return change(use, read=change(use.read, latency_us=change(use.read.latency_us, mean=model_us)))

    plan = one_cell(1)
    made = []
    for number in range(3):
        trial = read_bound(plan, number)
        made.append(change(trial, virtual_disks=[quicker(use) for use in trial.virtual_disks]))
    cell = limit_of(plan, made)
    [reads] = [one for one in cell.awaited if one.on == "read"]
    assert reads.least == pytest.approx(10, rel=0.15)
    assert reads.most == pytest.approx(10, rel=0.15)


# ---------------------------------------------------------------- a group commit, simulated


def committing(clients: int, flushes_us: list[float], think_us: float, transactions: int = 1500) -> float:
    """Return the transactions a second of clients that compute and then wait for each log in turn.

    Each log has one flush at a time; who comes while it is under way waits for the next one.
    """
    chance, now_us, done = random.Random(1), 0.0, 0
    waiting: list[list[int]] = [[] for _ in flushes_us]
    under_way = [False] * len(flushes_us)
    coming: list[tuple[float, int, tuple[int, ...]]] = [
        (chance.expovariate(1 / think_us), -1, (client,)) for client in range(clients)
    ]
    heapq.heapify(coming)
    while done < transactions:
        now_us, log, group = heapq.heappop(coming)
        if log >= 0:
            under_way[log] = False
        if log + 1 < len(flushes_us):
            waiting[log + 1] += group
        else:
            done += len(group)
            for client in group:
                heapq.heappush(coming, (now_us + chance.expovariate(1 / think_us), -1, (client,)))
        for at, flush_us in enumerate(flushes_us):
            if waiting[at] and not under_way[at]:
                heapq.heappush(coming, (now_us + flush_us, at, tuple(waiting[at])))
                waiting[at], under_way[at] = [], True
    return done / now_us * 1e6


@pytest.mark.parametrize("think_us", [500.0, 3000.0, 20_000.0])
@pytest.mark.parametrize(
    ("flushes_us", "added_us"),
    [
        ([8000.0], [8000.0]),
        ([8000.0, 500.0], [8333.0, 8333.0]),
        ([200.0], [200.0]),
        ([8e3, 4e3], [16e3, 8e3]),
    ],
)
@pytest.mark.parametrize("clients", [1, 2, 8, 16])
def test_commits_that_share_their_flushes_lie_in_the_band(
    clients: int, flushes_us: list[float], added_us: list[float], think_us: float
) -> None:
    before = committing(clients, flushes_us, think_us)
    longer = [flush_us + add_us for flush_us, add_us in zip(flushes_us, added_us, strict=True)]
    true = committing(clients, longer, think_us) / before
    cell = limited("log flush", clients)
    assert cell.split is not None
    times = 1.0 if clients == 1 else 2.0
    names = [f"log{number}" for number in range(len(flushes_us))]
    whole = cell.split.model_copy(update={"latency_us": clients / before * 1e6})
    waits = [Awaited(disk=name, on="flush", least=1.0, most=times) for name in names]
    slower = Intervention(
        change="slower flushes", says="", factor=2.0, added_us=dict(zip(names, added_us, strict=True))
    )
    found = predict(cell.model_copy(update={"split": whole, "awaited": waits}), slower)
    assert found is not None
    assert found.low * 0.97 <= true <= found.high * 1.03
