"""A throttle holds the server's processes, and nobody else, to rates of a real disk."""

import subprocess
import time
from pathlib import Path

import pytest

from diskproof.storage.kinds.base import StorageError
from diskproof.storage.layout import Layout, check_layout
from diskproof.storage.places import Places
from diskproof.storage.throttle import ThrottledGroup, controller
from diskproof.system.journal import Journal
from diskproof.system.undoing import remove_cgroup
from support.disks import MIB, loop_device, needs, needs_root, storage

pytestmark = [
    needs_root,
    pytest.mark.skipif(controller() is None, reason="no control group here can throttle a disk"),
]

READ_IOPS = 40
READS = 80
"""Twice what a token bucket lets pass at once would be too few to tell; these take 2 s."""

READER = f"""
import mmap, os, sys
print(flush=True)
sys.stdin.readline()
page = mmap.mmap(-1, 4096)
disk = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
for number in range({READS}):
    os.preadv(disk, [page], number * 4096)
"""


def ready_reader(device: Path) -> subprocess.Popen[bytes]:
    """Start a process that waits for a signal to read, so that Python's start is not timed."""
    argv = ["python3", "-c", READER, str(device)]
    reader = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert reader.stdout is not None
    reader.stdout.readline()
    return reader


def seconds_to_read(device: Path, group: ThrottledGroup | None) -> float:
    """Return how long a process takes for its reads, within a group or outside of it."""
    reader = ready_reader(device)
    if group:
        group.enter([reader.pid])
        assert reader.pid in group.holds()
    began = time.monotonic()
    reader.communicate(b"go\n")
    assert reader.returncode == 0
    return time.monotonic() - began


def test_who_is_in_the_group_is_held_to_the_rate(tmp_path: Path, journal: Journal) -> None:
    device = loop_device(tmp_path, journal)
    group = ThrottledGroup({device.name: {"read_iops": READ_IOPS}}, journal)
    held_s = seconds_to_read(device, group)
    free_s = seconds_to_read(device, None)
    assert held_s > 0.8 * READS / READ_IOPS
    assert free_s < held_s / 2


def test_a_layout_throttles_the_disk_below_its_place(tmp_path: Path, journal: Journal) -> None:
    device = loop_device(tmp_path, journal)
    throttle = {"read_iops": READ_IOPS, "write_bytes_per_s": "8 MiB"}
    choice = storage(block=str(device), format=str(device), throttle=throttle)
    check_layout("slow", choice, needs(MIB))
    places = Places(journal)
    layout = Layout("slow", choice, places)
    assert layout.places()[0].throttle == {"read_iops": READ_IOPS, "write_bytes_per_s": 8 * MIB}
    reader = ready_reader(device)
    layout.throttle(lambda: [reader.pid])
    began = time.monotonic()
    reader.communicate(b"go\n")
    assert time.monotonic() - began > 0.8 * READS / READ_IOPS
    places.close()


def test_a_group_lets_its_processes_go_when_it_is_removed(tmp_path: Path, journal: Journal) -> None:
    device = loop_device(tmp_path, journal)
    group = ThrottledGroup({device.name: {"read_iops": READ_IOPS}}, journal)
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        group.enter([sleeper.pid, 2**22 + 1])  # the second has ended, if it ever was
        assert group.holds() == {sleeper.pid}
        (undone,) = remove_cgroup({"cgroup": str(group.folder)})
        sleeper.kill()
    assert undone.done, undone
    assert not group.folder.exists()


def test_throttles_that_mean_nothing_are_refused(tmp_path: Path, journal: Journal) -> None:
    with pytest.raises(ValueError, match="needs at least one of"):
        storage(directory=str(tmp_path), throttle={})
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        storage(directory=str(tmp_path), throttle={"read_iops": 0})
    with pytest.raises(ValueError, match="`throttle` does not belong to a place that is `ram`"):
        storage(ram="64 MiB", throttle={"read_iops": 10})
    shm = storage(directory="/dev/shm/diskproof-test", throttle={"read_iops": 10})
    with pytest.raises(StorageError, match="cannot be throttled"):
        Layout("memory", shm, Places(journal))


def test_two_throttles_of_one_disk_are_refused(tmp_path: Path, journal: Journal) -> None:
    def place(name: str, **keys: object) -> dict[str, object]:
        return {"directory": str(tmp_path / name), **keys}

    both = storage(data=place("a", throttle={"read_iops": 10}), redo=place("b", throttle={"read_iops": 20}))
    with pytest.raises(StorageError, match="give both the same `throttle`"):
        Layout("both", both, Places(journal))
    one = storage(data=place("a", throttle={"read_iops": 10}), redo=place("b"))
    with pytest.raises(StorageError, match="give both the same `throttle`"):
        Layout("one", one, Places(journal))
