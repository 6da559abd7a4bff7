"""Runs whose trials have slow time: figures of their own second, proved by the server, and nothing left."""

import os
import re
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from diskproof import disk, load
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.machine import ServerFacts
from diskproof.results.trial import Trial
from diskproof.run import slower
from diskproof.run.interventions import Subject, _half_the_cpus
from diskproof.run.slower import OwnTimeError, check_follows, with_dilation
from diskproof.server.base import Running, ServerKind
from diskproof.study.read import StudyError, parse_study, read_study
from diskproof.system.counters import HostCounters
from diskproof.system.dilation import TrialTime
from diskproof.system.undoing import QUOTA_SLICE
from support.command import diskproof_here, marks_in
from support.servers import needs_mariadb
from support.virtual import VOLUME, VOLUME_US, needs_virtual_disks

pytestmark = [needs_virtual_disks, pytest.mark.timeout(240)]

STUDY = """
question = "What does the volume cost in slow time?"
[design]
repeat_disturbed = false
blocks = 1
warm_up_s = 0
measure_s = 1
clients = [1]
memory = ["32 MiB"]
dilation = {dilation}
{more}
[servers.db]
family = "{family}"
[storages.volume]
virtual = "./volume.toml"
[tunings.safest]
[workloads.load]
mix = "update-index"
tables = 1
rows = 200
"""


def run_study(folder: Path, family: str, dilation: object, more: str = "") -> tuple[RunFolder, list[Trial]]:
    (folder / "volume.toml").write_text(VOLUME)
    (folder / "study.toml").write_text(STUDY.format(family=family, dilation=dilation, more=more))
    result = diskproof_here(folder, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    assert "Traceback" not in result.stderr
    [path] = (folder / "runs" / "study").glob("*")
    run = RunFolder.open(path)
    return run, run.trials()


@needs_mariadb
@pytest.mark.parametrize("family", ["sqlite", "mysql"])
def test_all_figures_are_of_the_trials_own_time(tmp_path: Path, family: str) -> None:
    run, [trial] = run_study(tmp_path, family, 4)
    assert run.plan().dilation == run.plan().cpus_count == 4
    assert trial.finished, trial.findings
    assert trial.load is not None
    assert trial.usage is not None
    assert trial.timings is not None
    assert trial.load.seconds == pytest.approx(1, abs=0.1)
    assert trial.usage.seconds == pytest.approx(1, abs=0.3)
    assert trial.timings.measure_s == pytest.approx(4, abs=0.5), "of the machine's"
    [disk] = trial.virtual_disks
    assert disk.seconds == pytest.approx(1, abs=0.3)
    assert disk.write.latency_us is not None
    assert disk.write.latency_us.p50 == pytest.approx(VOLUME_US, rel=0.05)
    assert disk.block is not None
    device = trial.usage.devices[disk.block]
    assert device.write_s is not None
    assert device.write_s / device.writes * 1e6 == pytest.approx(VOLUME_US, rel=0.3), "by the kernel"
    # Each commit waits for at least one write, and does little else.
    assert trial.load.latency_us is not None
    assert VOLUME_US < trial.load.latency_us.mean < 12 * VOLUME_US
    assert trial.load.transactions_per_s < 1e6 / VOLUME_US
    busy = sum(use.used_s for use in trial.usage.cpu.values())
    assert 0 < busy < 2 * trial.usage.seconds
    report = (run.path / "report.md").read_text()
    said = "Trials ran 4 times slower, so that the model disks keep time; each CPU counts as 4"
    assert said in report
    assert marks_in(tmp_path) == {}


@needs_mariadb
def test_server_and_load_may_be_held_to_their_share_of_the_cpus(tmp_path: Path) -> None:
    slice_us = QUOTA_SLICE.read_text()
    run, [trial] = run_study(tmp_path, "mysql", 8, "cpus_count = 1")
    assert QUOTA_SLICE.read_text() == slice_us
    assert run.plan().cpus_count == 1
    assert trial.finished, trial.findings
    assert trial.usage is not None
    assert trial.usage.host_cpu_busy_s is not None
    used_s = trial.usage.cpu["server"].used_s + trial.usage.cpu["load"].used_s
    cpus = len(os.sched_getaffinity(0))
    assert 0 < used_s < 1.3 * cpus * trial.usage.seconds, "as much as the CPUs have in that time"
    assert trial.usage.host_cpu_busy_s >= used_s * 0.8


def test_fio_has_the_trials_time(tmp_path: Path) -> None:
    (tmp_path / "volume.toml").write_text(VOLUME)
    text = STUDY.format(family="sqlite", dilation=4, more="").split("[servers")[0]
    text = text.replace('memory = ["32 MiB"]', "")
    text += '[storages.volume]\nvirtual = "./volume.toml"\n[workloads.files]\nkind = "fileio"\n'
    text += 'mode = "rndrd"\nfiles = 1\ntotal_size = "8 MiB"\n'
    (tmp_path / "study.toml").write_text(text)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    [path] = (tmp_path / "runs" / "study").glob("*")
    [trial] = RunFolder.open(path).trials()
    assert trial.load is not None
    assert trial.load.latency_us is not None
    assert trial.load.seconds == pytest.approx(1, abs=0.1)
    # By the machine's clock a request takes four times as long.
    assert VOLUME_US <= trial.load.latency_us.mean < 2 * VOLUME_US
    assert 0.5e6 / VOLUME_US < trial.load.transactions_per_s <= 1e6 / VOLUME_US


class KeepsOtherTime:
    """A server whose program does not take the library's clocks."""

    facts = ServerFacts(name="db", family="mysql", flavour="MariaDB", version="11.8.2", binary="mariadbd")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        time.sleep(float(sql.removeprefix("SELECT SLEEP(").removesuffix(")")))
        return [(0,)]


def test_a_server_that_keeps_other_time_is_found_out() -> None:
    running = cast("Running", KeepsOtherTime())
    check_follows(running, TrialTime())
    with pytest.raises(OwnTimeError, match=r"the server slept for 0\.05 s in 0\.0\d\d s of that time"):
        check_follows(running, TrialTime(8, 8))


@needs_mariadb
def test_a_cut_has_its_moments_in_the_trials_time(tmp_path: Path) -> None:
    cuts = "[crash]\ncuts = 2\naccounts = 100\ncut_after_s = 0.2\ncut_before_s = 0.4\n"
    (tmp_path / "volume.toml").write_text(VOLUME)
    text = STUDY.format(family="mysql", dilation=4, more="").split("[workloads")[0] + cuts
    (tmp_path / "study.toml").write_text(text)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    [path] = (tmp_path / "runs" / "study").glob("*")
    made = RunFolder.open(path).cuts()
    assert len(made) == 2
    for cut in made:
        assert cut.finished, cut.findings
        assert cut.acknowledged
        assert cut.timings.load_s is not None
        assert cut.timings.load_s >= 4 * 0.2, "of the machine's"
        assert cut.acknowledged <= 8 * 0.6e6 / VOLUME_US, "at most one a client and write"
        assert cut.ledger is not None
        assert cut.ledger.lost == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("dilation = 4", "dilation = 0", "`design.dilation`: give 1, 2, 4, 8, 16, 32, 64 or 'auto'"),
        ("dilation = 4", "dilation = -8", "`design.dilation`"),
        ("dilation = 4", "dilation = 1000", "`design.dilation`"),
        ("dilation = 4", "dilation = 4\ncpus_count = 8", "cannot count more often than `dilation`, 4"),
        ("dilation = 4", "cpus_count = 1", "it needs `dilation`"),
        ('virtual = "./volume.toml"', 'directory = "/tmp"', "`directory` keeps the machine's time"),
        ('virtual = "./volume.toml"', 'ram = "1 GiB"', "there is no virtual disk"),
        ('family = "mysql"', 'family = "mysql"\nimage = "mariadb:11"', "is in a container"),
    ],
)
def test_slow_time_that_means_nothing_is_refused(old: str, new: str, said: str) -> None:
    text = STUDY.format(family="mysql", dilation=4, more="")
    assert old in text
    with pytest.raises(StudyError) as refused:
        parse_study(text.replace(old, new), "study.toml")
    assert said in str(refused.value)


def test_a_server_with_a_url_keeps_its_own_time() -> None:
    text = STUDY.format(family="mysql", dilation=4, more="")
    text = text.replace('family = "mysql"', 'family = "mysql"\n[servers.theirs]\nurl = "mysql://a@b/c"')
    with pytest.raises(StudyError, match="server `theirs` is there already, and its clocks cannot be slowed"):
        parse_study(text, "study.toml")


@pytest.mark.parametrize(
    ("device", "dilation"),
    [("desktop-7200", 1), ("kexin-240", 4), ("samsung-970-pro", 16), ("datacentre-nvme", 64), ("null", 1)],
)
def test_as_slow_as_the_disks_need_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, dilation: int
) -> None:
    monkeypatch.setattr(disk, "floor_us", lambda: 18.0)
    text = STUDY.format(family="mysql", dilation='"auto"', more="").replace("./volume.toml", device)
    (tmp_path / "study.toml").write_text(text)
    file = read_study(tmp_path / "study.toml")
    assert file.study.design.slower == 1, "as long as nobody has measured the way to the disks"
    assert with_dilation(file).study.design.slower == dilation


def test_the_disks_of_a_composed_one_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "floor_us", lambda: 18.0)
    composed = (
        '[storages.volume.composed]\nhow = "block-cache"\nfront = "samsung-970-pro"\nback = "desktop-7200"'
    )
    text = STUDY.format(family="mysql", dilation='"auto"', more="")
    text = text.replace('[storages.volume]\nvirtual = "./volume.toml"', composed)
    (tmp_path / "study.toml").write_text(text)
    assert with_dilation(read_study(tmp_path / "study.toml")).study.design.slower == 16


def test_a_synced_append_is_a_mean_of_means(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk whose flushes are mostly quick has a median far below what they take together."""
    said = {"mean_us": 10.0, "flush_mean_us": 30.0, "flush_median_us": 2.0}
    monkeypatch.setattr(disk, "simulate", lambda *_, **__: said)
    assert slower.append_us("some-disk") == 20.0


def load_program(*arguments: str) -> "subprocess.CompletedProcess[str]":
    argv = [str(load.program()), *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


def test_sqlite_waits_for_a_lock_in_slow_time(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'db'}?busy_timeout_ms=500&journal_mode=wal"
    options = ["oltp", "--url", url, "--tables", "1", "--rows", "100"]
    assert load_program("prepare", *options).returncode == 0
    with closing(sqlite3.connect(tmp_path / "db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        run = load_program("run", *options, "--mix", "update-index", "--seconds", "1.2", "--dilation", "4")
    assert re.search(r"met [23] times by index_update: .*SQLITE_BUSY", run.stderr), "each took half a second"


def test_counters_become_those_of_the_trial() -> None:
    """A second of the machine is an eighth of the trial's, also of a CPU that counts eight times."""
    host = HostCounters(
        host_cpu_busy_s=8.0, host_cpu_iowait_s=4.0, host_cpu_steal_s=0.0, context_switches=800
    )
    own = TrialTime(8, 8).own(host)
    assert (own.host_cpu_busy_s, own.host_cpu_iowait_s, own.context_switches) == (1.0, 0.5, 800)
    assert TrialTime().own(host) is host
    assert TrialTime(8, 8).held_by_server_and_load(6.0) == 0
    assert TrialTime(8, 1).held_by_server_and_load(8.0) == 7.0, "of 8 s, others' CPUs would have counted 1"


def test_half_the_cpus_prove_nothing_beside_a_quota() -> None:
    subject = cast("Subject", SimpleNamespace(bench=SimpleNamespace(elsewhere=None, quota=object())))
    assert "`cpus_count` holds server and load" in str(_half_the_cpus(subject))


def test_a_library_that_cannot_be_loaded_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    hardened = SimpleNamespace(f_flag=os.ST_NOEXEC)
    monkeypatch.setattr(os, "statvfs", lambda _: hardened)
    server = cast("ServerKind", SimpleNamespace(facts=KeepsOtherTime.facts))
    slower.check_slower(TrialTime(), [server])
    slower.check_slower(TrialTime(8, 8), [])
    with pytest.raises(RefusalError, match="in /tmp, which is mounted `noexec`"):
        slower.check_slower(TrialTime(8, 8), [server])
