"""What a page says of virtual disks."""

from pathlib import Path

from diskproof.analysis.folder import analyse_folder
from diskproof.report import html
from diskproof.report.compose import machine as tables
from support.runs import write_run
from support.trials import change, make_machine, make_plan, make_trials
from support.virtual import make_facts


def test_a_page_names_virtual_disks_and_cores_kept_awake(tmp_path: Path) -> None:
    plan = make_plan(blocks=2)
    trials = make_trials(plan)
    machine = make_machine(plan)
    places = [
        change(place, kind="virtual", virtual=make_facts()) if place.storage == "disk" else place
        for place in machine.places
    ]
    machine = change(machine, places=places, idle_wake_up_us=0)
    folder = write_run(tmp_path / "run", plan, trials, machine, series=False)
    analysis = analyse_folder(folder)
    page = html.render(folder, analysis)
    assert "virtual: A disk of 15,000 rpm" in page
    facts = {row[0]: row[1] for row in tables.machine(machine).rows}
    assert facts["Idle cores"].startswith("asked to wake within 0 µs")
    assert "Idle cores" not in {row[0] for row in tables.machine(make_machine(plan)).rows}
