"""What a page says of virtual disks: rates, modelled latencies, and the worst lateness."""

from pathlib import Path

from diskproof.analysis.folder import analyse_folder
from diskproof.report import html
from diskproof.report.compose import machine as tables
from support.runs import write_run
from support.trials import change, make_machine, make_plan, make_trials
from support.virtual import make_facts, make_use


def test_a_page_tells_what_virtual_disks_did(tmp_path: Path) -> None:
    plan = make_plan(blocks=2)
    quick, slow = make_use(lateness_share=0.005), make_use(lateness_share=0.08, seconds=120.0)
    trials = [
        change(trial, virtual_disks=[quick if trial.block == 1 else slow])
        if plan.cell(trial.cell).storage == "disk"
        else trial
        for trial in make_trials(plan)
    ]
    machine = make_machine(plan)
    places = [
        change(place, kind="virtual", virtual=make_facts()) if place.storage == "disk" else place
        for place in machine.places
    ]
    machine = change(machine, places=places, idle_wake_up_us=0)
    folder = write_run(tmp_path / "run", plan, trials, machine, series=False)
    analysis = analyse_folder(folder)
    told = tables.virtual_disks(analysis, trials)
    on_disk = [cell for cell in plan.cells if cell.storage == "disk"]
    assert len(told.rows) == len(on_disk)
    assert all(len(row) == len(told.columns) for row in told.rows)
    row = dict(zip([column.title for column in told.columns], told.rows[0], strict=True))
    assert row["Virtual disk"] == "cheetah"
    assert row["Writes/s"] == "111"  # 20,000 in 180 s
    assert row["Reads/s"] == "0"
    assert row["Write ms"] == "4.00"
    assert row["Read ms"] == "n/a"
    assert row["Of its latency"] == "8.0%"
    page = html.render(folder, analysis)
    assert "Virtual disks over the measured phases" in page
    assert "virtual: A disk of 15,000 rpm" in page
    facts = {row[0]: row[1] for row in tables.machine(machine).rows}
    assert facts["Idle cores"].startswith("asked to wake within 0 µs")


def test_without_virtual_disks_nothing_is_said_of_them(tmp_path: Path) -> None:
    plan = make_plan(blocks=2)
    trials = make_trials(plan)
    folder = write_run(tmp_path / "run", plan, trials, make_machine(plan), series=False)
    analysis = analyse_folder(folder)
    assert tables.virtual_disks(analysis, trials).rows == ()
    assert "Virtual disks" not in html.render(folder, analysis)
    assert "Idle cores" not in {row[0] for row in tables.machine(make_machine(plan)).rows}
