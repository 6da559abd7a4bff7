"""Studies over three machines: real Ray, real trials, and what is left if a process dies."""

import pytest

from diskproof.analysis.folder import invalidating
from machines import Host, is_quiet, wrong_in
from support.command import wait_for

pytestmark = pytest.mark.timeout(300)

STUDY = """
question = "Does it matter which machine runs it?"
[hosts]
how = "{how}"
names = ["a", "b", "c"]
[design]
blocks = {blocks}
warm_up_s = 0
measure_s = 0.5
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


def test_a_run_goes_on_after_kills(cluster: list[Host]) -> None:
    a, b, c = cluster
    study = a.write("spread", STUDY.format(how="spread", blocks=6))
    # The head dies in the second block: the hosts break off their trials and clean up.
    head = a.start("run", study, "--hosts")
    wait_for(lambda: [*(a.scratch / "runs" / "spread").glob("*/trials.jsonl")])
    head.kill()
    head.communicate()
    before = {trial.id: trial.started_at for trial in a.run_folder("spread").trials()}
    wait_for(lambda: is_quiet(cluster), 20)

    # The raylet of a host dies: the others go on, and the run says who is lost.
    resumed = b.start("run", study, "--hosts", "--resume")
    wait_for(c.parts)
    for process in c.processes():
        if process.name() == "raylet":
            process.kill()
    said = resumed.communicate(timeout=60)[1]
    assert resumed.returncode == 2, said
    assert "host `c`: it is gone" in said
    wait_for(lambda: is_quiet(cluster), 20)
    c.run("host", "leave")
    c.join(a)

    said = a.run("run", study, "--hosts", "--resume")
    folder = a.run_folder("spread")
    assert [*wrong_in(folder, cluster)] == []
    assert {trial.id: trial.started_at for trial in folder.trials()}.items() >= before.items()
    hosts = {planned.block: planned.host for planned in folder.plan().trials}
    assert hosts == {1: "a", 2: "b", 3: "c", 4: "a", 5: "b", 6: "c"}
    assert is_quiet(cluster)
    assert not [path for host in cluster for path in (host.out / "parts").iterdir()]
    assert "host c: nothing to clean" in a.run("clean", "--hosts")


def test_machines_are_compared(cluster: list[Host]) -> None:
    a, *_ = cluster
    # What one machine cannot run is refused on all of them.
    text = STUDY.format(how="compare", blocks=2)
    study = a.write("small", text.replace("400 MiB", "16 MiB"))
    assert "host `b`: storage `memory`: the data set needs" in a.run("run", study, "--hosts", expect=2)
    assert is_quiet(cluster)
    assert list((a.scratch / "runs" / "small").iterdir()) == []

    study = a.write("compare", text)
    assert "6 cells x 2 blocks = 12 trials" in a.run("plan", study, "--hosts")
    said = a.run("run", study, "--hosts")
    folder = a.run_folder("compare")
    assert [*wrong_in(folder, cluster)] == []
    assert "b against a" in said
    assert [found for trial in folder.trials() for found in invalidating(folder, trial)] == []
    assert all(planned.cell.endswith(f"/{planned.host}") for planned in folder.plan().trials)
