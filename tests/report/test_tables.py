"""The tables say where each value was read, and leave nothing out."""

from diskproof.analysis.analyse import analyse
from diskproof.report.compose import cells, machine
from diskproof.report.document import Section, Table
from support.machines import comparing, make_machines
from support.runs import MakeRun, Run
from support.trials import change, make_machine, make_plan, make_trials


def test_every_row_has_an_entry_a_column(quickstart: Run) -> None:
    _, analysis = quickstart
    assert analysis.machine
    made = (
        cells.cells(analysis),
        machine.machine(analysis.machine),
        machine.servers(analysis.machine),
        machine.places(analysis.machine),
    )
    for table in made:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_a_single_cell_is_still_named(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(storages=("disk",), tunings=("safest",), clients=(8,)))
    assert cells.cells(analysis).columns[0].title == "Storage"
    assert cells.cells(analysis).rows[0][0] == "disk"


def test_each_machine_has_its_own_servers_places_and_devices() -> None:
    plan = comparing(make_plan())
    nvme = [change(one, device__name="nvme0n1") if one.device else one for one in make_machine(plan).places]
    trials = make_trials(plan)
    run = analyse(plan, make_machines(plan, b={"places": nvme}), trials, {})
    on_a, on_b = machine.section(run).blocks
    assert isinstance(on_a, Section)
    assert isinstance(on_b, Section)
    assert (on_a.heading, on_b.heading) == ("Host a", "Host b")
    assert "nvme0n1" not in str(on_a.blocks)
    assert "nvme0n1" in str(on_b.blocks)
    assert [table.label for table in on_b.blocks if isinstance(table, Table)] == [
        "Facts of the machine",
        "Servers and their versions",
        "Where each role of each storage lies",
    ]
