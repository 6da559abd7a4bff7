"""Studies over three machines: real Ray, real trials, and what is left if a process dies."""

from contextlib import suppress

import psutil
import pytest

from diskproof.analysis.folder import invalidating
from diskproof.results.folder import RunFolder
from support.command import wait_for
from support.hosts import Host

STUDY = """
question = "Does it matter which machine runs it?"
[hosts]
how = "{how}"
names = ["a", "b", "c"]
[design]
blocks = {blocks}
warm_up_s = 0
measure_s = {measure_s}
clients = [1]
memory = ["8 MiB"]
repeat_disturbed = false
[servers.sqlite]
family = "sqlite"
[storages.memory]
ram = "400 MiB"
[tunings.fast]
[tunings.unsafe]
[workloads.simple]
mix = "read-only"
tables = 1
rows = 100
"""


@pytest.fixture(scope="module")
def cluster(hosts: list[Host]) -> list[Host]:
    """Three hosts in a cluster."""
    a, b, c = hosts
    a.head()
    for process in [b.start(*b.joins(a)), c.start(*c.joins(a))]:
        assert process.wait(60) == 0, process.communicate()
    return hosts


def write_study(head: Host, name: str, how: str, blocks: int, measure_s: float) -> str:
    text = STUDY.format(how=how, blocks=blocks, measure_s=measure_s)
    (head.scratch / f"{name}.toml").write_text(text)
    return f"{name}.toml"


def folder_of(head: Host, name: str) -> RunFolder:
    (path,) = (head.scratch / "runs" / name).glob("*-*")
    return RunFolder.open(path)


def nothing_left(hosts: list[Host]) -> bool:
    """Tell whether no lab of these hosts runs, and none has left anything to undo."""
    for process in (process for host in hosts for process in host.processes()):
        with suppress(psutil.Error):
            if "diskproof.hosts.part" in process.cmdline():
                return False
    return not [journal for host in hosts for journal in host.state.glob("*.jsonl")]


def check_whole(folder: RunFolder) -> None:
    """Every planned trial is there, counts, and was made by its own host; its files are here."""
    plan, trials, machine = folder.plan(), folder.trials(), folder.machine()
    assert sorted(trial.id for trial in trials) == sorted(planned.id for planned in plan.trials)
    assert machine is not None
    assert set(machine.others) == {"a", "b", "c"}
    for trial in trials:
        assert invalidating(folder, trial) == []
        assert folder.series(trial.id) is not None


def test_a_run_goes_on_after_kills(cluster: list[Host]) -> None:
    a, b, c = cluster
    study = write_study(a, "spread", "spread", 6, 1)
    # The head dies in the second block: the hosts break off their trials and clean up.
    head = a.start("run", study, "--hosts")
    wait_for(lambda: [*(a.scratch / "runs" / "spread").glob("*/trials.jsonl")])
    head.kill()
    head.communicate()
    before = {trial.id: trial.started_at for trial in folder_of(a, "spread").trials()}
    wait_for(lambda: nothing_left(cluster), 20)

    # The raylet of a host dies: the others go on, and the run says who is lost.
    resumed = b.start("run", study, "--hosts", "--resume")
    wait_for(lambda: any("diskproof.hosts.part" in one.cmdline() for one in c.processes()))
    for process in c.processes():
        if process.name() == "raylet":
            process.kill()
    said = resumed.communicate(timeout=60)[1]
    assert resumed.returncode == 2, said
    assert "host `c`: it is gone" in said
    wait_for(lambda: nothing_left(cluster), 20)
    c.run("host", "leave")
    c.join(a)

    said = a.run("run", study, "--hosts", "--resume")
    folder = folder_of(a, "spread")
    check_whole(folder)
    assert {trial.id: trial.started_at for trial in folder.trials()}.items() >= before.items()
    hosts = {planned.block: planned.host for planned in folder.plan().trials}
    assert hosts == {1: "a", 2: "b", 3: "c", 4: "a", 5: "b", 6: "c"}
    assert nothing_left(cluster)
    assert not [path for host in cluster for path in (host.out / "parts").iterdir()]
    assert "host c: nothing to clean" in a.run("clean", "--hosts")


def test_machines_are_compared(cluster: list[Host]) -> None:
    a, *_ = cluster
    # What one machine cannot run is refused on all of them.
    study = write_study(a, "small", "compare", 2, 0.5)
    path = a.scratch / study
    path.write_text(path.read_text().replace("400 MiB", "16 MiB"))
    assert "host `b`: storage `memory`: the data set needs" in a.run("run", study, "--hosts", expect=2)
    assert nothing_left(cluster)
    assert list((a.scratch / "runs" / "small").iterdir()) == []

    study = write_study(a, "compare", "compare", 2, 0.5)
    assert "6 cells x 2 blocks = 12 trials" in a.run("plan", study, "--hosts")
    said = a.run("run", study, "--hosts")
    folder = folder_of(a, "compare")
    check_whole(folder)
    assert "b against a" in said
    assert all(planned.cell.endswith(f"/{planned.host}") for planned in folder.plan().trials)
