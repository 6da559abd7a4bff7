"""What a report says first of what was tested: the server, and what each name stands for."""

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.report.compose import names
from diskproof.results.machine import VirtualFacts
from diskproof.results.plan import Plan
from diskproof.study.loads.fileio import Fileio
from diskproof.study.loads.oltp import Oltp
from diskproof.wording import say
from support.machines import comparing, make_machines
from support.trials import change, make_machine, make_plan, make_series, make_trials


def run_of(plan: Plan, *virtual: str) -> Analysis:
    """Return a run whose storages of these names are one model of a disk; the second ignores flushes."""
    machine = make_machine(plan)
    places = [
        change(
            one,
            virtual=VirtualFacts(
                name=one.storage,
                device="desktop-7200",
                title="A desktop disk, 7200 rpm",
                model="spinning",
                size_bytes=2**30,
                flushes_ignored=virtual.index(one.storage) > 0,
            ),
        )
        if one.storage in virtual
        else one
        for one in machine.places
    ]
    trials = make_trials(plan)
    return analyse(plan, change(machine, places=places), trials, make_series(trials))


def test_server_version_cpus_and_memory_are_said_first() -> None:
    plan = make_plan()
    assert names.tested(run_of(plan)) == "MariaDB 10.11.11 on 2 CPUs with 128 MiB of memory for data"
    assert names.tested(change(run_of(plan), plan__imported=True)) == ""
    assert " on 1 CPU with " in names.tested(change(run_of(plan), plan__cpus=1))


def test_a_lone_model_of_a_disk_is_named_as_one() -> None:
    plan = make_plan(storages=("disk",), tunings=("safest",))
    said = "disk = a virtual disk (model of: desktop disk, 7200 rpm)."
    assert names.names(run_of(plan, "disk")) == said
    assert names.names(run_of(plan)) == "", "a disk of the machine that is alone needs no words"


def test_a_model_of_ones_own_has_its_own_title() -> None:
    plan = make_plan(storages=("disk",), tunings=("safest",))
    run = run_of(plan, "disk")
    assert run.machine
    own = [
        change(one, virtual__device="my/mine.toml", virtual__title="Clone of vda")
        for one in run.machine.places
    ]
    assert names.names(change(run, machine__places=own)) == "disk = a virtual disk (model of: Clone of vda)."


def test_a_role_that_lies_elsewhere_is_said() -> None:
    plan = make_plan(storages=("disk", "split", "log-disk"), tunings=("safest",))
    run, of_ssd = run_of(plan, "disk", "split"), run_of(plan, "log-disk")
    assert run.machine and of_ssd.machine
    virtual = next(place.virtual for place in of_ssd.machine.places if place.virtual)
    ssd = change(virtual, title="A small SSD")
    places = [
        change(place, virtual=ssd)
        if place.storage == "log-disk" or (place.storage, place.role) == ("split", "redo")
        else place
        for place in run.machine.places
    ]
    assert names.names(change(run, machine__places=places)) == (
        "disk = a virtual disk (model of: desktop disk, 7200 rpm); "
        "split = a virtual disk that ignores flushes (model of: desktop disk, 7200 rpm), but redo on a "
        "virtual disk (model of: small SSD); log-disk = a virtual disk (model of: small SSD)."
    )


def test_a_level_of_the_users_own_is_said_with_what_it_may_lose() -> None:
    plan = make_plan(storages=("disk",), tunings=("safest", "mine"))
    run = run_of(plan)
    [safe, mine] = run.level_risks
    assert "mine = commits wait for the disk" in names.names(run)
    lost = change(mine, losses=[say("torn pages are not repaired")])
    assert "mine = after a power cut torn pages are not repaired" in names.names(
        change(run, level_risks=[safe, lost])
    )


def test_what_a_level_alone_may_lose_says_what_it_is_else_what_it_changes() -> None:
    run = run_of(make_plan(storages=("disk",), tunings=("safest", "mine", "ours")))
    own = {"mine": say("fast with {changes}", changes=["sync_binlog=1"]), "ours": say("fast with more RAM")}
    safe, mine, ours = run.level_risks
    lost = [change(one, losses=[say("a second may be lost")]) for one in (mine, ours)]
    alone = change(run, plan__tunings=own, level_risks=[safe, lost[0], ours])
    assert names.in_short(alone, "mine") == "mine = after a power cut a second may be lost"
    assert names.in_short(alone, "ours") == "ours = fast with more RAM", "safest keeps all, too"
    both = change(run, plan__tunings=own, level_risks=[safe, *lost])
    assert names.in_short(both, "mine") == "mine = fast with sync_binlog=1"
    assert "mine = fast with sync_binlog=1, after a power cut a second may be lost;" in names.names(both)


def test_a_model_that_storages_share_is_said_once() -> None:
    run = run_of(make_plan(storages=("disk", "liar"), tunings=("safest",)), "disk", "liar")
    assert names.storages(run) == {
        "disk": "a virtual disk (model of: desktop disk, 7200 rpm)",
        "liar": "a virtual disk that ignores flushes",
    }
    other = run_of(make_plan(storages=("disk", "liar"), tunings=("safest",)), "disk")
    assert names.storages(other)["disk"] == "a virtual disk (model of: desktop disk, 7200 rpm)"


def test_slow_time_says_what_a_cpu_counts_as() -> None:
    run = run_of(make_plan())
    slow = change(run, plan__dilation=2, plan__cpus_count=2)
    said = "Trials ran 2 times slower, so that the model disks keep time"
    assert names.slow_time(slow) == f"{said}; each CPU counts as 2"
    assert names.slow_time(change(run, plan__dilation=2)) == said
    assert names.slow_time(run) == ""


def test_a_workload_is_said_with_its_data() -> None:
    plan = make_plan(storages=("disk",), tunings=("safest",))
    [workload] = {cell.workload for cell in plan.cells}
    loads = {workload: Oltp(mix="point-select").in_short, "not-run": Oltp().in_short}
    assert names.names(run_of(change(plan, loads=loads))) == (
        f"{workload} = one read of a row by its key (sysbench's `point-select`), 46 MiB of data."
    )
    files = Fileio(kind="fileio", mode="rndrd").in_short
    assert files.text == "random reads of 16 KiB in files, without a database"


def test_each_machine_has_its_version_cpus_and_disks() -> None:
    plan = comparing(make_plan())
    [server] = make_machine(plan).servers
    nvme = [change(one, device__name="nvme0n1") if one.device else one for one in make_machine(plan).places]
    other = {"cpus": 32, "servers": [change(server, version="11.4.2")], "places": nvme}
    trials = make_trials(plan)
    run = analyse(plan, make_machines(plan, b=other), trials, make_series(trials))
    assert names.tested(run).startswith("MariaDB 10.11.11 and MariaDB 11.4.2 on 2 or 32 CPUs with ")
    assert "disk = a directory on vda or a directory on nvme0n1;" in names.names(run)
