"""Limits of a server that was there already: the machine of the load says nothing of it."""

import pytest

from diskproof.analysis.limits.records import CellLimit
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from support.limited import MAKERS, limit_of, one_cell
from support.trials import change, make_machine


def theirs(plan: Plan) -> Machine:
    """Return the machine of the load, whose disks and CPUs are not the server's."""
    machine = make_machine(plan)
    servers = [change(one, binary=None, address="app@db:3306/x") for one in machine.servers]
    return change(machine, servers=servers, places=[])


def limited_elsewhere(what: str, **counted: float) -> CellLimit:
    plan = one_cell()
    trials = [MAKERS[what](plan, number) for number in range(len(plan.trials))]
    unseen: dict[str, object] = {
        "server_cpu_s": None,
        "devices": {},
        "activity": None,
    }
    made = []
    for trial in trials:
        assert trial.usage is not None
        cpu = {party: used for party, used in trial.usage.cpu.items() if party == "load"}
        account = trial.usage.account
        if account is not None:
            account = account.model_copy(update=counted)
        usage = trial.usage.model_copy(update={**unseen, "cpu": cpu, "account": account})
        made.append(trial.model_copy(update={"usage": usage, "virtual_disks": [], "places": []}))
    return limit_of(plan, made, theirs(plan))


@pytest.mark.parametrize("what", MAKERS)
def test_nothing_is_said_by_the_kernel_of_the_loads_machine(what: str) -> None:
    cell = limited_elsewhere(what)
    assert not [one for one in cell.signals if one.instrument in ("kernel", "threads", "virtual disk")]
    assert cell.limit != "CPU"
    assert cell.split is None or not {"CPU", "waiting for a CPU"} & {part.name for part in cell.split.parts}


def test_full_cpus_of_the_load_are_no_limit_of_the_server() -> None:
    cell = limited_elsewhere("CPU")
    assert cell.limit is None
    assert "were not observed" in cell.missing.text


def test_a_server_without_work_but_computing_does_not_show_that_it_computes() -> None:
    idle = dict.fromkeys(("page_reads", "log_flushes", "clean_page_waits", "lock_waits"), 0)
    cell = limited_elsewhere("CPU", **idle)
    assert {one.instrument for one in cell.signals if one.limit == "CPU" and one.supports} == {"server"}
    assert cell.limit is None


def test_clients_and_server_can_name_the_log_flush() -> None:
    cell = limited_elsewhere("log flush", log_flush_s=25.0)  # of 30 s
    assert cell.limit == "log flush"
    assert {one.instrument for one in cell.supporting} == {"clients", "server"}
