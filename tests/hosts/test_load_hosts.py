"""A database on one machine, its load on two others: real Ray, real servers, real TLS."""

import re
from contextlib import suppress

import psutil
import pytest

from diskproof.analysis.folder import invalidating
from diskproof.stats.hdr import decode
from machines import Host, is_quiet
from support.command import wait_for
from support.servers import needs_mariadb

STUDY = """
question = "How fast is it from another machine?"
[hosts]
database = "a"
load = ["b", "c"]
[design]
blocks = {blocks}
warm_up_s = 0.5
measure_s = {measure_s}
clients = [3]
memory = ["32 MiB"]
repeat_disturbed = false
{servers}
[storages.memory]
ram = "700 MiB"
[tunings.fast]
[workloads.simple]
mix = "point-select"
tables = 1
rows = 1000
"""
MARIADB = '[servers.mariadb]\nfamily = "mysql"\n'
POSTGRESQL = '[servers.postgresql]\nfamily = "postgresql"\n'


def running(host: Host, what: str) -> list[psutil.Process]:
    found = []
    for process in host.processes():
        with suppress(psutil.Error):
            if what in " ".join(process.cmdline()):
                found.append(process)
    return found


def nothing_left(hosts: list[Host]) -> bool:
    programs = ("diskproof-load", "mariadbd", "postgres")
    return is_quiet(hosts) and not any(running(host, one) for host in hosts for one in programs)


@needs_mariadb
def test_two_machines_load_a_third(cluster: list[Host]) -> None:
    a, b, _ = cluster
    study = a.write("shared", STUDY.format(servers=MARIADB + POSTGRESQL, blocks=1, measure_s=2))
    assert "on host a, with the load on b, c" in b.run("plan", study, "--hosts")
    said = b.run("run", study, "--hosts")
    folder = b.run_folder("shared")
    trials, machine = folder.trials(), folder.machine()
    assert machine is not None
    assert set(machine.loads) == {"b", "c"}
    assert len(trials) == 2
    for trial in trials:
        assert invalidating(folder, trial) == [], said
        assert [(one.name, one.clients) for one in trial.load_hosts] == [("b", 2), ("c", 1)]
        assert trial.load is not None
        assert trial.load.latency_us is not None
        assert trial.load.latency_us.histogram is not None
        assert decode(trial.load.latency_us.histogram).total == trial.load.transactions
        assert trial.load.clients == 3
        for one in trial.load_hosts:
            # On a busy machine a phase of this length has some transactions at either end.
            assert one.in_service == pytest.approx(one.clients, rel=0.1)
            assert one.began_after_us + one.clock_error_us < 1000
            assert one.to_database_bytes is not None
            assert one.to_database_bytes > one.transactions_per_s * one.seconds * 20
            assert one.network.round_trip_us > 0
        series = folder.series(trial.id)
        assert series is not None
        assert "127.0.0.1" not in trial.load_command
        assert f"@{a.address}:26408" in trial.load_command
    assert nothing_left(cluster)
    page = (folder.path / "report.html").read_text()
    assert "Load host c" in page
    # No password is in the run folder or on any host.
    secret = re.compile(rb"IDENTIFIED|PASSWORD|key\.pem-----")
    kept = [path for path in folder.path.rglob("*") if path.is_file()]
    assert not [
        path for path in kept if b"PRIVATE KEY" in path.read_bytes() or secret.search(path.read_bytes())
    ]


@needs_mariadb
def test_a_load_host_that_dies_voids_the_trial(cluster: list[Host]) -> None:
    a, _b, c = cluster
    study = a.write("killed", f"{STUDY.format(servers=MARIADB, blocks=2, measure_s=3)}rate = 50\n")
    head = a.start("run", study, "--hosts")
    wait_for(lambda: running(c, "diskproof-load run"))
    wait_for(lambda: running(a, "mariadbd"))
    for process in running(c, "diskproof.hosts.loader"):
        process.kill()
    said = head.communicate(timeout=90)[1]
    assert head.returncode == 2, said
    assert "host `c`" in said
    folder = a.run_folder("killed")
    assert all(invalidating(folder, trial) for trial in folder.trials())
    wait_for(lambda: not [one for host in cluster for one in running(host, "diskproof-load")], 20)
    wait_for(lambda: not running(a, "mariadbd"), 20)
    said = a.run("run", study, "--hosts", "--resume")
    assert {trial.id for trial in folder.trials() if not invalidating(folder, trial)} == {
        "b01-t01",
        "b02-t01",
    }
    assert nothing_left(cluster)
