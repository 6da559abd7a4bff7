"""The checks of a load on bare files: each fails for its own reason, and a sound trial has no finding."""

from collections.abc import Sequence
from typing import Any

import pytest

from diskproof.audit.check import Evidence, Run
from diskproof.audit.registry import audit_run, audit_trial
from diskproof.results.load import LoadResult, StatementType
from diskproof.results.plan import Phases, Plan
from diskproof.results.trial import Finding
from support.files import CELL, MACHINE, PLAN, REQUESTS, made_load, made_trial
from support.trials import MIB, change, make_latency


def audit(
    load: LoadResult | None = None, plan: Plan = PLAN, series: Sequence[float] = (), **changes: Any
) -> dict[str, Finding]:
    found = audit_trial(Evidence(made_trial(load, **changes), CELL, plan, MACHINE, series))
    return {finding.check: finding for finding in found}


def test_a_sound_trial_has_no_finding_of_trial_or_run() -> None:
    assert audit() == {}
    trials = [change(made_trial(), id=one.id, block=one.block) for one in PLAN.trials]
    assert audit_run(Run(PLAN, MACHINE, trials)) == []


def test_syncs_are_waited_for_as_well() -> None:
    found = audit(change(made_load(), statement_types=made_load().statement_types[:2]))
    assert found["littles-law"].severity == "invalid"
    assert "account for 3.20 of 4 threads" in found["littles-law"].message.text


def test_a_storage_as_fast_as_the_cpu_is_told_and_counts() -> None:
    types = [
        StatementType.model_validate(
            {
                **made_load().statement_types[0].model_dump(),
                "count": 20_000_000,
                "latency_us": make_latency(4.0, 20_000_000, 0.1),
            }
        )
    ]
    fast = made_load(
        statement_types=types, statements=20_000_000, transactions=20_000_000, transactions_per_s=20e6 / 30
    )
    assert audit(fast)["littles-law"].severity == "note"


def test_threads_that_waited_for_a_cpu_are_told_from_figures_that_cannot_be() -> None:
    idle = change(made_load(), statement_types=made_load().statement_types[:2])
    usage = made_trial().usage
    assert usage
    busy = usage.model_copy(update={"host_cpu_busy_s": 55.0})
    assert audit(idle)["littles-law"].severity == "invalid"
    assert audit(idle, usage=busy)["littles-law"].severity == "warning"
    few = change(made_load(), seconds=made_load().known_seconds * 1.12)
    finding = audit(few)["littles-law"]
    assert finding.severity == "warning", "a storage that fewer ask at a time serves these no otherwise"
    assert "its requests a second are right" in finding.message.text
    more = change(made_load(), clients=3)
    assert audit(more, usage=busy)["littles-law"].severity == "invalid", "more than there are is an error"


def test_a_pass_is_not_held_to_its_requests() -> None:
    one_pass = change(made_load(), file_requests__one_pass=True)
    assert "littles-law" not in audit(change(one_pass, statement_types=one_pass.statement_types[:1]))


def test_a_pass_is_not_told_to_warm_up() -> None:
    rising = [100.0 + bin_ for bin_ in range(30)]
    assert "steady" in audit(series=rising)
    assert "steady" not in audit(change(made_load(), file_requests__one_pass=True), series=rising)


@pytest.mark.parametrize(
    ("what", "key", "seen_bytes"), [("read", "read_bytes", 40 * MIB), ("written", "written_bytes", 0)]
)
def test_bytes_that_never_reached_the_device_are_found(what: str, key: str, seen_bytes: int) -> None:
    trial = made_trial()
    assert trial.usage
    disk = trial.usage.devices["vda"].model_copy(update={key: seen_bytes})
    usage = trial.usage.model_copy(update={"devices": {"vda": disk}})
    found = audit(usage=usage)["arrived"]
    assert found.severity == "invalid"
    assert f"were {what}" in found.message.text
    cached = change(made_load(), file_requests__direct=False)
    assert audit(cached, usage=usage)["arrived"].severity == "note"


def test_syncs_without_a_flush_are_found() -> None:
    usage = made_trial().usage
    assert usage
    silent = usage.devices["vda"].model_copy(update={"flushes": 0})
    found = audit(usage=usage.model_copy(update={"devices": {"vda": silent}}))["physics"]
    assert "1,000 syncs of files, but no flush reached vda" in found.message.text


def test_what_the_system_does_for_fio_is_the_storages_work_and_its_own_is_not() -> None:
    in_system = made_load(client__cpu_system_s=59.0)
    assert "client" not in audit(in_system)
    by_itself = made_load(client__cpu_user_s=55.0)
    assert audit(by_itself)["client"].severity == "invalid"


def test_files_that_were_not_seen_or_lie_elsewhere_are_found() -> None:
    assert "larger `total_size`" in audit(open_files=[])["placement"].remedy.text
    [file] = made_trial().open_files
    elsewhere = file.model_copy(update={"as_declared": False, "device_number": "0:45"})
    assert audit(open_files=[elsewhere])["placement"].severity == "invalid"


def test_few_requests_are_called_requests() -> None:
    few = made_load(transactions=40, transactions_per_s=40 / 30)
    assert "only 40 requests" in audit(few)["short"].message.text


def test_other_work_on_the_machine_is_found() -> None:
    usage = made_trial().usage
    assert usage
    assert "host-busy" in audit(usage=usage.model_copy(update={"host_cpu_busy_s": 30.0}))


def test_the_hosts_cpu_time_is_of_all_the_time_it_was_counted_in() -> None:
    """Fio's start and end lie before and after its own seconds: short loads were held to be disturbed."""
    usage = made_trial().usage
    assert usage
    busy = usage.model_copy(update={"host_cpu_busy_s": 30.0, "host_cpu_steal_s": 5.0})
    assert "host-busy" in audit(usage=busy)
    assert "host-busy" not in audit(usage=busy.model_copy(update={"counted_s": 600.0}))


def test_the_start_of_fio_is_no_work_of_others() -> None:
    usage = made_trial().usage
    assert usage
    brief = usage.model_copy(update={"seconds": 0.5, "counted_s": 1.0, "host_cpu_busy_s": 0.6})
    load = change(made_load(), seconds=0.5, client__cpu_user_s=0.1, client__cpu_system_s=0.1)
    assert "host-busy" not in audit(load, usage=brief)
    busy = brief.model_copy(update={"host_cpu_busy_s": 1.6})
    assert "host-busy" in audit(load, usage=busy)


def test_a_storage_with_a_place_for_logs_is_not_asked_for_them() -> None:
    places = [
        one.model_copy(update={"path": "/srv/log"}) if one.role == "redo" else one for one in MACHINE.places
    ]
    machine = change(MACHINE, places=places)
    assert "unused-place" not in {
        finding.check for finding, _ in audit_run(Run(PLAN, machine, [made_trial()]))
    }


def test_a_phase_that_was_over_early_is_told() -> None:
    early = made_load(seconds=20.0)
    found = audit(early)["whole-phase"]
    assert found.severity == "warning"
    assert "20 s of 30 s were measured" in found.message.text
    assert "whole-phase" not in audit(change(early, file_requests__one_pass=True))
    own = change(PLAN, phases={"rndrw": Phases(warm_up_s=0.0, measure_s=20.0)})
    assert "whole-phase" not in audit(early, own)


def test_a_cold_pass_is_told_neither_of_memory_nor_of_phases() -> None:
    few = made_load(reads=40, writes=0, transactions=40, transactions_per_s=40 / 30)
    uneven = made_load(latency_us=make_latency(8_000.0, REQUESTS, 4.0))
    two = [CELL, CELL.model_copy(update={"id": "ram/rndrw/4c", "storage": "ram"})]
    plan, rates = change(PLAN, cells=two), tuple([100.0] * 20 + [800.0] * 20)
    for load, told in ((few, {"short", "steady"}), (uneven, {"tail", "steady"})):
        direct = audit_trial(Evidence(made_trial(load), CELL, plan, MACHINE, rates))
        assert told <= {finding.check for finding in direct}
        cold = change(load, file_requests__one_pass=True, file_requests__direct=False)
        found = audit_trial(Evidence(made_trial(cold), CELL, plan, MACHINE, rates))
        assert not {finding.check for finding in found} & {"data-size", "steady", "tail", "short"}


def test_a_cpu_that_the_hypervisor_withholds_is_waited_for_too() -> None:
    idle = change(made_load(), statement_types=made_load().statement_types[:2])
    usage = made_trial().usage
    assert usage
    withheld = usage.model_copy(update={"host_cpu_busy_s": 40.0, "host_cpu_steal_s": 15.0})
    assert audit(idle, usage=withheld)["littles-law"].severity == "warning"
