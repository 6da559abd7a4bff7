"""Checks over whole runs: each finds its own fault, and a sound run is told nothing worse than a note."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from diskproof.audit.check import Run
from diskproof.audit.registry import BARS_FROM, RUN_CHECKS, audit_run
from diskproof.audit.run import confounding, repeats, varying_factors
from diskproof.audit.unequal import unequal_runs
from diskproof.results.factor import Factor
from diskproof.results.imported import ImportedResult, Source
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.trial import Finding, Setting, Trial
from support.cases.runs import imported
from support.trials import (
    DISK_DEVICE,
    change,
    load_of,
    make_machine,
    make_plan,
    make_trials,
    typical_rate,
)

RESULT = ImportedResult(
    source=Source(file="a.txt", format="a tool"), name="one", load=load_of(make_trials(make_plan())[0])
)


def audit(
    plan: Plan, trials: list[Trial], machine: Machine | None = None
) -> list[tuple[str, Finding, Sequence[str]]]:
    run = Run(plan, machine or make_machine(plan), trials)
    return [(finding.check, finding, cells) for finding, cells in audit_run(run)]


def only(
    plan: Plan, trials: list[Trial], name: str, machine: Machine | None = None
) -> tuple[Finding, Sequence[str]]:
    found = [(finding, cells) for check, finding, cells in audit(plan, trials, machine) if check == name]
    assert len(found) == 1, found
    return found[0]


def test_sound_runs_raise_nothing() -> None:
    plan = make_plan(servers=("mariadb", "postgresql"), storages=("dram", "disk", "nvme"))
    warned = [finding for seed in range(12) for _, finding, _ in audit(plan, make_trials(plan, seed=seed))]
    # Two order tests at 1 and 5 % may speak now and then; nothing else may at all.
    assert {finding.check for finding in warned} <= {"order"}
    assert len(warned) <= 2


def test_every_run_check_has_its_words() -> None:
    assert all(one.reason and one.remedy and one.source for one in RUN_CHECKS)
    by_severity = {
        severity: {name for name, mildest in BARS_FROM.items() if mildest == severity}
        for severity in ("warning", "invalid")
    }
    assert by_severity == {
        "warning": {"confounding", "physics", "rate", "same-storage", "virtual-bytes"},
        "invalid": {"client", "errors", "lateness", "littles-law", "load-hosts", "short"},
    }


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("date of test", ("2012-05-09", "2012-05-10")),
        ("number of clients", ("8", "16")),
        ("terminals", ("8", "16")),
        ("of", ("/ssd/file", "/hdd/file")),
    ],
)
def test_runs_are_not_unequal_for_what_differs_in_any_two(name: str, values: tuple[str, str]) -> None:
    run = imported({"hdd": 10.0, "ssd": 20.0})
    told = {
        trial.id: change(RESULT, asked={name: value, "bs": value if name == "bs" else "4k"})
        for trial, value in zip(run.valid, values, strict=True)
    }
    assert unequal_runs.outcome(replace(run, results=told)).state == "passed"
    other = {at: change(one, asked={"bs": one.asked[name]}) for at, one in told.items()}
    assert unequal_runs.outcome(replace(run, results=other)).state == "failed"


def test_a_time_that_is_the_figure_is_no_unequal_time() -> None:
    run = imported({"hdd": 10.0, "ssd": 20.0}, seconds=300.0)
    told = {trial.id: change(RESULT, asked={"max-requests": "1000"}) for trial in run.valid}
    assert unequal_runs.outcome(run).state == "failed"
    assert unequal_runs.outcome(replace(run, results=told)).state == "passed"


def test_in_one_file_the_one_option_that_differs_was_varied_and_time_was_not() -> None:
    run = imported({"hdd": 10.0, "ssd": 20.0}, seconds=300.0)
    source = Source(file="post.txt", format="a tool", tool="tool 1.0")
    one_file = replace(run, valid=[change(trial, imported=source) for trial in run.valid])
    assert unequal_runs.outcome(one_file).state == "failed"
    alike = replace(one_file, valid=[change(trial, load__seconds=60.0) for trial in one_file.valid])
    told = {trial.id: change(RESULT, asked={"bs": trial.cell}) for trial in run.valid}
    assert unequal_runs.outcome(replace(alike, results=told)).state == "passed"


def test_workloads_differ_in_options_and_time() -> None:
    run = imported({"hdd": 10.0, "ssd": 20.0}, seconds=300.0)
    cells = [change(cell, storage="disk", workload=cell.storage) for cell in run.plan.cells]
    told = {trial.id: change(RESULT, asked={"rw": trial.cell}) for trial in run.valid}
    jobs = replace(run, plan=change(run.plan, cells=cells), results=told)
    assert unequal_runs.outcome(jobs).state == "does not apply"
    assert unequal_runs.outcome(replace(run, results=told)).state == "failed"


def test_imported_cells_with_unequal_numbers_of_runs_are_not_said_to_have_the_most() -> None:
    plan = change(make_plan(blocks=6), imported=True)
    trials = make_trials(plan)
    (found,) = [one for one, _ in repeats.findings(Run(plan, None, trials[: len(plan.cells) + 1]))]
    assert "1 to 6 runs of a cell" in found.message.text
    assert not repeats.findings(Run(plan, None, trials))


def test_an_empty_run_is_audited() -> None:
    plan = make_plan()
    assert [check for check, _, _ in audit(plan, [])] == []


def test_few_blocks_are_warned_of_with_the_precision_they_reached() -> None:
    plan = make_plan(blocks=3)
    finding, cells = only(plan, make_trials(plan), "repeats")
    assert finding.severity == "warning"
    assert "3 blocks: throughput is known to within" in finding.message.text
    assert "`blocks = 5`" in finding.remedy.text
    assert cells == ()
    plan = make_plan(blocks=1)
    finding, _ = only(plan, make_trials(plan), "repeats")
    assert "1 block: no interval" in finding.message.text


def test_a_machine_that_slows_down_within_each_block_is_found() -> None:
    plan = make_plan(blocks=8)
    slowed = [
        change(trial, load__transactions_per_s=load_of(trial).transactions_per_s * 0.97**trial.position)
        for trial in make_trials(plan)
    ]
    finding, _ = only(plan, slowed, "order")
    assert "from the first to the last trial of a block" in finding.message.text
    assert "-1" in finding.message.text or "-2" in finding.message.text


def test_a_machine_that_slows_down_over_the_blocks_is_found() -> None:
    plan = make_plan(blocks=6)
    slowed = [
        change(trial, load__transactions_per_s=load_of(trial).transactions_per_s * 0.95**trial.block)
        for trial in make_trials(plan)
    ]
    finding, _ = only(plan, slowed, "order")
    assert "from the first block to the last" in finding.message.text


def test_unequal_data_confounds_a_comparison_of_storages() -> None:
    plan = make_plan()
    trials = [
        change(trial, data__rows=50_000) if "/disk/safest/" in trial.cell else trial
        for trial in make_trials(plan)
    ]
    found = [(finding, cells) for check, finding, cells in audit(plan, trials) if check == "confounding"]
    assert any(
        "`dram` and `disk` differ in their number of rows too: 40000 against 50000" in f.message.text
        for f, _ in found
    )
    concerned = {cell for _, cells in found for cell in cells}
    assert "mariadb/disk/safest/complex/128MiB/8c" in concerned
    assert not any("/fast/" in a and "/fast/" in b for _, (a, b) in found)


def test_unequal_load_workers_confound_but_not_between_numbers_of_clients() -> None:
    plan = make_plan()
    assert not [check for check, _, _ in audit(plan, make_trials(plan)) if check == "confounding"]
    trials = [
        change(trial, load__client__workers=4) if "/disk/" in trial.cell else trial
        for trial in make_trials(plan)
    ]
    assert any(
        "number of load workers" in f.message.text
        for check, f, _ in audit(plan, trials)
        if check == "confounding"
    )


def with_places(plan: Plan, **device_numbers: str) -> Machine:
    """Return the plan's machine with other device numbers: ``redo_of_ssd="8:1"``, ``ssd="8:1"``."""
    machine = make_machine(plan)
    places = [
        change(
            place,
            device_number=device_numbers.get(
                f"{place.role}_of_{place.storage}", device_numbers.get(place.storage, place.device_number)
            ),
        )
        for place in machine.places
    ]
    return change(machine, places=places)


def test_two_storages_on_one_file_system_are_no_comparison() -> None:
    """A disk that was not mounted: its directory was made on the root disk."""
    plan = make_plan(storages=("disk", "ssd"), tunings=("safest",), clients=(8,))
    trials = make_trials(plan)
    assert not [check for check, _, _ in audit(plan, trials) if check == "same-storage"]
    finding, cells = only(plan, trials, "same-storage", with_places(plan, ssd=DISK_DEVICE))
    assert finding.severity == "warning"
    assert "storages `disk` and `ssd` are one and the same" in finding.message.text
    assert "on device 254:1 (ext4 on vda, mounted at /)" in finding.message.text
    assert set(cells) == {cell.id for cell in plan.cells}


def test_storages_that_differ_in_the_place_of_the_log_alone_are_compared() -> None:
    plan = make_plan(storages=("disk", "ssd"))
    machine = with_places(plan, ssd=DISK_DEVICE, redo_of_ssd="259:7")
    assert not [check for check, _, _ in audit(plan, make_trials(plan), machine) if check == "same-storage"]


def test_memory_against_memory_is_no_comparison() -> None:
    plan = make_plan(storages=("dram", "ramdisk"), tunings=("safest",), clients=(8,))
    finding, _ = only(plan, make_trials(plan), "same-storage", with_places(plan, ramdisk="0:99"))
    assert "every role of both lies in memory" in finding.message.text


def test_a_directory_on_a_tmpfs_is_memory_too() -> None:
    plan = make_plan(tunings=("safest",), clients=(8,))
    machine = make_machine(plan)
    on_tmpfs = [change(place, filesystem="tmpfs", device=None) for place in machine.places]
    finding, _ = only(plan, make_trials(plan), "same-storage", change(machine, places=on_tmpfs))
    assert "storages `dram` and `disk` are one and the same" in finding.message.text


def test_a_place_that_no_file_ever_lay_in_is_named_once() -> None:
    plan = make_plan()
    without = [
        change(trial, open_files=[one for one in trial.open_files if one.role not in {"binlog", "tmp"}])
        if "/disk/" in trial.cell
        else trial
        for trial in make_trials(plan)
    ]
    finding, cells = only(plan, without, "unused-place")
    assert finding.severity == "warning"
    assert "`mariadb` never wrote to the place of `binlog` (/srv/disk/binlog)" in finding.message.text
    assert set(cells) == {cell.id for cell in plan.cells if cell.storage == "disk"}


def test_a_role_without_a_place_of_its_own_may_stay_empty() -> None:
    plan = make_plan()
    machine = make_machine(plan)
    together = change(machine, places=[change(place, path="/srv/all") for place in machine.places])
    without = [
        change(trial, open_files=[one for one in trial.open_files if one.role != "binlog"])
        for trial in make_trials(plan)
    ]
    assert not [check for check, _, _ in audit(plan, without, together) if check == "unused-place"]
    unseen = [change(trial, open_files=[]) for trial in without]  # not proved: said by `placement`
    assert not [check for check, _, _ in audit(plan, unseen) if check == "unused-place"]


def test_a_common_setting_that_differs_between_storages_is_noted_once() -> None:
    plan = make_plan()
    trials = [
        _with(trial, "innodb_flush_method", "O_DIRECT" if "/disk/" in trial.cell else "fsync")
        for trial in make_trials(plan)
    ]
    finding, _ = only(plan, trials, "common-settings")
    assert finding.severity == "note"
    assert "`innodb_flush_method` is fsync on dram and O_DIRECT on disk" in finding.message.text


def test_paths_differ_by_nature() -> None:
    plan = make_plan()
    trials = [_with(trial, "datadir", f"/srv/{trial.id}/") for trial in make_trials(plan)]
    assert audit(plan, trials) == []


def test_levels_that_differ_in_nothing_are_named() -> None:
    plan = make_plan(tunings=("safest", "strict"))  # the builder gives an unknown level safest's settings
    finding, _ = only(plan, make_trials(plan), "levels")
    assert "`safest` and `strict` do not differ on `mariadb`" in finding.message.text


def test_levels_that_differ_in_more_than_they_declare_are_named() -> None:
    plan = make_plan()
    trials = [
        _with(trial, "innodb_io_capacity", "2000" if "/fast/" in trial.cell else "200")
        for trial in make_trials(plan)
    ]
    finding, _ = only(plan, trials, "levels")
    assert (
        "differ in `innodb_io_capacity` on `mariadb` (200 and 2000), which neither declares"
        in finding.message.text
    )


def test_the_binary_logs_format_goes_with_the_binary_log() -> None:
    """A level that declares it has no binary log need not declare that none has a format."""
    plan = make_plan()

    def at(trial: Trial, *, log: bool) -> Trial:
        with_format = _with(trial, "binlog_format", "ROW")
        safest = "/safest/" in trial.cell
        trial = with_format if safest else trial
        return _with(trial, "log_bin", "ON" if safest else "OFF") if log else trial

    found = [one.message.text for _, one, _ in audit(plan, [at(one, log=True) for one in make_trials(plan)])]
    assert [message for message in found if "binlog_format" in message] == []
    assert [message for message in found if "`log_bin`" in message]  # the test declares it nowhere
    finding, _ = only(plan, [at(one, log=False) for one in make_trials(plan)], "levels")
    assert "differ in `binlog_format`" in finding.message.text


def test_a_run_that_broke_off_is_not_blamed_for_the_cells_it_lacks() -> None:
    plan = make_plan()
    varying = [
        _with(trial, "max_connections", trial.cell.rpartition("/")[2])
        for trial in make_trials(plan, typical_rate)
    ]
    without = [trial for trial in varying if trial.cell != "mariadb/disk/fast/complex/128MiB/8c"]
    assert not [check for check, _, _ in audit(plan, without) if check == "levels"]


def _with(trial: Trial, name: str, value: str) -> Trial:
    setting = Setting(name=name, requested=value, observed=value, holds=True)
    return change(trial, settings=[*(one for one in trial.settings if one.name != name), setting])


def test_equal_counts_were_asked_for_and_their_times_were_not() -> None:
    run = imported({"hdd": 10.0, "ssd": 20.0}, seconds=300.0)
    alike = [change(trial, load__transactions=10_000 + at) for at, trial in enumerate(run.valid)]
    assert unequal_runs.outcome(run).state == "failed"
    assert unequal_runs.outcome(replace(run, valid=alike)).state == "passed"


def test_a_fact_that_one_output_does_not_have_confounds_nothing() -> None:
    run = imported({"hdd": 10.0, "ssd": 20.0})
    known, unknown = run.valid
    assert confounding.outcome(run).state == "passed"
    other = change(known, load__client__workers=64)
    assert confounding.outcome(replace(run, valid=[other, unknown])).state == "failed"
    assert (
        confounding.outcome(replace(run, valid=[change(known, load__client=None), unknown])).state != "failed"
    )


def test_a_load_says_its_number_of_clients_where_something_else_is_compared() -> None:
    def varying(storages: Sequence[str], *loads: tuple[str, int]) -> list[Factor]:
        cells = make_plan(storages=storages, tunings=("safest",), clients=(1,), workloads=("x",)).cells
        return varying_factors(
            [
                cell.model_copy(update={"id": f"{cell.id}{load}", "workload": load, "clients": clients})
                for cell in cells
                for load, clients in loads
            ]
        )

    assert varying(("dram", "disk"), ("oltp", 10), ("files", 1)) == ["storage", "workload"]
    assert varying(("dram", "disk"), ("oltp", 10), ("oltp", 1)) == ["storage", "clients"]
    assert varying(("dram",), ("oltp", 10), ("files", 1)) == ["workload", "clients"]
