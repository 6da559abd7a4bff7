"""Each check fails for its own reason, and says nothing about a sound trial."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from diskproof.audit.check import Evidence
from diskproof.audit.registry import TRIAL_CHECKS, audit_trial, bars_comparison
from diskproof.results.load import Iterations, LoadError, Operation
from diskproof.results.machine import Machine
from diskproof.results.plan import Cell, Phases, Plan
from diskproof.results.trial import Finding, HeldCpus, OpenFile, Setting, Trial
from diskproof.server.durability import commits_wait_for_flush
from diskproof.server.tuning import TUNING, tuned_variables
from diskproof.study.model import LEVELS
from diskproof.study.part import Family
from support.trials import (
    DISK_DEVICE,
    MIB,
    change,
    load_of,
    make_machine,
    make_places,
    make_plan,
    make_series,
    make_trial,
    make_trials,
    mean_latency_us,
    usage_of,
)
from support.virtual import make_facts

PLAN = make_plan()
MACHINE = make_machine(PLAN)


def find_cell(plan: Plan, storage: str = "disk", tuning: str = "safest", clients: int = 8) -> Cell:
    wanted = (storage, tuning, clients)
    return next(cell for cell in plan.cells if (cell.storage, cell.tuning, cell.clients) == wanted)


def trial_of(cell: Cell) -> Trial:
    """Return a sound trial of one cell of the plan."""
    return make_trial(PLAN, next(one for one in PLAN.trials if one.cell == cell.id))


def audit(
    trial_changes: dict[str, Any] | None = None,
    *,
    plan: Plan = PLAN,
    machine: Machine | None = MACHINE,
    series: Sequence[float] = (),
    rate: float | None = None,
    **where: Any,
) -> dict[str, Finding]:
    """Return the findings, by check, of one trial in which the given fields differ from a sound one's."""
    cell = find_cell(plan, **where)
    planned = next(one for one in plan.trials if one.cell == cell.id)
    trial = make_trial(plan, planned, rate, **(trial_changes or {}))
    findings = audit_trial(Evidence(trial, cell, plan, machine, series))
    return {finding.check: finding for finding in findings}


# ---------------------------------------------------------------- sound trials


def test_sound_trials_raise_nothing_but_notes() -> None:
    trials = make_trials(PLAN)
    series = make_series(trials)
    for trial in trials:
        evidence = Evidence(trial, PLAN.cell(trial.cell), PLAN, MACHINE, series[trial.id])
        assert {finding.severity for finding in audit_trial(evidence)} <= {"note"}


def test_a_clean_short_run_is_not_called_invalid() -> None:
    """Two seconds, in memory, two cores shared by server and clients: quick looks stay usable."""
    plan = make_plan(measure_s=2.0)
    for seed in range(20):
        for trial in make_trials(plan, seed=seed, spread=0.1):
            # Each client's transaction under way at either end weighs much in two seconds.
            edges = 1 + 0.9 * mean_latency_us(trial) / 1e6 / 2
            jittered = change(trial, load__latency_us__mean=mean_latency_us(trial) * edges)
            findings = audit_trial(Evidence(jittered, plan.cell(trial.cell), plan, MACHINE))
            assert not [finding for finding in findings if finding.severity == "invalid"]


def test_a_trial_without_machine_facts_counters_or_files_is_still_audited() -> None:
    findings = audit({"usage": None, "data": None, "settings": [], "open_files": []}, machine=None)
    assert set(findings) == {"placement"}
    assert findings["placement"].severity == "warning"


def test_every_check_says_why_what_to_do_and_who_says_so() -> None:
    assert len({one.name for one in TRIAL_CHECKS}) == len(TRIAL_CHECKS)
    for one in TRIAL_CHECKS:
        assert one.reason.endswith(".")
        assert one.remedy
        assert one.source


# ---------------------------------------------------------------- the trial itself


def test_finished_names_a_trial_that_broke_off_without_a_word() -> None:
    finding = audit({"finished": False, "load": None})["finished"]
    assert finding.severity == "invalid"
    assert "--resume" in finding.remedy


def test_finished_adds_nothing_to_an_explanation() -> None:
    died = Finding(check="finished", severity="invalid", message="the server died")
    assert audit({"finished": False, "load": None, "findings": [died]}) == {}


def test_a_trial_that_measured_nothing_is_invalid_even_if_it_says_it_finished() -> None:
    assert audit({"load": None})["finished"].severity == "invalid"


# ---------------------------------------------------------------- the load


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_littles_law_catches_figures_that_do_not_belong_together(factor: float) -> None:
    mean_us = mean_latency_us(trial_of(find_cell(PLAN)))
    wrong = {"load__latency_us__mean": mean_us * factor, "load__statement_types": []}
    finding = audit(wrong)["littles-law"]
    assert finding.severity == "invalid"
    assert "of 8 clients, but all were to be busy" in finding.message


def test_littles_law_has_no_force_where_clients_starve_through_the_phase() -> None:
    """Eight writers of one SQLite database: some wait for seconds, and a short phase ends before they do."""
    plan = make_plan(measure_s=1.5)
    starved: dict[str, Any] = {"load__latency_us__mean": 4_400.0, "load__latency_us__max": 1_230_000.0}
    finding = audit(starved, plan=plan, rate=594.0)["littles-law"]
    assert finding.severity == "warning"
    assert "2.61 of 8 clients" in finding.message
    assert "latencies are understated" in finding.message
    assert "`measure_s = 13`" in finding.remedy
    starved["load__statement_types"] = []
    assert audit(starved, plan=make_plan(measure_s=60.0), rate=594.0)["littles-law"].severity == "invalid"


def test_clients_that_were_busy_statement_by_statement_are_not_called_idle() -> None:
    """One long transaction at the end of a short phase: missing in the latencies, not in the statements'."""
    plan = make_plan(measure_s=1.5)
    cut_off = {"load__latency_us__mean": 1e6 / 81 * 0.89, "load__latency_us__max": 51_577.0}
    finding = audit(cut_off, plan=plan, rate=81.0, clients=1)["littles-law"]
    assert finding.severity == "warning"
    assert "0.89 of 1 client;" in finding.message
    carried_over = {"load__latency_us__mean": 8e6 / 181 * 1.3, "load__latency_us__max": 720_000.0}
    assert "overstated" in audit(carried_over, plan=plan, rate=181.0)["littles-law"].message


def test_tail_computes_what_the_slowest_must_average() -> None:
    # p95 10 ms, mean 20 ms: the slowest 5 % average at least (20 - 9.5) / 0.05 = 210 ms.
    percentiles = {"50": 8_000.0, "95": 10_000.0}
    finding = audit(
        {"load__latency_us__mean": 20_000.0, "load__latency_us__percentiles": percentiles}, rate=400.0
    )["tail"]
    assert finding.severity == "warning"
    assert "210 ms" in finding.message


def test_tail_is_not_read_from_too_few_transactions() -> None:
    percentiles = {"50": 8_000.0, "95": 10_000.0}
    changes = {
        "load__latency_us__mean": 20_000.0,
        "load__latency_us__count": 150,
        "load__latency_us__percentiles": percentiles,
    }
    assert "tail" not in audit(changes, rate=400.0)


def test_short_warns_names_what_is_omitted_and_how_long_to_measure() -> None:
    plan = make_plan(measure_s=2.0)
    finding = audit(plan=plan, rate=20.0, clients=1)["short"]
    assert finding.severity == "warning"
    assert finding.message == "only 40 transactions were measured; p90, p95, p99, p99.9 omitted"
    assert "`measure_s = 50`" in finding.remedy  # 1000 transactions at 20 a second


def test_short_is_a_note_where_only_the_p99_is_missing() -> None:
    plan = make_plan(measure_s=2.0)
    finding = audit(plan=plan, rate=200.0, clients=1)["short"]
    assert finding.severity == "note"
    assert "p99, p99.9 omitted" in finding.message
    assert "short" not in audit(rate=200.0, clients=1)  # 6000 transactions: p99.9 alone is no matter


def test_no_transaction_at_all_is_invalid() -> None:
    nothing = {
        "load__transactions": 0,
        "load__transactions_per_s": 0.0,
        "load__statements": 0,
        "load__latency_us": None,
    }
    assert audit(nothing)["short"].severity == "invalid"


def test_rows_catch_a_load_that_found_nothing() -> None:
    statement = next(one for one in load_of(make_trial(PLAN)).statement_types if one.name == "point_select")
    missing = change(statement, rows=statement.count // 2)
    finding = audit({"load__statement_types": [missing]})["rows"]
    assert finding.severity == "invalid"
    assert "0.50 each" in finding.message
    assert "rows" not in audit({"load__statement_types": [change(statement, rows=statement.count - 1)]})


def test_failures_invalidate_and_retries_warn() -> None:
    deadlock = LoadError(
        code="1213", statement="update_index", message="Deadlock found", transient=True, count=900
    )
    failed = audit({"load__failed_transactions": 900, "load__errors": [deadlock]})["errors"]
    assert failed.severity == "invalid"
    assert "1213 in update_index: Deadlock found" in failed.message
    assert audit({"load__retries": 900})["errors"].severity == "warning"
    assert audit({"load__failed_transactions": 3})["errors"].severity == "note"
    assert "errors" not in audit({"load__retries": 20})


def test_the_client_is_judged_by_the_cpus_that_it_had() -> None:
    """26 s of 30: most of one CPU, and not half of the machine's two."""
    busy = {"load__client__cpu_user_s": 13.0, "load__client__cpu_system_s": 13.0}
    assert "client" not in audit(busy)
    held = change(PLAN, cpus=1)
    finding = audit(busy | {"held_cpus": HeldCpus(cpus=[1], server=[1], load=[1])}, plan=held)["client"]
    assert "87% of the 1 CPU" in finding.message


def test_the_client_as_bottleneck_is_invalid() -> None:
    finding = audit({"load__client__cpu_user_s": 20.0, "load__client__cpu_system_s": 31.0})["client"]
    assert finding.severity == "invalid"
    assert "the client was the bottleneck" in finding.message
    assert "85%" in finding.message  # 51 s of two CPUs over 30 s


@pytest.mark.parametrize(("seconds", "severity"), [(0.4, "note"), (1.4, "invalid")])
def test_a_job_of_less_than_a_second_is_not_judged_by_its_client(seconds: float, severity: str) -> None:
    """Three iterations: what counts is how long one takes, not all of them together."""
    plan = change(make_plan(), metrics={"complex": "seconds"})
    iterations = Iterations(count=3, mean_s=seconds, min_s=seconds, max_s=seconds, queries_per_client=10)
    changes = {
        "load__iterations": iterations,
        "load__seconds": 3 * seconds,
        "load__client__cpu_user_s": 3 * seconds * 2.3,
        "load__client__cpu_system_s": 0.0,
    }
    finding = audit(changes, plan=plan)["client"]
    assert finding.severity == severity
    assert "115% of the 2 CPUs" in finding.message


def test_a_client_that_waits_for_a_cpu_is_told_of() -> None:
    measured_s = PLAN.measure_s
    assert "client" not in audit({"load__client__waited_for_cpu_s": None})
    assert "client" not in audit({"load__client__waited_for_cpu_s": 0.01 * measured_s})
    finding = audit({"load__client__waited_for_cpu_s": 100.0 * measured_s})["client"]
    assert finding.severity == "warning"
    assert "without a CPU" in finding.message


def test_a_client_that_blocks_has_no_delay_to_judge() -> None:
    assert "client" not in audit({"load__client__delay_mean_us": None, "load__client__delay_max_us": None})


def test_an_embedded_database_is_not_its_own_bottleneck() -> None:
    plan = make_plan(servers=("sqlite",))
    busy = {"load__client__cpu_user_s": 30.0, "load__client__cpu_system_s": 29.0}
    assert "client" not in audit(busy, plan=plan, machine=make_machine(plan))


def test_replies_that_lie_waiting_count_once_a_statement() -> None:
    # 8 clients at 400/s: 20 ms a transaction of 20 statements; 60 us each make 1.2 ms, 6 %.
    finding = audit({"load__client__delay_mean_us": 60.0}, rate=400.0)["client"]
    assert finding.severity == "warning"
    assert "6.0%" in finding.message
    assert audit({"load__client__delay_mean_us": 20.0}, rate=400.0)["client"].severity == "note"


# ---------------------------------------------------------------- steadiness


def test_a_warm_up_inside_the_measured_phase_is_named_with_its_length() -> None:
    random = np.random.default_rng(1)
    series = np.concatenate([np.full(10, 200.0), np.full(20, 400.0)]) * random.normal(1, 0.02, 30)
    finding = audit(series=series.tolist(), rate=333.0)["steady"]
    assert finding.severity == "warning"
    assert "first 10 s" in finding.message
    assert "`warm_up_s = 20`" in finding.remedy


def test_a_remedy_names_the_table_that_decides_how_long_is_measured() -> None:
    random = np.random.default_rng(1)
    series = np.concatenate([np.full(10, 200.0), np.full(20, 400.0)]) * random.normal(1, 0.02, 30)
    own = change(PLAN, phases={"complex": Phases(warm_up_s=3, measure_s=30)})
    steady = audit(plan=own, series=series.tolist(), rate=333.0)["steady"]
    assert steady.remedy == "`warm_up_s = 13` or more in `[workloads.complex]`"
    short = audit(plan=own, rate=1.0, clients=1)["short"]
    assert "or more in `[workloads.complex]`" in short.remedy


def test_a_series_that_never_settles_is_named() -> None:
    series = np.linspace(600, 200, 30).tolist()
    finding = audit(series=series, rate=400.0)["steady"]
    assert "never became steady" in finding.message
    assert "-" in finding.message


def test_noise_is_seldom_taken_for_unsteadiness() -> None:
    random = np.random.default_rng(2)
    alarms = sum(
        "steady" in audit(series=(430 * random.normal(1, 0.1, 30)).tolist(), rate=430.0) for _ in range(200)
    )
    assert alarms <= 8


def test_too_few_bins_say_nothing() -> None:
    assert "steady" not in audit(series=[1.0, 400.0] * 9)


# ---------------------------------------------------------------- the server


def test_settings_that_do_not_hold_are_named_with_both_values() -> None:
    wrong = Setting(name="sync_binlog", requested="1", observed="0", holds=False, level=True)
    unknown = Setting(name="innodb_turbo", requested="ON", observed=None, holds=False)
    assert (
        "`sync_binlog` reads back as 0, but 1 was requested"
        in audit({"settings": [wrong]})["settings"].message
    )
    finding = audit({"settings": [unknown]})["settings"]
    assert finding.severity == "invalid"
    assert "no variable `innodb_turbo`" in finding.message


def test_a_misplaced_file_is_named_with_where_it_lies_and_should_lie() -> None:
    stray = OpenFile(
        path="/srv/disk/data/ib_logfile0", role="redo", device_number=DISK_DEVICE, as_declared=False
    )
    finding = audit({"open_files": [stray]}, storage="dram")["placement"]
    assert finding.severity == "invalid"
    assert "/srv/disk/data/ib_logfile0 lies on device 254:1 (ext4 on vda)" in finding.message
    assert (
        "redo of storage `dram` was declared to lie under /srv/dram/redo on device 0:45 (tmpfs)"
        in finding.message
    )


def test_a_file_of_no_role_outside_the_trial_is_named() -> None:
    stray = OpenFile(path="/var/lib/elsewhere", role=None, device_number="9:9", as_declared=False)
    sound = OpenFile(path="/srv/disk/data/ibdata1", role="data", device_number=DISK_DEVICE, as_declared=True)
    finding = audit({"open_files": [stray, sound]})["placement"]
    assert "no role's file" in finding.message
    assert "device 9:9" in finding.message


@pytest.mark.parametrize("engine", ["MyISAM", None, "InnoDB,MyISAM"])
def test_another_engine_than_declared_is_invalid(engine: str | None) -> None:
    assert audit({"data__engine": engine})["engine"].severity == "invalid"


def test_an_engine_that_nobody_declared_is_no_matter() -> None:
    assert "engine" not in audit({"data__declared_engine": None, "data__engine": "Aria"})
    assert "engine" not in audit({"data__declared_engine": "innodb"})


# ---------------------------------------------------------------- the storage


def test_reading_data_that_fits_in_memory_tests_memory() -> None:
    finding = audit({"load__writes": 0})["data-size"]
    assert finding.severity == "warning"
    assert "this tests memory, not storage" in finding.message
    assert "fits in the buffer pool (128 MiB)" in finding.message


def test_data_size_is_a_note_where_commits_reach_storage_or_nothing_is_compared() -> None:
    assert audit()["data-size"].severity == "note"
    alone = make_plan(storages=("disk",))
    assert audit({"load__writes": 0}, plan=alone)["data-size"].severity == "note"


def test_of_a_job_nothing_is_said_about_data_that_it_makes_itself() -> None:
    """It may create and drop tables all the time, with not one INSERT among its statements."""
    plan = change(make_plan(), metrics={"complex": "seconds"})
    parts = [Operation(test="create", name="create+drop", clients=1, planned=9, count=9, seconds=9.0)]
    assert "data-size" not in audit({"load__writes": 0, "load__operations": parts}, plan=plan)


def test_data_between_pool_and_memory_may_come_from_the_page_cache() -> None:
    assert "page cache" in audit({"data__data_bytes": 1024 * MIB})["data-size"].message
    assert "data-size" not in audit({"data__data_bytes": 8192 * MIB})


def machine_with(virtualised: str | None = None, **device: Any) -> Machine:
    return make_machine(
        PLAN, virtualised=virtualised, places=[*make_places("dram"), *make_places("disk", **device)]
    )


def test_a_trial_is_judged_by_where_its_own_roles_lay() -> None:
    # As after `--resume`: the machine's facts are those of the first run, with other loop devices.
    own = make_places("disk", rotational=True, model="ST4000NM")
    finding = audit({"places": own}, machine=machine_with(rotational=False), rate=500.0, clients=1)["physics"]
    assert finding.severity == "invalid"
    assert "physics" not in audit(machine=machine_with(rotational=False), rate=500.0, clients=1)


def test_commits_faster_than_a_spindle_came_from_a_cache() -> None:
    spinning = machine_with(rotational=True, model="ST4000NM")
    finding = audit(machine=spinning, rate=500.0, clients=1)["physics"]
    assert finding.severity == "invalid"
    assert "500 durable commits a second and client" in finding.message
    assert "at most 250" in finding.message
    assert "physics" not in audit(machine=spinning, rate=120.0, clients=1)
    assert "physics" not in audit(machine=spinning, rate=1000.0, clients=8)  # shared flushes: 125 each


def test_what_a_virtual_disk_can_do_is_its_models_to_say() -> None:
    spinning = machine_with(rotational=True, model="virtual: A disk of 15,000 rpm")
    places = [change(place, virtual=make_facts()) for place in spinning.places]
    assert "physics" in audit(machine=spinning, rate=500.0, clients=1)
    assert "physics" not in audit(machine=change(spinning, places=places), rate=500.0, clients=1)


def test_physics_exempts_what_promises_no_durability() -> None:
    spinning = machine_with(rotational=True, model="ST4000NM")
    assert "physics" not in audit(machine=spinning, rate=500.0, clients=1, tuning="fast")
    assert "physics" not in audit({"load__writes": 0}, machine=spinning, rate=500.0, clients=1)
    assert "physics" not in audit(machine=spinning, rate=600.0, clients=1, storage="dram")
    assert "physics" not in audit(machine=machine_with(rotational=False), rate=500.0, clients=1)


def with_setting(name: str, value: str) -> dict[str, Any]:
    settings = trial_of(find_cell(PLAN)).settings
    changed = Setting(name=name, requested=value, observed=value, holds=True, level=True)
    return {"settings": [*(one for one in settings if one.name != name), changed]}


def test_physics_judges_by_what_the_server_answered_not_by_the_levels_name() -> None:
    spinning = machine_with(rotational=True, model="ST4000NM")
    own = make_plan(tunings=("safest", "mine"))  # the builder gives `mine` the settings of safest
    assert "physics" in audit(plan=own, machine=spinning, rate=500.0, clients=1, tuning="mine")
    overridden = with_setting("innodb_flush_log_at_trx_commit", "2")
    assert "physics" not in audit(overridden, machine=spinning, rate=500.0, clients=1)
    strict = with_setting("innodb_flush_log_at_trx_commit", "1")
    assert "physics" in audit(strict, machine=spinning, rate=500.0, clients=1, tuning="fast")


@pytest.mark.parametrize(
    ("server", "settings", "waits"),
    [
        ("postgresql", {"synchronous_commit": "on", "fsync": "on"}, True),
        ("postgresql", {"synchronous_commit": "on", "fsync": "off"}, False),
        ("postgresql", {"synchronous_commit": "off", "fsync": "on"}, False),
        ("sqlite", {"synchronous": "FULL"}, True),
        ("sqlite", {"synchronous": "normal"}, False),
    ],
)
def test_each_family_says_in_its_own_words_whether_commits_wait(
    server: str, settings: dict[str, str], waits: bool
) -> None:
    plan = make_plan(servers=(server,))
    facts = machine_with(rotational=True, model="ST4000NM")
    machine = change(facts, servers=make_machine(plan).servers)
    answered = [
        Setting(name=name, requested=value, observed=value, holds=True) for name, value in settings.items()
    ]
    found = audit({"settings": answered}, plan=plan, machine=machine, rate=500.0, clients=1)
    assert ("physics" in found) == waits


@pytest.mark.parametrize("family", list(TUNING))
def test_of_the_named_levels_safest_alone_waits(family: Family) -> None:
    waiting = [level for level in LEVELS if commits_wait_for_flush(family, tuned_variables(family, level))]
    assert waiting == ["safest"]


@pytest.mark.parametrize("virtual", [{"virtualised": "kvm"}, {"model": None}])
def test_a_virtual_disk_that_calls_itself_rotational_is_noted(virtual: dict[str, Any]) -> None:
    finding = audit(machine=machine_with(rotational=True, **virtual), rate=500.0, clients=1)["physics"]
    assert finding.severity == "note"
    assert "virtual" in finding.message


def without_flushes(clients: int = 8) -> dict[str, Any]:
    trial = trial_of(find_cell(PLAN, clients=clients))
    return {"usage__devices": {"vda": change(usage_of(trial).devices["vda"], flushes=0)}}


def test_durable_commits_without_a_flush_were_not_paid_for() -> None:
    finding = audit(without_flushes())["physics"]
    assert finding.severity == "warning"
    assert "not one flush reached vda" in finding.message
    assert "rw,relatime" in finding.remedy


def test_no_flush_on_a_device_that_never_counted_one_bars_nothing() -> None:
    """Volumes (LVM, LUKS, RAID) and some drivers pass flushes on without counting them."""
    blind = machine_with(counts_flushes=False)
    finding = audit(without_flushes(), machine=blind)["physics"]
    assert finding.severity == "note"
    assert "had counted none there before either" in finding.message
    assert "physics" not in audit(machine=blind)


def test_barriers_off_are_found_whatever_the_device_counts() -> None:
    machine = machine_with(counts_flushes=False, fua=True)
    places = [change(place, mount_options="rw,relatime,nobarrier") for place in machine.places]
    finding = audit(without_flushes(), machine=change(machine, places=places))["physics"]
    assert finding.severity == "warning"
    assert "without `nobarrier`" in finding.remedy
    assert bars_comparison(finding)
    flushed = audit(machine=change(machine, places=places))["physics"]
    assert flushed.severity == "warning", "another file system on the disk may have flushed"


@pytest.mark.parametrize("asked", ["barrier=0", "noatime, nobarrier"])
def test_barriers_that_the_study_itself_turns_off_bar_nothing(asked: str) -> None:
    places = [
        change(place, mount_options="rw,relatime,nobarrier", asked_options=asked)
        for place in machine_with().places
    ]
    finding = audit(without_flushes(), machine=change(machine_with(), places=places))["physics"]
    assert finding.severity == "note"
    assert "as the study asks (`nobarrier`) no flush reaches vda" in finding.message
    assert not bars_comparison(finding)


def test_other_options_that_the_study_asks_for_are_no_excuse() -> None:
    places = [
        change(place, mount_options="rw,noatime,nobarrier", asked_options="noatime")
        for place in machine_with().places
    ]
    finding = audit(without_flushes(), machine=change(machine_with(), places=places))["physics"]
    assert finding.severity == "warning"


def test_a_device_that_takes_fua_may_have_needed_no_flush() -> None:
    finding = audit(without_flushes(), machine=machine_with(fua=True))["physics"]
    assert finding.severity == "note"
    assert "needs no flush (FUA)" in finding.message


def test_flushes_of_a_volume_are_those_of_the_disks_below_it() -> None:
    volume = machine_with(name="dm-0", leaves=["vda", "vdb"])
    disk = usage_of(trial_of(find_cell(PLAN))).devices["vda"]
    silent = change(disk, flushes=0)
    both = {"usage__devices": {"vda": silent, "vdb": silent}}
    finding = audit(both, machine=volume)["physics"]
    assert finding.severity == "warning"
    assert "not one flush reached vda or vdb" in finding.message
    assert "physics" not in audit({"usage__devices": {"vda": silent, "vdb": disk}}, machine=volume)
    assert "physics" not in audit({"usage__devices": {"dm-0": silent}}, machine=volume)


def test_a_disk_without_a_volatile_cache_needs_no_flush() -> None:
    machine = machine_with(write_cache="write through")
    assert audit(without_flushes(), machine=machine)["physics"].severity == "note"


def seen_by_device(share: float) -> dict[str, Any]:
    """Return a minute in which the device saw a share of the 1 GiB that the server wrote."""
    written = 1024 * MIB
    device = usage_of(trial_of(find_cell(PLAN))).devices["vda"]
    return {
        "usage__seconds": 60.0,
        "usage__server_written_bytes": written,
        "usage__devices": {"vda": change(device, written_bytes=round(written * share))},
    }


def test_a_device_that_saw_little_of_what_was_written_is_noted() -> None:
    finding = audit(seen_by_device(0.1))["bytes-written"]
    assert finding.severity == "note"
    assert "the server wrote 1 GiB, of which vda saw 102.4 MiB" in finding.message
    assert "not written it back yet" in finding.message


def test_writes_that_may_still_be_in_the_page_cache_are_not_missed() -> None:
    # Measured at safest: the device saw 1.5 to 2 times what InnoDB wrote; at fast half, in 1.5 s.
    assert "bytes-written" not in audit(seen_by_device(0.5))
    assert "bytes-written" not in audit(seen_by_device(0.1) | {"usage__seconds": 30.0})
    assert "bytes-written" not in audit(seen_by_device(0.1), tuning="fast")
    assert "bytes-written" not in audit(seen_by_device(0.1) | {"usage__server_written_bytes": MIB})


def test_bytes_are_not_compared_where_they_may_be_fewer_or_are_unknown() -> None:
    machine = machine_with()
    packed = [change(place, mount_options="rw,compress=zstd:1") for place in machine.places]
    assert "bytes-written" not in audit(seen_by_device(0.1), machine=change(machine, places=packed))
    assert "bytes-written" not in audit(seen_by_device(0.1), machine=machine_with(leaves=["vda", "vdb"]))
    assert "bytes-written" not in audit(seen_by_device(0.1) | {"usage__server_written_bytes": None})


# ---------------------------------------------------------------- the host


def test_stolen_and_foreign_cpu_time_are_named() -> None:
    finding = audit({"usage__host_cpu_steal_s": 6.0})["host-busy"]
    assert "withheld 10%" in finding.message
    busy_s = usage_of(trial_of(find_cell(PLAN))).host_cpu_busy_s or 0
    finding = audit({"usage__host_cpu_busy_s": busy_s + 18.0})["host-busy"]
    assert finding.severity == "warning"
    assert "other work took 32%" in finding.message  # 18 s, and 1.2 s of quiet, of 60


def test_work_on_cpus_that_are_not_ours_is_no_other_work() -> None:
    """Two CPUs of a host with 64: its counters cover all of them, and most of what they do is not here."""
    host = make_machine(PLAN, cpus=2, host_cpus=64)
    assert "host-busy" not in audit({"usage__host_cpu_busy_s": 900.0}, machine=host)
    whole = make_machine(PLAN, cpus=64, host_cpus=64)
    assert "other work took" in audit({"usage__host_cpu_busy_s": 900.0}, machine=whole)["host-busy"].message


def test_stolen_time_is_a_share_of_the_whole_hosts() -> None:
    host = make_machine(PLAN, cpus=2, host_cpus=64)
    assert "host-busy" not in audit({"usage__host_cpu_steal_s": 6.0}, machine=host)
    assert "withheld 10%" in audit({"usage__host_cpu_steal_s": 192.0}, machine=host)["host-busy"].message


def test_other_work_is_not_guessed_where_the_server_was_not_counted() -> None:
    assert "host-busy" not in audit({"usage__server_cpu_s": None})


def test_other_work_on_the_cpus_of_server_and_load_is_named() -> None:
    """One of two CPUs is theirs: what virtual disks do on the other takes nothing from them."""
    used = usage_of(trial_of(find_cell(PLAN)))
    ours_s = used.server_cpu_s or 0
    machine = make_machine(PLAN, held_cpus=[1])
    alone = {"usage__host_cpu_busy_s": ours_s + 30.0, "usage__held_cpu_busy_s": ours_s + 1.5}
    assert "host-busy" in audit(alone | {"usage__held_cpu_busy_s": None})
    assert "host-busy" not in audit(alone, machine=machine)
    shared = audit(alone | {"usage__held_cpu_busy_s": ours_s + 9.0}, machine=machine)["host-busy"]
    assert "of the CPU time that server and load are held to" in shared.message


HELD = HeldCpus(cpus=[2, 3], server=[2, 3], load=[2, 3])


def test_a_server_and_a_load_on_their_cpus_are_sound() -> None:
    held = change(PLAN, cpus=2)
    assert "held-cpus" not in audit({"held_cpus": HELD}, plan=held)
    assert "held-cpus" not in audit({"held_cpus": change(HELD, server=None)}, plan=held)  # bare files
    assert "held-cpus" not in audit()


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (None, "nothing tells which they had"),
        (change(HELD, server=[0, 1, 2, 3]), "the server was to be held to CPU 2, 3, and might run on CPU 0,"),
        (change(HELD, server=[2]), "the server was to be held to CPU 2, 3, and might run on CPU 2"),
        (change(HELD, load=[0]), "the load generator was to be held to CPU 2, 3, and might run on CPU 0"),
        (change(HELD, load=[]), "the load generator was to be held to CPU 2, 3, and could not be asked"),
        (
            HeldCpus(cpus=[3], server=[3], load=[3]),
            "gives server and load 2 CPUs, and they were held to CPU 3",
        ),
    ],
)
def test_a_server_or_a_load_on_other_cpus_is_invalid(held: HeldCpus | None, told: str) -> None:
    finding = audit({"held_cpus": held}, plan=change(PLAN, cpus=2))["held-cpus"]
    assert finding.severity == "invalid"
    assert told in finding.message
