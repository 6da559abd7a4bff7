"""Whole runs of loads on bare files, through the command line, and what they leave in the run folder."""

import io
import os
import re
import resource
from csv import DictReader
from pathlib import Path

import pytest

from diskproof.analysis.folder import analyse_folder
from diskproof.fio import program
from diskproof.fio.program import MOST_THREADS, FioError, check_threads
from diskproof.report import csv, markdown
from diskproof.results.folder import RunFolder
from diskproof.results.load import FileRequests, LoadResult
from diskproof.results.trial import Trial
from diskproof.run.bare import held_open, zeroes_will_do
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter
from support.command import diskproof_here
from support.trials import change, make_places
from support.virtual import VOLUME, VOLUME_US, needs_virtual_disks

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a tmpfs of its own needs root")

pytestmark = [pytest.mark.timeout(240)]

HEAD = """
question = "How fast are the files?"
[design]
repeat_disturbed = false
blocks = {blocks}
warm_up_s = 0
measure_s = 0.5
clients = [2]
"""

DISKS = """
[storages.volume]
virtual = "./volume.toml"
size = "128 MiB"
below_floor = true  # a machine with other work may take long for anything
[storages.xfs]
virtual = "./volume.toml"
size = "512 MiB"
filesystem = "xfs"
below_floor = true
[storages.zip]
virtual = "./volume.toml"
size = "512 MiB"
filesystem = "btrfs"
mount_options = "compress=lzo"
below_floor = true
[workloads.reads]
kind = "fileio"
mode = "rndrd"
total_size = "32 MiB"
files = 8
[workloads.mixed]
kind = "fileio"
storages = ["volume"]
mode = "rndrw"
total_size = "32 MiB"
files = 8
sync_every = 20
warm_up_s = 0.2
measure_s = 1
"""

PASSES = """
[storages.here]
directory = "here"
[storages.memory]
ram = "64 MiB"
[workloads.reads]
kind = "fileio"
mode = "seqrd"
total_size = "16 MiB"
files = 4
block_size = "64 KiB"
clients = [1]
[workloads.dd]
kind = "fileio"
storages = ["here"]
mode = "seqwr"
direct = false
total_size = "24 MiB"
files = 1
block_size = "1 MiB"
clients = [1]
[workloads.back]
kind = "fileio"
storages = ["here"]
mode = "seqrd"
direct = false
total_size = "24 MiB"
files = 3
block_size = "1 MiB"
"""


def run(folder: Path, text: str, *, blocks: int) -> RunFolder:
    (folder / "volume.toml").write_text(VOLUME)
    (folder / "study.toml").write_text(HEAD.format(blocks=blocks) + text)
    result = diskproof_here(folder, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    assert "Traceback" not in result.stderr
    [made] = (folder / "runs" / "study").iterdir()
    return RunFolder.open(made)


def requests_of(trial: Trial) -> tuple[LoadResult, FileRequests]:
    assert trial.load
    assert trial.load.file_requests
    return trial.load, trial.load.file_requests


@needs_virtual_disks
def test_requests_their_time_and_their_bytes_are_those_of_the_disk(tmp_path: Path) -> None:
    """Of one run on ext4, XFS and a btrfs that compresses: a run takes longer to begin than its trials."""
    folder = run(tmp_path, DISKS, blocks=2)
    trials, machine = folder.trials(), folder.machine()
    assert machine
    assert machine.fio_version
    assert [trial.finished for trial in trials] == [True] * 8
    for storage in ("volume", "xfs", "zip"):
        first, *others = [one.data.restored_by for one in trials if storage in one.cell and one.data]
        assert (first, set(others)) == ("written", {"snapshot"})
    for trial in trials:
        [disk], (load, moved) = trial.virtual_disks, requests_of(trial)
        assert trial.usage
        assert trial.usage.seconds == load.known_seconds < trial.usage.host_seconds
        assert disk.read.bytes >= (moved.read_bytes or 0) > 0
        job = (folder.path / "servers" / trial.id / "measured.fio").read_text()
        assert ("zero_buffers" in job) is ("zip" not in trial.cell), "in every block alike"
    plain = [trial for trial in trials if "volume" in trial.cell]
    for trial in plain:
        check_every_request_reached_the_disk(trial)
    mixed = [requests_of(trial)[0] for trial in plain if "mixed" in trial.cell]
    assert [load.seconds for load in mixed] == pytest.approx([1.0, 1.0], abs=0.3)
    reads, writes, others = (
        sum(getattr(load, kind) for load in mixed) for kind in ("reads", "writes", "others")
    )
    assert reads / writes == pytest.approx(1.5, rel=0.2)
    assert others / (reads + writes) == pytest.approx(8 / 20, rel=0.25)
    [kept] = {kept_of(folder, trial) for trial in plain if "mixed" in trial.cell}
    assert kept == tuple(
        f"{phase}.{end}" for phase in ("measured", "warm-up") for end in ("err", "fio", "json")
    )
    asked = [path.read_text() for path in folder.path.glob("servers/*/*.fio")]
    drawn = [int(seed) for text in asked for seed in re.findall(r"randseed=(\d+)", text)]
    seeds = {thread * seed for seed in drawn for thread in range(1, 65)}
    assert len(drawn) > 1
    assert len(seeds) == 64 * len(set(drawn)), "fio multiplies them by the thread's number: none meet again"
    assert list((tmp_path / "state").glob("*.jsonl")) == [], "nothing of it is left"


def check_every_request_reached_the_disk(trial: Trial) -> None:
    (load, moved), [disk] = requests_of(trial), trial.virtual_disks
    assert trial.usage
    assert disk.block
    seen = trial.usage.devices[disk.block]
    assert 0 <= seen.read_bytes - (moved.read_bytes or 0) < 2**20, "nothing else reads, and no cache answers"
    assert 0 <= seen.written_bytes - (moved.written_bytes or 0) < 4 * 2**20, "the journal is written too"
    assert (load.reads or 0) * 16384 == moved.read_bytes
    assert load.latency_us
    assert (load.latency_us.min or 0) > 0.9 * VOLUME_US
    assert load.transactions_per_s < 2 * 1e6 / VOLUME_US
    assert len([file for file in trial.open_files if file.role == "data" and file.as_declared]) == 8
    assert all(file.as_declared for file in trial.open_files)
    assert trial.load_command.startswith("cd ")
    assert disk.contents_bytes < 16 * 2**20, "files of zeroes are kept for nothing"


def kept_of(folder: RunFolder, trial: Trial) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in (folder.path / "servers" / trial.id).iterdir()))


@needs_root
def test_passes_over_files_are_whole_and_a_report_speaks_of_no_server(tmp_path: Path) -> None:
    folder = run(tmp_path, PASSES, blocks=1)
    trials = folder.trials()
    assert all(trial.finished for trial in trials), [trial.findings for trial in trials]
    by_cell = {trial.cell: trial for trial in trials}
    for cell, asked in (("here/dd/1c", "writes"), ("here/back/2c", "reads")):
        load, moved = requests_of(by_cell[cell])
        assert moved.one_pass
        assert getattr(load, asked) == load.transactions == 24, "each block once"
    job = (folder.path / "servers" / by_cell["here/dd/1c"].id / "measured.fio").read_text()
    assert "end_fsync=1" in job
    assert "zero_buffers" not in job, "a real disk may make nothing of zeroes"
    check_report(folder)


def check_report(folder: RunFolder) -> None:
    analysis = analyse_folder(folder)
    text = (folder.path / "report.md").read_text()
    assert text == markdown.render(analysis, markdown.PICTURE)
    assert "Requests/s" in text
    assert "MB/s" in text
    assert "Transactions" not in text
    assert not re.search(r"in -|at -| of memory", text)
    here, memory = (one for one in analysis.cells if one.cell.workload == "reads")
    assert here.figure
    assert here.megabytes_per_s
    assert here.megabytes_per_s.estimate == pytest.approx(here.figure.estimate * 65536 / 1e6)
    assert memory.throughput_per_s is None
    assert [verdict.baseline for verdict in analysis.verdicts] == ["here"]
    rows = list(DictReader(io.StringIO(csv.render(folder, analysis))))
    assert all(float(row["load.transactions_per_s"]) > 0 for row in rows)
    page = (folder.path / "report.html").read_text()
    assert "Requests" in page


def test_more_open_files_than_are_allowed_are_refused_at_once(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard == resource.RLIM_INFINITY or hard > 1_000_000:
        pytest.skip("this user may hold any number of files open")
    text = """
    [storages.here]
    directory = "here"
    [workloads.many]
    kind = "fileio"
    mode = "rndrd"
    files = 1000
    clients = [1000]
    """
    (tmp_path / "study.toml").write_text(HEAD.format(blocks=1) + text)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode == 2, result.stderr
    assert "open files" in result.stderr
    assert "`ulimit -Hn`" in result.stderr
    assert not (tmp_path / "runs").exists()
    planned = diskproof_here(tmp_path, "plan", "study.toml")
    assert planned.returncode == 2
    assert "open files" in planned.stderr


def test_more_threads_than_fio_takes_are_refused_at_once() -> None:
    check_threads(MOST_THREADS)
    with pytest.raises(FioError, match=r"not 3,000: lower `clients`"):
        check_threads(3000)


def test_an_error_of_fio_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    journal = Journal.begin("test")
    job = tmp_path / "job.fio"
    job.write_text("[many]\nioengine=null\nsize=4k\nthread=1\nnumjobs=100000\n")
    with pytest.raises(FioError, match="maximum number of jobs"):
        program.run(Starter(journal), job, 10)
    assert all(item.done for item in journal.finish())


def test_a_very_short_pass_is_checked_and_stays_on_its_cpus(tmp_path: Path) -> None:
    text = """
    [storages.here]
    directory = "here"
    [workloads.dd]
    kind = "fileio"
    mode = "seqrd"
    direct = false
    total_size = "1 MiB"
    files = 1
    clients = [1]
    """
    (tmp_path / "study.toml").write_text(
        HEAD.format(blocks=1, warm_up_s=0).replace("blocks", "cpus = 1\nblocks") + text
    )
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    [made] = (tmp_path / "runs" / "study").iterdir()
    [trial] = RunFolder.open(made).trials()
    assert [(file.role, file.as_declared) for file in trial.open_files] == [("data", True)]
    assert trial.held_cpus
    assert trial.held_cpus.load == trial.held_cpus.cpus
    assert "could not be asked" not in result.stderr + result.stdout


def test_libraries_that_fio_reads_are_not_its_files(tmp_path: Path) -> None:
    for name in ("f0", "library.so", "elsewhere"):
        (tmp_path / name).write_bytes(b"bytes")
    with (tmp_path / "f0").open(), (tmp_path / "library.so").open(), (tmp_path / "elsewhere").open("a"):
        found = held_open(os.getpid(), lambda path: "data" if path.endswith("/f0") else None)
    assert [path for path, _ in found if path.startswith(f"{tmp_path}/")] == [
        f"{tmp_path}/elsewhere",
        f"{tmp_path}/f0",
    ]


def test_a_compressing_file_system_gets_random_bytes() -> None:
    [place, *_] = make_places("ram")
    assert zeroes_will_do(place)
    assert not zeroes_will_do(change(place, mount_options="rw,compress=zstd:3"))
    assert not zeroes_will_do(make_places("disk")[0])
