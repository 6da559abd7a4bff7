"""Checks of the machines that made a trial's load together."""

from typing import Any

from diskproof.results.load import ClientAccount
from diskproof.results.load_host import LoadHost
from support.audited import PLAN, audit, find_cell, trial_of
from support.load_hosts import make_load_hosts
from support.trials import load_of


def hosts(**changes: Any) -> list[LoadHost]:
    """Return two machines with half of the clients each; the second is changed."""
    return make_load_hosts(load_of(trial_of(find_cell(PLAN))), **changes)


def found(**changes: Any) -> tuple[str, str] | None:
    finding = audit({"load_hosts": hosts(**changes)}).get("load-hosts")
    return None if finding is None else (finding.severity, finding.message.text)


def test_sound_load_hosts_pass() -> None:
    assert found() is None
    assert found(began_after_us=800.0) is None


def test_each_load_host_obeys_littles_law() -> None:
    severity, text = found(transactions_per_s=hosts()[0].transactions_per_s * 0.8) or ("", "")
    assert severity == "invalid"
    assert "on load host two throughput x mean latency accounts for 3.1" in text


def test_a_full_load_host_is_the_bottleneck() -> None:
    busy = ClientAccount(workers=2, cpu_user_s=30.0, cpu_system_s=24.0)
    severity, text = found(client=busy, host_cpu_busy_s=54.0) or ("", "")
    assert severity == "invalid"
    assert "on load host two the load generator used 90% of the 2 CPUs" in text


def test_other_work_on_a_load_host_is_named() -> None:
    assert found(host_cpu_busy_s=20.0) == (
        "warning",
        "on load host two other processes took 27% of the CPU time",
    )
    assert found(host_cpu_steal_s=6.0) == (
        "warning",
        "on load host two the hypervisor withheld 10% of the CPU time",
    )


def test_load_hosts_begin_together() -> None:
    severity, text = found(began_after_us=5000.0) or ("", "")
    assert severity == "warning"
    assert "load host two may have begun" in text


def test_the_load_takes_no_cpu_of_the_databases_machine() -> None:
    """Without the load's own CPU time, what the database's machine did besides the server is other work."""
    trial = trial_of(find_cell(PLAN))
    assert trial.usage is not None
    server_s = trial.usage.server_cpu_s or 0.0
    busy = {"usage__host_cpu_busy_s": server_s + 10.0}
    assert "host-busy" in audit({**busy, "load_hosts": hosts()})
