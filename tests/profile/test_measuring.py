"""A real directory measured with a real fio; and what is refused before anything is touched."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from diskproof.fio import program as fio
from diskproof.profile.place import Wanted, look_at
from diskproof.profile.plan import FULL, QUICK, estimated_s, plan_cells
from diskproof.refusal import RefusalError
from diskproof.results.profile import Probe, Profile, ProfileCell, write_profile
from diskproof.system.journal import Journal
from diskproof.system.loops import loops_on
from diskproof.system.processes import Starter, children
from support.command import environment, wait_for
from support.profiles import SIZE_BYTES, Ear, make_profile

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="loop devices and mounts need root")


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))


@pytest.fixture
def block(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "backing"
    with file.open("wb") as backing:
        backing.truncate(SIZE_BYTES)
    argv = ["losetup", "--find", "--show", str(file)]
    device = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
    yield Path(device)
    subprocess.run(["losetup", "--detach", device], check=True)
    assert not loops_on(file)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "memory"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120m", "diskproof", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


# ---------------------------------------------------------------- what is measured


def test_a_directory_is_measured_and_left_as_it_was(tmp_path: Path) -> None:
    place = tmp_path / "place with spaces"
    place.mkdir()
    ear = Ear()
    wanted = ("pass-read", "random-read-4k-qd", "mixed", "synced-append", "dsync")
    made = make_profile(place, *wanted, ear=ear)
    assert [cell.error for cell in made.cells] == [None] * 7
    assert [probe.name for probe in ear.begun] == [cell.probe.name for cell in ear.ended]
    assert ear.begun[0].pattern == "pass-write", "it makes the file, asked for or not"
    assert ear.lefts[-1] < ear.lefts[0]
    assert list(place.iterdir()) == []
    assert not ear.stuck
    assert made.place.mount_point
    assert made.place.size_bytes == SIZE_BYTES

    _queues_agree(made)
    _kinds_of_request_agree(made)
    record = tmp_path / "profile.json"
    write_profile(record, made)
    assert Profile.model_validate_json(record.read_text()) == made


def _queues_agree(made: Profile) -> None:
    for depth in (1, 8):
        cell = made.cell("random-read", 4096, depth)
        assert cell
        assert cell.requests
        # Little's law: what is under way is the rate times the latency; the CPU takes the rest.
        assert 0.4 * depth < cell.requests.per_s * cell.requests.mean_us / 1e6 < 1.3 * depth
        assert cell.writes is None
        assert cell.flushes is None


def _kinds_of_request_agree(made: Profile) -> None:
    written = made.cell("pass-write", 2**20)
    assert written
    assert written.writes
    assert written.writes.bytes == SIZE_BYTES
    mixed = made.cell("mixed", 16384)
    assert mixed
    assert mixed.requests
    assert mixed.reads
    assert mixed.writes
    assert mixed.reads.requests + mixed.writes.requests == mixed.requests.requests
    means = sorted((mixed.reads.mean_us, mixed.writes.mean_us))
    assert means[0] <= mixed.requests.mean_us <= means[1]
    append = made.cell("synced-append", 4096)
    assert append
    assert append.writes
    assert append.flushes
    assert abs(append.flushes.requests - append.writes.requests) <= 2, "each write has its flush"
    assert sum(count for _, count in append.flushes.bins_us) == append.flushes.requests
    assert "sync=dsync" in next(cell.job for cell in made.cells if cell.probe.pattern == "dsync-append")


@needs_root
def test_fileio_syncs_128_times_after_100_requests(memory: Path) -> None:
    # In main memory, where many rounds fit into a moment.
    cell = make_profile(memory, "fileio").cell("fileio", 16384)
    assert cell
    assert cell.requests
    assert cell.flushes
    assert cell.reads
    assert cell.writes
    assert cell.requests.requests >= 100
    rounds = cell.requests.requests / 100
    assert 128 * (rounds - 1.1) <= cell.flushes.requests <= 128 * (rounds + 1.1)
    assert cell.reads.requests / cell.writes.requests == pytest.approx(1.5, abs=0.05)


@needs_root
def test_a_block_device_is_only_read_unless_it_is_named_twice(block: Path, tmp_path: Path) -> None:
    before = (tmp_path / "backing").read_bytes()
    made = make_profile(block, "16k", "pass")
    assert {cell.probe.pattern for cell in made.cells} == {"pass-read", "random-read"}
    assert (tmp_path / "backing").read_bytes() == before
    assert any("--write" in note.text for note in made.notes)
    with pytest.raises(RefusalError, match="no cell matches random-write"):
        make_profile(block, "random-write")
    written = make_profile(block, "random-write-16k-qd1", write=block)
    assert [cell.error for cell in written.cells] == [None]
    assert (tmp_path / "backing").read_bytes() != before


@needs_root
def test_a_device_with_something_on_it_is_not_written(block: Path, tmp_path: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", str(block)], check=True)
    with pytest.raises(RefusalError, match=r"holds ext4 on .*wipefs --all"):
        look_at(Wanted(str(block), SIZE_BYTES, write=str(block)))
    (tmp_path / "mnt").mkdir()
    subprocess.run(["mount", str(block), str(tmp_path / "mnt")], check=True)
    try:
        with pytest.raises(RefusalError, match=f"{block} is mounted at {tmp_path / 'mnt'}"):
            look_at(Wanted(str(block), SIZE_BYTES, write=str(block)))
    finally:
        subprocess.run(["umount", str(tmp_path / "mnt")], check=True)


@needs_root
def test_a_device_that_somebody_has_open_is_not_written(block: Path, tmp_path: Path) -> None:
    """As zfs-fuse and virtual machines have theirs, with no claim that the kernel knows of."""
    with block.open("rb"), pytest.raises(RefusalError, match=f"process {os.getpid()}"):
        look_at(Wanted(str(block), SIZE_BYTES, write=str(block)))
    ready = look_at(Wanted(str(block), SIZE_BYTES, write=str(block)))
    subprocess.run(["mkfs.ext4", "-q", "-L", "letters", str(block)], check=True)
    before = (tmp_path / "backing").read_bytes()
    journal = Journal.begin("test")
    with pytest.raises(RefusalError, match='holds ext4 "letters"'), ready.open(journal):
        pass
    assert journal.finish() == []
    assert (tmp_path / "backing").read_bytes() == before


@needs_root
def test_a_device_that_is_written_is_held_to_the_end(block: Path) -> None:
    class Somebody(Ear):
        def cell_ends(self, cell: ProfileCell) -> None:
            argv = ["mkfs.xfs", "-q", "-f", str(block)]
            made = subprocess.run(argv, check=False, capture_output=True, text=True)
            assert made.returncode != 0
            assert "busy" in made.stderr
            super().cell_ends(cell)

    ear = Somebody()
    written = make_profile(block, "random-write-16k-qd1", write=block, ear=ear)
    assert [cell.error for cell in written.cells] == [None]
    assert len(ear.ended) == 1
    os.close(os.open(block, os.O_RDONLY | os.O_EXCL))


def test_the_look_at_a_directory_makes_nothing_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    folder.mkdir()
    before = folder.stat().st_mtime_ns
    assert look_at(Wanted(str(folder), SIZE_BYTES)).makes_file
    assert folder.stat().st_mtime_ns == before


@needs_root
def test_a_read_only_file_system_is_named(memory: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(memory)], check=True)
    with pytest.raises(RefusalError, match="is read-only; mount it writable"):
        look_at(Wanted(str(memory), SIZE_BYTES))


@needs_root
def test_memory_and_the_page_cache_are_noted(memory: Path) -> None:
    made = make_profile(memory, "random-read-16k-qd1")
    assert [cell.error for cell in made.cells] == [None, None]
    assert any("tmpfs is main memory" in note.text for note in made.notes)
    assert any("takes no direct I/O" in note.text for note in made.notes) != made.place.direct


def test_other_work_on_the_machine_is_noted(tmp_path: Path) -> None:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        made = make_profile(tmp_path, "synced-append")
    finally:
        for one in busy:
            one.kill()
            one.wait()
    assert any("other processes took" in note.text for note in made.notes)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("name", "size", "said"),
    [
        ("nowhere", SIZE_BYTES, "there is no .*nowhere.*disk attach NAME"),
        ("file", SIZE_BYTES, "neither a directory nor a block device"),
        (".", 2**20, "needs at least 16 MiB"),
        (".", 2**60, "lower --size"),
    ],
)
def test_a_place_that_cannot_be_measured_is_refused(tmp_path: Path, name: str, size: int, said: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RefusalError, match=said):
        look_at(Wanted(str(tmp_path / name), size))


def test_a_full_disk_is_not_helped_by_a_smaller_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=2**20))
    with pytest.raises(RefusalError, match=r"has 1 MiB free.*make room, or name another directory"):
        look_at(Wanted(str(tmp_path), SIZE_BYTES))


def test_write_is_for_block_devices(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match="--write is for block devices"):
        look_at(Wanted(str(tmp_path), SIZE_BYTES, write=str(tmp_path)))


def test_a_missing_or_old_fio_is_refused_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RefusalError, match="apt-get install fio"):
        fio.version()
    script = tmp_path / "fio"
    for answer, said in (
        ("fio-3.1", r"is fio-3.1; install fio 3\.\d+ or newer"),
        ("what", "as its version"),
    ):
        script.write_text(f"#!/bin/sh\necho {answer}\n")
        script.chmod(0o755)
        with pytest.raises(RefusalError, match=said):
            fio.version()


@needs_root
def test_a_disk_that_fills_up_meanwhile_is_an_error_with_fios_words(memory: Path) -> None:
    filler = memory / "filler"

    class Filling(Ear):
        def cell_begins(self, probe: Probe, left_s: float) -> None:
            filler.write_bytes(b"x" * (110 * 2**20))
            super().cell_begins(probe, left_s)

    with pytest.raises(RefusalError, match=r"(?i)could not be written.*no space left"):
        make_profile(memory, "pass", ear=Filling())
    assert list(memory.iterdir()) == [filler]


# ---------------------------------------------------------------- plan and end


def test_the_plan_has_every_cell_that_the_page_promises() -> None:
    names = [probe.name for probe in plan_cells(FULL, writable=True)]
    assert len(names) == len(set(names)) == 8 * 8 + 7
    assert {"random-write-16k-qd128", "sequential-read-1m-qd64", "fileio-16k-qd1"} <= set(names)
    quick_s = sum(estimated_s(probe, QUICK, QUICK.size_bytes) for probe in plan_cells(QUICK, writable=True))
    assert 20 < quick_s < 40


def test_an_interrupted_profile_leaves_nothing(tmp_path: Path) -> None:
    """Two at a time, each under a state folder of its own: most of it is waiting."""
    started = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        folder = tmp_path / number.name
        place = folder / "place"
        place.mkdir(parents=True)
        options = ["--size", "32MiB", "--seconds", "30", "--only", "random-read-4k-qd1"]
        started[number] = subprocess.Popen(
            [sys.executable, "-m", "diskproof", "disk", "profile", str(place), *options],
            env=environment(folder),
            stderr=subprocess.PIPE,
            text=True,
        )
    until = time.monotonic() + 20
    while len(list(tmp_path.glob("*/place/diskproof-*/profile.dat"))) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)  # the pass is over and the cell is under way
    for number, process in started.items():
        process.send_signal(number)
    for number, process in started.items():
        _, said = process.communicate(timeout=20)
        assert process.returncode == 130, said
        assert "Traceback" not in said
        assert list((tmp_path / number.name / "place").iterdir()) == []
        assert not list((tmp_path / number.name / "state").glob("*.jsonl"))


def test_a_fio_that_waits_for_a_killed_worker_is_ended_within_seconds(tmp_path: Path) -> None:
    """It is stopped, as if it waited: a killed worker makes fio wait for ever, or not, by chance."""
    job_file = tmp_path / "job.fio"
    lines = ("[job]", "size=1M", "rw=randread", "ioengine=psync", "time_based", "runtime=60")
    job_file.write_text("\n".join(lines))
    journal = Journal.begin("test")
    job = fio.Job(Starter(journal), job_file)
    try:
        wait_for(lambda: children(job.pid))
        psutil.Process(job.pid).suspend()
        os.kill(children(job.pid)[0], signal.SIGKILL)
        began = time.monotonic()
        with pytest.raises(RefusalError, match="a worker of fio died"):
            job.result(60)
        assert time.monotonic() - began < 10
    finally:
        job.end()
        journal.finish()
