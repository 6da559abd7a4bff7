"""The tables say where each value was read, and leave nothing out."""

from diskproof.analysis.analyse import analyse
from diskproof.report.compose import cells, machine, method, settings
from diskproof.report.document import Section, Table
from diskproof.results.trial import Setting
from support.machines import comparing, make_machines
from support.runs import MakeRun, Run
from support.trials import MIB, change, make_machine, make_plan, make_trials


def test_a_setting_names_the_factor_that_explains_its_value(make_run: MakeRun) -> None:
    plan = make_plan(memory_bytes=(128 * MIB, 1024 * MIB), blocks=2)
    folder, _ = make_run(plan)
    table = settings.settings(plan, folder.trials())
    where = {(row[1], row[3]): row[4] for row in table.rows}
    assert where["max_connections", "40"] == "all"
    assert where["sync_binlog", "1"] == "at safest"
    assert where["sync_binlog", "0"] == "at fast"
    assert where["innodb_buffer_pool_size", str(128 * MIB)] == "with 128 MiB of memory"


def test_a_setting_that_does_not_hold_is_marked(make_run: MakeRun) -> None:
    plan = make_plan(blocks=2)
    trials = make_trials(plan)
    wrong = Setting(name="sync_binlog", requested="1", observed="0", holds=False)
    gone = Setting(name="query_cache_size", requested="0", observed=None, holds=False)
    trials[0] = change(trials[0], settings=[wrong, gone])
    folder, _ = make_run(plan, trials)
    read_back = {(row[1], row[2], row[3]) for row in settings.settings(plan, folder.trials()).rows}
    assert ("sync_binlog", "1", "0 (does not hold)") in read_back
    assert ("query_cache_size", "0", "no such variable (does not hold)") in read_back


def test_every_row_has_an_entry_a_column(quickstart: Run) -> None:
    folder, analysis = quickstart
    assert analysis.machine
    made = (
        cells.cells(analysis),
        cells.costs(analysis),
        settings.level_differences(analysis),
        machine.machine(analysis.machine),
        machine.servers(analysis.machine),
        machine.places(analysis.machine),
        machine.devices(analysis.machine),
        settings.settings(analysis.plan, folder.trials()),
    )
    assert len(method.load_commands(analysis, folder.trials())) == len(analysis.plan.cells)
    for table in made:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_a_single_cell_is_still_named(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(storages=("disk",), tunings=("safest",), clients=(8,)))
    assert cells.cells(analysis).columns[0].title == "Storage"
    assert cells.cells(analysis).rows[0][0] == "disk"


def test_the_machine_tells_its_fio_and_the_threads_that_were_left_idle() -> None:
    facts = make_machine(cpus=8, held_cpus=[2, 3], idle_cpus=[6, 7], fio_version="3.33")
    rows = {row[0]: row[1] for row in machine.machine(facts).rows}
    assert rows["fio"] == "3.33"
    assert rows["Server and load"] == (
        "2 CPUs (2, 3); virtual disks and diskproof on the 4 others; "
        "nothing on the other threads of these cores (6, 7)"
    )
    assert "fio" not in {row[0] for row in machine.machine(make_machine()).rows}


def test_each_machine_has_its_own_servers_places_and_devices() -> None:
    plan = comparing(make_plan())
    nvme = [change(one, device__name="nvme0n1") if one.device else one for one in make_machine(plan).places]
    trials = make_trials(plan)
    run = analyse(plan, make_machines(plan, b={"places": nvme}), trials, {})
    on_a, on_b = machine.section(run, trials).blocks
    assert isinstance(on_a, Section)
    assert isinstance(on_b, Section)
    assert (on_a.heading, on_b.heading) == ("Host a", "Host b")
    assert "nvme0n1" not in str(on_a.blocks)
    assert "nvme0n1" in str(on_b.blocks)
    assert [table.label for table in on_b.blocks if isinstance(table, Table)] == [
        "Facts of the machine",
        "Servers and their versions",
        "Where each role of each storage lies",
        "Block devices",
    ]
