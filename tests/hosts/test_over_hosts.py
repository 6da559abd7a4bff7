"""Studies over three machines: real Ray, real trials, and what is left if a process dies."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

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
rate = 50
"""

GATES = """
import sys
from diskproof.audit import load, registry, server
from diskproof.cli import call
registry.TRIAL_CHECKS = (load.finished, server.settings, server.placement)
sys.exit(call(sys.argv[1:]))
"""
"""Tests run beside each other: the gates that a busy machine closes are open, and the others hold."""


def unjudged(host: Host) -> str:
    """Return the module that runs diskproof with these gates open."""
    (host.scratch / "gates.py").write_text(GATES)
    return "gates"


def test_a_run_goes_on_after_kills(cluster: list[Host]) -> None:
    a, b, c = cluster
    text = STUDY.format(how="spread", blocks=6).replace("measure_s = 0.5", "measure_s = 1.5")
    study = a.write("spread", text)  # long enough for a kill to strike
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


FILES = {
    "make.sql": "CREATE TABLE goods (id INT PRIMARY KEY, stock INT);\nINSERT INTO goods VALUES (1, 100);\n",
    "look.sql": "SELECT stock FROM goods WHERE id = 1;\n",
    "goods.lua": """
require("asked")
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE goods (id INT NOT NULL PRIMARY KEY, stock INT NOT NULL)")
  con:query("INSERT INTO goods VALUES (1, 100)")
end
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query(asked) end
""",
    "asked.lua": 'asked = "SELECT stock FROM goods WHERE id = 1"\n',
}
LOADS = """
[workloads.sql]
kind = "script"
files = ["files/look.sql"]
prepare = "files/make.sql"
size = "1 MiB"
rate = 50
[workloads.lua]
kind = "lua"
script = "files/goods.lua"
size = "1 MiB"
rate = 50
"""


@contextmanager
def hidden(folder: Path, hosts: Sequence[Host]) -> Iterator[None]:
    """Put an empty folder in its place on these machines, which share their files with the others."""
    with ExitStack() as stack:
        for host in hosts:
            into = ["nsenter", "-t", str(host.holder.pid), "-m", "--"]
            subprocess.run([*into, "mount", "-t", "tmpfs", "tmpfs", str(folder)], check=True)
            stack.callback(subprocess.run, [*into, "umount", str(folder)], check=True)
        yield


def test_machines_are_compared_and_a_study_brings_its_files(cluster: list[Host]) -> None:
    a, *others = cluster
    # What one machine cannot run is refused on all of them.
    text = STUDY.format(how="compare", blocks=2).replace("[tunings.unsafe]\n", "")
    study = a.write("small", text.replace("400 MiB", "16 MiB"))
    assert "host `b`: storage `memory`: data set and load need" in a.run("run", study, "--hosts", expect=2)
    assert is_quiet(cluster)
    assert list((a.scratch / "runs" / "small").iterdir()) == []

    folder = a.scratch / "files"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_text(content)
    study = a.write("compare", text + LOADS)
    assert "9 cells x 2 blocks = 18 trials" in a.run("plan", study, "--hosts")
    with hidden(folder, others):
        a.run("run", study, "--hosts", module=unjudged(a))
    run = a.run_folder("compare")
    assert [*wrong_in(run, cluster)] == []
    assert "b against a" in (run.path / "report.md").read_text()
    assert all(planned.cell.endswith(f"/{planned.host}") for planned in run.plan().trials)
    trials = run.trials()
    assert len(trials) == 18
    assert all(trial.load is not None and trial.load.transactions for trial in trials)


PROVED = """
[storages.honest]
virtual = "laptop-ssd-2012"
size = "1 GiB"
[storages.lying]
virtual = "desktop-7200"
size = "1 GiB"
flushes = "ignored"
[tunings.safest]
[workloads.updates]
mix = "update-index"
tables = 1
rows = 100
storages = ["honest"]
[crash]
storages = ["honest", "lying"]
ways = ["power"]
cuts = 2
clients = 4
accounts = 100
cut_before_s = 1.5
keep = "nothing"
[[crash.documented]]
tunings = ["safest"]
says = "kept"
"""


def test_limits_are_proved_and_power_is_cut(cluster: list[Host]) -> None:
    a, _, c = cluster
    text = STUDY.format(how="compare", blocks=2).replace('"a", "b", "c"', '"a", "c"')
    text = text.replace("measure_s = 0.5", "measure_s = 1.5").partition("[storages")[0] + PROVED
    said = a.run("run", a.write("proved", text), "--hosts", "--prove", module=unjudged(a))
    folder = a.run_folder("proved")
    assert [*wrong_in(folder, [a, c])] == []
    pairs = folder.proofs()
    assert {(pair.id, pair.cell.rpartition("/")[2]) for pair in pairs} == {
        (f"proof-0{proof}-{pair}", host) for proof, host in ((1, "a"), (2, "c")) for pair in (1, 2, 3)
    }
    for pair in pairs:
        [disk] = pair.changed.virtual_disks
        assert disk.slowed is not None
        assert disk.slowed.requests > 0
        assert (folder.path / "series" / f"{pair.changed.id}.parquet").exists()
    assert "proving 2 limits with 6 pairs" in said

    # The cuts of a storage are of one machine. Its evidence is here, and is replayed without that machine.
    plan = folder.plan()
    assert plan.crash is not None
    assert {plan.crash.cell(cut.cell).storage: cut.host for cut in plan.crash.trials} == {
        "honest": "a",
        "lying": "c",
    }
    cuts = folder.cuts()
    assert len(cuts) == said.count("[cut ") == 4
    assert {cut.cell.split("/")[1] for cut in cuts if cut.evidence} == {"lying"}
    evidence = next(cut.evidence for cut in cuts if cut.evidence)
    a.run("crash", "--replay", str(folder.path / evidence))
