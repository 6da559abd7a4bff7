"""Checks of a run over many machines: which facts must be alike, and what is found if speeds are not."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from diskproof.audit.check import Problem, Run
from diskproof.audit.hosts import equal_hosts, unlike_hosts
from diskproof.audit.places import same_storage, unused_place
from diskproof.audit.run import order
from diskproof.audit.virtual import virtual_label
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Trial
from diskproof.wording import Quantity
from support.machines import comparing, make_machines, sharing
from support.trials import DISK_DEVICE, change, load_of, make_machine, make_places, make_plan, make_trials
from support.virtual import make_facts


def said(problems: Sequence[Problem]) -> list[str]:
    return [one.message.text for one in problems]


def faster(plan: Plan, times: Callable[[str, Cell, Trial], float], spread: float = 0.004) -> list[Trial]:
    """Return the plan's trials, each so many times as fast as usual, by its host, cell and itself."""

    def at(one: Trial) -> float:
        return times(plan.host_of(one.id) or "", plan.cell(one.cell), one)

    return [
        change(one, load__transactions_per_s=load_of(one).transactions_per_s * at(one))
        for one in make_trials(plan, spread=spread)
    ]


# ---------------------------------------------------------------- facts

OTHER_SERVER = {"servers": [change(make_machine().servers[0], version="11.4.2")]}


def unlike(plan: Plan, **of_b: Any) -> list[str]:
    run = Run(plan, make_machines(plan, b=of_b), make_trials(plan))
    outcome = unlike_hosts.outcome(run)
    assert outcome.state == ("failed" if outcome.problems else "passed")
    return said(outcome.problems)


def test_compared_machines_may_differ_in_all_but_the_software() -> None:
    plan = comparing(make_plan())
    assert unlike(plan, cpus=32, kernel="6.12", memory_bytes=2**40, places=make_places("dram")) == []
    (found,) = unlike(plan, **OTHER_SERVER)
    assert "hosts `a` and `b` differ in server mariadb: MariaDB 10.11.11 (/usr/sbin/mariadbd)" in found
    assert found.endswith("against MariaDB 11.4.2 (/usr/sbin/mariadbd)")
    assert unlike(plan, load_version="0.2.0") == [
        "hosts `a` and `b` differ in load generator: 0.1.0 against 0.2.0"
    ]


def test_machines_that_share_blocks_differ_in_nothing_but_the_name() -> None:
    plan = sharing(make_plan(blocks=6))
    assert unlike(plan) == []
    assert unlike(plan, kernel="6.12", cpus=32) == [
        "hosts `a` and `b` differ in kernel: 6.1.0-31-amd64 against 6.12",
        "hosts `a` and `b` differ in CPU: 2 x Intel(R) Xeon(R) Platinum 8488C against 32 x Intel(R) Xeon(R) "
        "Platinum 8488C",
    ]
    (missing,) = [one for one in unlike(plan, places=make_places("dram")) if "data of disk" in one]
    assert missing.endswith("differ in data of disk: ext4 on vda against none")


def test_facts_of_a_host_that_has_sent_none_are_missed() -> None:
    plan = sharing(make_plan(blocks=6), ("a", "b", "c"))
    machine = make_machines(plan)
    known = change(machine, others={host: machine.others[host] for host in "ab"})
    assert unlike_hosts.outcome(Run(plan, known, make_trials(plan))).state == "cannot be told"
    assert unlike_hosts.outcome(Run(make_plan(), make_machine(), [])).state == "does not apply"


# ---------------------------------------------------------------- speeds


def unequal(plan: Plan, trials: Sequence[Trial]) -> tuple[Problem, ...]:
    return equal_hosts.outcome(Run(plan, make_machines(plan), list(trials))).problems


def test_a_host_with_few_trials_of_a_cell_is_not_drawn_to_the_others() -> None:
    plan = sharing(make_plan(blocks=12))
    trials = faster(plan, lambda host, *_: 1.1 if host == "b" else 1.0)
    few = [
        one
        for one in trials
        if plan.host_of(one.id) == "a" or plan.cell(one.cell).storage == "dram" or one.block == 2
    ]
    (found,) = unequal(plan, few)
    ratio = found.message.values["ratio"]
    assert isinstance(ratio, Quantity)
    assert ratio.value == pytest.approx(1.1, abs=0.006)
    none = [one for one in few if plan.host_of(one.id) == "a" or plan.cell(one.cell).storage == "dram"]
    (found,) = unequal(plan, none)
    ratio = found.message.values["ratio"]
    assert isinstance(ratio, Quantity)
    assert ratio.value == pytest.approx(1.1, abs=0.006)


def test_hosts_without_common_cells_cannot_be_compared() -> None:
    plan = sharing(make_plan(blocks=6))
    alone = [one for one in make_trials(plan) if plan.host_of(one.id) == "a"]
    assert equal_hosts.outcome(Run(plan, make_machines(plan), alone)).state == "cannot be told"
    compared = comparing(make_plan())
    run = Run(compared, make_machines(compared), make_trials(compared))
    assert equal_hosts.outcome(run).state == "does not apply"


# ---------------------------------------------------------------- order


def test_the_order_within_blocks_shows_though_cells_differ_by_host() -> None:
    plan = sharing(make_plan(blocks=6))

    def times(host: str, cell: Cell, one: Trial) -> float:
        differs = 1.5 if host == "b" and cell.storage == "disk" else 1.0
        return float(differs * math.exp(-0.012 * one.position))

    found = order.outcome(Run(plan, make_machines(plan), faster(plan, times, spread=0.02))).problems
    assert any("from the first to the last trial of a block" in one for one in said(found))


def test_blocks_of_many_machines_do_not_drift() -> None:
    def found(plan: Plan) -> list[str]:
        trials = faster(plan, lambda _, __, one: float(0.95**one.block))
        return said(order.outcome(Run(plan, None, trials)).problems)

    assert any("from the first block to the last" in one for one in found(make_plan(blocks=10)))
    assert found(sharing(make_plan(blocks=10))) == []


# ---------------------------------------------------------------- places


def test_storages_that_are_one_on_one_machine_bar_its_own_comparison() -> None:
    plan = comparing(make_plan(storages=("disk", "ssd"), tunings=("safest",), clients=(8,)))
    places = [change(one, device_number=DISK_DEVICE) for one in make_machine(plan).places]
    run = Run(plan, make_machines(plan, b={"places": places}), make_trials(plan))
    (found,) = same_storage.outcome(run).problems
    assert {plan.cell(cell).host for cell in found.cells} == {"b"}


def test_a_place_of_one_machine_is_not_missed_on_another() -> None:
    plan = comparing(make_plan())
    together = [change(one, path=f"/srv/{one.storage}") for one in make_machine(plan).places]
    trials = [
        change(one, open_files=[file for file in one.open_files if file.role != "binlog"])
        for one in make_trials(plan)
    ]
    run = Run(plan, make_machines(plan, b={"places": together}), trials)
    problems = unused_place.outcome(run).problems
    assert problems
    assert {plan.cell(cell).host for one in problems for cell in one.cells} == {"a"}


def test_a_label_is_of_the_machine_whose_disk_has_it() -> None:
    plan = comparing(make_plan())
    labelled = [
        change(one, virtual=make_facts(label="it is near the machine's floor"))
        if one.storage == "disk"
        else one
        for one in make_machine(plan).places
    ]
    run = Run(plan, make_machines(plan, b={"places": labelled}), make_trials(plan))
    (found,) = virtual_label.outcome(run).problems
    assert set(found.cells) == {cell.id for cell in plan.cells if (cell.host, cell.storage) == ("b", "disk")}
