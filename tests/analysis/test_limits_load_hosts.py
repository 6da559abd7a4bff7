"""Limits of a database whose load comes from other machines."""

from typing import Any

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.observed import observe
from diskproof.analysis.limits.records import CellLimit
from diskproof.analysis.other_disk.loads import why_not
from diskproof.results.load_host import LoadHost, Network
from diskproof.results.trial import Trial
from support.limited import MAKERS, activity, limit_of, one_cell
from support.trials import change, load_of, make_machine


def elsewhere(trial: Trial, round_trip_us: float, **changes: Any) -> Trial:
    """Return the trial with its load on a machine of its own."""
    load = load_of(trial)
    assert load.latency_us is not None
    assert load.client is not None
    network = Network(
        round_trip_us=round_trip_us,
        to_database_bytes_per_s=1e8,
        from_database_bytes_per_s=1e8,
    )
    host = LoadHost(
        name="load-1",
        clients=load.known_clients,
        cpus=4,
        host_cpus=4,
        seconds=load.known_seconds,
        transactions_per_s=load.transactions_per_s,
        latency_mean_us=load.latency_us.mean,
        client=load.client,
        host_cpu_busy_s=load.client.cpu_s,
        host_cpu_steal_s=0.0,
        began_after_us=0.0,
        clock_error_us=50.0,
        network=network,
    )
    assert trial.usage is not None
    cpu = {party: used for party, used in trial.usage.cpu.items() if party != "load"}
    return change(trial, load_hosts=[change(host, **changes)], usage__cpu=cpu)


def limited(what: str, clients: int, round_trip_us: float, **changes: Any) -> CellLimit:
    plan = one_cell(clients)
    trials = [MAKERS[what](plan, number) for number in range(len(plan.trials))]
    return limit_of(plan, [elsewhere(trial, round_trip_us, **changes) for trial in trials])


def test_round_trips_are_a_part_of_a_transactions_time() -> None:
    cell = limited("log flush", 1, 100.0)
    assert cell.limit == "log flush"
    assert cell.split is not None
    statements = 20  # of the workload's transaction
    assert cell.split.part("network") == statements * 100.0
    without = limit_of(one_cell(), [MAKERS["log flush"](one_cell(), number) for number in range(3)])
    assert without.split is not None
    assert without.split.part("network") == 0


def test_a_slow_network_is_the_limit() -> None:
    plan = one_cell(4)
    made = []
    for number in range(len(plan.trials)):
        trial = MAKERS["log flush"](plan, number)
        latency = load_of(trial).latency_us
        assert latency is not None
        idle = activity(("computing", None, 0.1, 0.1))
        made.append(elsewhere(change(trial, usage__activity=idle), latency.mean * 0.8 / 20))
    cell = limit_of(plan, made)
    assert cell.limit == "network"
    assert {one.instrument for one in cell.supporting} == {"clients", "threads"}
    assert " of the mean time; round trips take " in cell.sentence.text


def test_the_load_is_no_party_at_the_databases_cpus() -> None:
    cell = limited("CPU", 8, 1.0)
    (cpu,) = (one for one in cell.demands if one.centre == "CPU")
    beside = limit_of(one_cell(8), [MAKERS["CPU"](one_cell(8), number) for number in range(3)])
    (both,) = (one for one in beside.demands if one.centre == "CPU")
    assert cpu.demand_us < both.demand_us


def test_a_full_load_host_is_the_load_generators_limit() -> None:
    cell = limited("load generator", 8, 1.0, host_cpu_busy_s=4 * 30.0 * 0.95)
    assert "the CPUs of load host load-1 are 95% busy" in {
        one.says.text for one in cell.signals if one.supports
    }


def test_its_demands_are_not_known_on_another_disk() -> None:
    plan = one_cell()
    trials = [elsewhere(MAKERS["log flush"](plan, number), 100.0) for number in range(len(plan.trials))]
    seen = observe(Gathered(plan, make_machine(plan), trials, {}), plan.cells[0])
    assert seen is not None
    why = why_not(seen)
    assert why is not None
    assert "on other machines" in why.text
