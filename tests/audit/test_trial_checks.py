"""Checks of a trial and its load: each fails for its own reason, and says nothing about a sound trial."""

from typing import Any

import numpy as np
import pytest

from diskproof.audit.check import Evidence
from diskproof.audit.registry import TRIAL_CHECKS, audit_trial
from diskproof.results.load import Iterations, LoadError
from diskproof.results.plan import Phases
from diskproof.results.trial import Finding, HeldCpus
from support.audited import MACHINE, PLAN, audit, find_cell, trial_of
from support.trials import (
    change,
    load_of,
    make_machine,
    make_plan,
    make_series,
    make_trial,
    make_trials,
    mean_latency_us,
)

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
    assert "--resume" in finding.remedy.text


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
    assert "of 8 clients, but all should be busy" in finding.message.text


def test_littles_law_has_no_force_where_clients_starve_through_the_phase() -> None:
    """Eight writers of one SQLite database: some wait for seconds, and a short phase ends before they do."""
    plan = make_plan(measure_s=1.5)
    starved: dict[str, Any] = {"load__latency_us__mean": 4_400.0, "load__latency_us__max": 1_230_000.0}
    finding = audit(starved, plan=plan, rate=594.0)["littles-law"]
    assert finding.severity == "warning"
    assert "2.61 of 8 clients" in finding.message.text
    assert "so they are too low" in finding.message.text
    assert "`measure_s = 13`" in finding.remedy.text
    starved["load__statement_types"] = []
    assert audit(starved, plan=make_plan(measure_s=60.0), rate=594.0)["littles-law"].severity == "invalid"


def test_clients_that_were_busy_statement_by_statement_are_not_called_idle() -> None:
    """One long transaction at the end of a short phase: missing in the latencies, not in the statements'."""
    plan = make_plan(measure_s=1.5)
    cut_off = {"load__latency_us__mean": 1e6 / 81 * 0.89, "load__latency_us__max": 51_577.0}
    finding = audit(cut_off, plan=plan, rate=81.0, clients=1)["littles-law"]
    assert finding.severity == "warning"
    assert "0.89 of 1 client;" in finding.message.text
    carried_over = {"load__latency_us__mean": 8e6 / 181 * 1.3, "load__latency_us__max": 720_000.0}
    assert "so they are too high" in audit(carried_over, plan=plan, rate=181.0)["littles-law"].message.text


def test_tail_computes_what_the_slowest_must_average() -> None:
    # p95 10 ms, mean 20 ms: the slowest 5 % average at least (20 - 9.5) / 0.05 = 210 ms.
    percentiles = {"50": 8_000.0, "95": 10_000.0}
    finding = audit(
        {"load__latency_us__mean": 20_000.0, "load__latency_us__percentiles": percentiles}, rate=400.0
    )["tail"]
    assert finding.severity == "warning"
    assert "210 ms" in finding.message.text


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
    assert finding.message.text == "only 40 transactions were measured; p90, p95, p99, p99.9 omitted"
    assert "`measure_s = 50`" in finding.remedy.text  # 1000 transactions at 20 a second


def test_short_is_a_note_where_only_the_p99_is_missing() -> None:
    plan = make_plan(measure_s=2.0)
    finding = audit(plan=plan, rate=200.0, clients=1)["short"]
    assert finding.severity == "note"
    assert "p99, p99.9 omitted" in finding.message.text
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
    assert "0.50 each" in finding.message.text
    assert "rows" not in audit({"load__statement_types": [change(statement, rows=statement.count - 1)]})


def test_failures_invalidate_and_retries_warn() -> None:
    deadlock = LoadError(
        code="1213", statement="update_index", message="Deadlock found", transient=True, count=900
    )
    failed = audit({"load__failed_transactions": 900, "load__errors": [deadlock]})["errors"]
    assert failed.severity == "invalid"
    assert failed.message.text.endswith("; most often 1213: Deadlock found")
    elsewhere = change(deadlock, statement="delete")
    again = audit({"load__failed_transactions": 900, "load__errors": [elsewhere]})["errors"]
    assert again == failed, "trials that differ in the statement have one finding"
    assert audit({"load__retries": 900})["errors"].severity == "warning"
    assert audit({"load__failed_transactions": 3})["errors"].severity == "note"
    assert "errors" not in audit({"load__retries": 20})


def test_the_client_is_judged_by_the_cpus_that_it_had() -> None:
    """26 s of 30: most of one CPU, and not half of the machine's two."""
    busy = {"load__client__cpu_user_s": 13.0, "load__client__cpu_system_s": 13.0}
    assert "client" not in audit(busy)
    held = change(PLAN, cpus=1)
    finding = audit(busy | {"held_cpus": HeldCpus(cpus=[1], server=[1], load=[1])}, plan=held)["client"]
    assert "87% of the 1 CPU" in finding.message.text


def test_the_client_as_bottleneck_is_invalid() -> None:
    finding = audit({"load__client__cpu_user_s": 20.0, "load__client__cpu_system_s": 31.0})["client"]
    assert finding.severity == "invalid"
    assert "the client was the bottleneck" in finding.message.text
    assert "85%" in finding.message.text  # 51 s of two CPUs over 30 s


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
    assert "115% of the 2 CPUs" in finding.message.text


def test_a_client_that_waits_for_a_cpu_is_told_of() -> None:
    measured_s = PLAN.measure_s
    assert "client" not in audit({"load__client__waited_for_cpu_s": None})
    assert "client" not in audit({"load__client__waited_for_cpu_s": 0.01 * measured_s})
    finding = audit({"load__client__waited_for_cpu_s": 100.0 * measured_s})["client"]
    assert finding.severity == "warning"
    assert "waited for a CPU" in finding.message.text


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
    assert "6.0%" in finding.message.text
    assert audit({"load__client__delay_mean_us": 20.0}, rate=400.0)["client"].severity == "note"


# ---------------------------------------------------------------- steadiness


def test_a_warm_up_inside_the_measured_phase_is_named_with_its_length() -> None:
    random = np.random.default_rng(1)
    series = np.concatenate([np.full(10, 200.0), np.full(20, 400.0)]) * random.normal(1, 0.02, 30)
    finding = audit(series=series.tolist(), rate=333.0)["steady"]
    assert finding.severity == "warning"
    assert "first 10 s" in finding.message.text
    assert "`warm_up_s = 20`" in finding.remedy.text


def test_a_remedy_names_the_table_that_decides_how_long_is_measured() -> None:
    random = np.random.default_rng(1)
    series = np.concatenate([np.full(10, 200.0), np.full(20, 400.0)]) * random.normal(1, 0.02, 30)
    own = change(PLAN, phases={"complex": Phases(warm_up_s=3, measure_s=30)})
    steady = audit(plan=own, series=series.tolist(), rate=333.0)["steady"]
    assert steady.remedy.text == "`warm_up_s = 13` or more in `[workloads.complex]`"
    short = audit(plan=own, rate=1.0, clients=1)["short"]
    assert "or more in `[workloads.complex]`" in short.remedy.text


def test_a_series_that_never_settles_is_named() -> None:
    series = np.linspace(600, 200, 30).tolist()
    finding = audit(series=series, rate=400.0)["steady"]
    assert "never became steady" in finding.message.text
    assert "-" in finding.message.text


def test_noise_is_seldom_taken_for_unsteadiness() -> None:
    random = np.random.default_rng(2)
    alarms = sum(
        "steady" in audit(series=(430 * random.normal(1, 0.1, 30)).tolist(), rate=430.0) for _ in range(200)
    )
    assert alarms <= 8


def test_too_few_bins_say_nothing() -> None:
    assert "steady" not in audit(series=[1.0, 400.0] * 9)
