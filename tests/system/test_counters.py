"""The kernel's counters, read from the real /proc."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from diskproof.storage.filesystem import UNAWARE_OF_MOUNTS
from diskproof.system.counters import cpu_time_s, device_counters, host_counters, open_files
from diskproof.system.machine import describe_machine
from diskproof.system.mounts import block_device, describe, mount_of, mounts
from diskproof.system.processes import children


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_cpu_time_of_a_process_is_what_it_burnt() -> None:
    before_s = cpu_time_s([os.getpid()])
    burn(0.2)
    used = cpu_time_s([os.getpid()]) - before_s
    assert 0.15 <= used <= 0.4


def test_host_cpu_time_covers_ours() -> None:
    before = host_counters()
    burn(0.2)
    after = host_counters()
    assert after.host_cpu_busy_s - before.host_cpu_busy_s >= 0.15
    assert after.context_switches >= before.context_switches


def test_the_cpus_of_the_run_and_of_the_host_are_recorded() -> None:
    """As in a container with a cpuset: the affinity shrinks, /proc/stat does not."""
    usable = os.sched_getaffinity(0)
    lines = Path("/proc/stat").read_text().splitlines()
    try:
        os.sched_setaffinity(0, {min(usable)})
        machine = describe_machine([], [], "0")
    finally:
        os.sched_setaffinity(0, usable)
    assert machine.cpus == 1
    assert machine.host_cpus == sum(line.startswith("cpu") for line in lines) - 1


BURNING_CHILD = """
import subprocess, sys
burn = "import time\\nwhile time.process_time() < 0.3: pass"
subprocess.run([sys.executable, "-c", burn], check=True)
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_child_that_has_ended_still_counts() -> None:
    """PostgreSQL's backends come and go: what they used stays used."""
    parent = subprocess.Popen(
        [sys.executable, "-c", BURNING_CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout
    parent.stdout.readline()
    used_s = cpu_time_s([parent.pid, *children(parent.pid)])
    parent.communicate()
    # The kernel rounds user and system time down to hundredths, each.
    assert used_s >= 0.28


def test_children_are_those_that_live() -> None:
    parent = subprocess.Popen(["sh", "-c", "sleep 60 & sleep 60 & wait"])
    end = time.monotonic() + 5
    while len(found := children(parent.pid)) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert set(found) == {child.pid for child in psutil.Process(parent.pid).children()}
    assert len(found) == 2
    for pid in (*found, parent.pid):
        os.kill(pid, signal.SIGKILL)
    parent.wait()
    assert children(parent.pid) == []


def test_a_process_that_is_gone_counts_nothing() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert cpu_time_s([process.pid]) == 0
    assert open_files([process.pid]) == []


def test_open_files_are_those_open_for_writing(tmp_path: Path) -> None:
    names = {name: tmp_path / name for name in ("written", "only read", "deleted")}
    for path in names.values():
        path.write_text("x")
    script = (
        "import sys; a=open(sys.argv[1],'r+'); b=open(sys.argv[2]); c=open(sys.argv[3],'w');"
        "print('ready', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, names.values())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # pytest's own is a deleted file, open for writing
    )
    assert process.stdout
    process.stdout.readline()
    names["deleted"].unlink()
    found = dict(open_files([process.pid]))
    with_read = dict(open_files([process.pid], read_too=lambda path: path.endswith("/only read")))
    process.communicate()
    device = names["written"].stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    assert found == {str(names["written"]): number, f"{names['deleted']} (deleted)": number}
    assert with_read == {**found, str(names["only read"]): number}


def test_a_file_that_many_threads_hold_is_looked_at_once(tmp_path: Path) -> None:
    looked: list[str] = []

    def read_too(path: str) -> bool:
        looked.append(path)
        return True

    file = tmp_path / "file"
    file.write_text("x")
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(file.open())
        found = dict(open_files([os.getpid()], read_too=read_too))
    assert str(file) in found
    assert looked.count(str(file)) == 1


def test_a_device_that_is_not_there_has_no_counters() -> None:
    assert device_counters("no-such-disk") is None


def test_real_disks_have_counters() -> None:
    disks = [name for name in psutil.disk_io_counters(perdisk=True) if device_counters(name)]
    for name in disks:
        counters = device_counters(name)
        assert counters
        assert (
            counters.written_bytes == psutil.disk_io_counters(perdisk=True)[name].write_bytes
            or counters.writes
        )


def test_the_mount_of_a_path_is_the_one_that_stat_means(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/proc"), Path("/dev/shm")):
        device = path.stat().st_dev
        assert mount_of(path).device_number == f"{os.major(device)}:{os.minor(device)}"


def test_memory_file_systems_have_no_disk() -> None:
    tmpfs = next(mount for mount in mounts() if mount.filesystem == "tmpfs")
    assert block_device(tmpfs) is None


@pytest.fixture
def loop_devices(tmp_path: Path) -> Iterator[list[str]]:
    """Two disks of their own, made of files."""
    devices = []
    try:
        for name in ("one", "two"):
            image = tmp_path / name
            image.touch()
            os.truncate(image, 128 * 2**20)
            argv = ["losetup", "--find", "--show", str(image)]
            devices.append(subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip())
        yield devices
    finally:
        for device in devices:
            subprocess.run(["losetup", "--detach", device], check=True)


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("mkfs.btrfs") or not Path("/dev/loop-control").exists(),
    reason="needs root, loop devices and mkfs.btrfs",
)
@pytest.mark.parametrize("disks", [1, 2])
def test_a_btrfs_has_a_disk_only_where_it_has_one(
    disks: int, loop_devices: list[str], tmp_path: Path
) -> None:
    mount_point = tmp_path / "mounted"
    mount_point.mkdir()
    used = loop_devices[:disks]
    subprocess.run([*UNAWARE_OF_MOUNTS, "mkfs.btrfs", "--quiet", "--data", "single", *used], check=True)
    subprocess.run(["mount", "-t", "btrfs", used[0], str(mount_point)], check=True)
    try:
        device = block_device(mount_of(mount_point))
    finally:
        subprocess.run(["umount", str(mount_point)], check=True)
    assert (device.name if device else None) == (Path(used[0]).name if disks == 1 else None)


def plug_in(sys: Path, name: str, *, below: tuple[str, ...] = (), flushes: int = 0, **facts: str) -> None:
    """Make a device in a /sys of our own, as the kernel lays it out; `below` may name partitions."""
    folder = sys / "devices" / name
    (folder / "slaves").mkdir(parents=True)
    (folder / "stat").write_text(f"{'7 ' * 15}{flushes} 0\n")
    for fact, text in facts.items():
        file = folder / fact.replace("__", "/")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{text}\n")
    for part in below:
        (folder / "slaves" / part).symlink_to(next((sys / "devices").rglob(part)))
    (sys / "block").mkdir(exist_ok=True)
    (sys / "block" / name).symlink_to(folder)


def divide(sys: Path, disk: str, partition: str) -> None:
    folder = sys / "devices" / disk / partition
    folder.mkdir()
    (folder / "partition").write_text("1\n")


def test_a_volume_is_counted_at_the_disks_below_it(tmp_path: Path) -> None:
    """LUKS on LVM on a RAID of a partition of each of two disks."""
    for name in ("sda", "sdb"):
        plug_in(tmp_path, name, device__model="ST4000NM", queue__fua="1", flushes=9)
        divide(tmp_path, name, f"{name}2")
    plug_in(tmp_path, "md0", below=("sda2", "sdb2"))
    plug_in(tmp_path, "dm-0", below=("md0",))
    plug_in(tmp_path, "dm-1", below=("dm-0",), queue__rotational="1")
    volume = describe("dm-1", tmp_path)
    assert volume.name == "dm-1"
    assert volume.leaves == volume.counted == ["sda", "sdb"]
    assert volume.counts_flushes
    assert volume.model == "ST4000NM"
    assert volume.rotational
    disk = describe("sda", tmp_path)
    assert disk.leaves == []
    assert disk.counted == ["sda"]
    assert disk.fua


def test_a_disk_without_counted_flushes_is_marked(tmp_path: Path) -> None:
    plug_in(tmp_path, "sda", flushes=9)
    plug_in(tmp_path, "nvme0n1")
    plug_in(tmp_path, "md0", below=("sda", "nvme0n1"))
    assert describe("sda", tmp_path).counts_flushes
    assert not describe("nvme0n1", tmp_path).counts_flushes
    assert not describe("md0", tmp_path).counts_flushes


def test_the_disk_below_this_test_is_described_by_the_real_kernel(tmp_path: Path) -> None:
    device = block_device(mount_of(tmp_path))
    if device is None:
        pytest.skip(f"{tmp_path} lies on no single disk")
    counters = device_counters(device.counted[0])
    assert counters is not None
    assert device.counts_flushes == bool(counters.flushes) or device.leaves
