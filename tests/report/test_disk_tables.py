"""What a page says of virtual disks."""

from pathlib import Path

from diskproof.analysis.folder import analyse_folder
from diskproof.report import html
from support.runs import write_run
from support.trials import change, make_machine, make_plan, make_trials
from support.virtual import make_facts


def test_a_page_names_virtual_disks(tmp_path: Path) -> None:
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
    page = html.render(analysis)
    assert "virtual: A disk of 15,000 rpm" in page
