"""The kernel's account of a virtual disk's requests, beside the disk's own."""

import mmap
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from diskproof.results.usage import DeviceUsage, Waiting
from diskproof.storage import virtual
from diskproof.storage.waiting import LEAST_REQUESTS, compare, watched
from diskproof.system.counters import between, device_counters
from diskproof.system.journal import Journal
from support.virtual import VOLUME, VOLUME_US, needs_virtual_disks

MIB = 2**20


def told(seconds: float = 60.0, **means: tuple[int, float]) -> dict[str, Any]:
    """Return statistics of a disk: requests and mean modelled latency by kind."""
    none: dict[str, Any] = {"requests": 0, "latency_us": None}
    kinds: dict[str, Any] = {
        kind: {"requests": requests, "latency_us": {"mean": mean_us}}
        for kind, (requests, mean_us) in means.items()
    }
    return {"seconds": seconds, "queue_depth": {}, "read": none, "write": none, "flush": none, **kinds}


def loop(**counts: tuple[int, float | None]) -> DeviceUsage:
    """Return what a loop device counted: requests and their seconds by kind."""
    (reads, read_s), (writes, write_s) = counts.get("read", (0, 0.0)), counts.get("write", (0, 0.0))
    flushes, flush_s = counts.get("flush", (0, 0.0))
    return DeviceUsage(
        reads=reads,
        read_bytes=reads * 4096,
        writes=writes,
        written_bytes=writes * 4096,
        flushes=flushes,
        busy_s=1.0,
        read_s=read_s,
        write_s=write_s,
        flush_s=flush_s,
    )


def found(statistics: dict[str, Any], *loops: DeviceUsage, path_us: float | None = 60.0) -> Waiting:
    waiting = compare(statistics, loops, path_us)
    assert waiting is not None
    return waiting


def test_a_wait_that_the_disk_does_not_see_is_found() -> None:
    """Modelled 2,000 us, and 2,707 at the loop device: what a review saw on a busy machine."""
    waiting = found(told(read=(1000, 2000.0)), loop(read=(1000, 2.707)))
    assert waiting.kinds == ["read"]
    assert waiting.requests == 1000
    assert waiting.await_us == pytest.approx(2706, abs=1), "less a millisecond that the kernel leaves open"
    assert waiting.modelled_us == 2000
    assert waiting.share == pytest.approx(0.353, abs=0.001)
    assert waiting.late
    assert not found(told(read=(1000, 2000.0)), loop(read=(1000, 2.2))).late, "a tenth is allowed"


def test_kinds_count_as_often_as_the_kernel_sent_them() -> None:
    """A disk may have counted a few more at either end."""
    waiting = found(
        told(read=(201, 1000.0), write=(305, 4000.0)),
        loop(read=(100, 0.1), write=(300, 1.2)),
        loop(read=(100, 0.1)),
    )
    assert waiting.kinds == ["read", "write"]
    assert waiting.requests == 500
    assert waiting.modelled_us == pytest.approx((200 * 1000 + 300 * 4000) / 500)
    assert not waiting.late


def test_writes_that_include_flushes_are_left_out() -> None:
    waiting = found(told(write=(100, 100.0), flush=(100, 5000.0)), loop(write=(200, 1.2), flush=(100, 0.5)))
    assert waiting.kinds == ["flush"]
    assert not waiting.late
    assert found(told(flush=(100, 5000.0)), loop(write=(100, 0.7), flush=(100, 0.7))).late


def test_writes_beside_flushes_that_take_no_time_are_compared() -> None:
    """As on a network volume: the kernel counts 100 flushes as writes of no bytes, which take 0.1 ms."""
    statistics = told(write=(100, 2000.0))
    statistics["flush"] = {"requests": 100, "latency_us": {"mean": 2.7}}
    waiting = found(statistics, loop(write=(200, 0.211), flush=(100, 0.01)))
    assert waiting.kinds == ["write"]
    assert waiting.await_us == pytest.approx(2100)
    assert waiting.in_line_us == pytest.approx(100)
    assert not waiting.late
    slow = found(statistics, loop(write=(200, 0.25), flush=(100, 0.01)))
    assert slow.in_line_us == pytest.approx(200)
    assert slow.late


def test_flushes_near_the_path_are_not_compared_but_the_writes_beside_them() -> None:
    """The disk's label says that such flushes may be slower than modelled: here 63 us for 17."""
    statistics = told(write=(1000, 990.0), flush=(1000, 17.0))
    waiting = found(statistics, loop(write=(2000, 1.1), flush=(1000, 0.063)), path_us=16.0)
    assert waiting.kinds == ["write"] and not waiting.late
    assert found(statistics, loop(write=(2000, 1.1), flush=(1000, 0.063)), path_us=8.0).kinds == ["flush"]


def test_a_wait_counts_only_while_the_disk_could_take_more() -> None:
    """As 64 readers of an SSD with 32 places: they keep it full, wherever the other 32 wait."""
    statistics, readers = told(read=(1000, 1579.0)), loop(read=(1000, 1.971))
    assert found(statistics, readers).late
    statistics["queue_depth"] = {"full_share": None}
    assert found(statistics, readers).late, "a device that takes any number is never full"
    statistics["queue_depth"] = {"full_share": 0.95}
    waiting = found(statistics, readers)
    assert waiting.queued_us == pytest.approx(391 - 0.05 * 1970)
    assert waiting.share == pytest.approx(0.05 * 1970 / 1579)
    assert not waiting.late
    statistics["queue_depth"] = {"full_share": 0.5}
    assert found(statistics, readers).late, "the disk had room for half the time"


def test_a_read_may_wait_for_a_flush_before_it_and_no_longer() -> None:
    """Half the time goes to flushes of 5 ms: 2.5 ms in the mean, and only for reads."""
    statistics = told(10.0, read=(1000, 1000.0), flush=(1000, 5000.0))
    waiting = found(statistics, loop(read=(1000, 3.4), flush=(1000, 5.0)))
    assert waiting.in_line_us == pytest.approx(2399 / 2), "the whole difference, but for the open millisecond"
    assert not waiting.late
    assert found(statistics, loop(read=(1000, 1.0), flush=(1000, 6.0))).late, "a quick read excuses no flush"
    slow = found(statistics, loop(read=(1000, 4.9), flush=(1000, 5.0)))
    assert slow.in_line_us == pytest.approx(2500 / 2)
    assert slow.late


def test_no_answer_can_come_sooner_than_the_way_takes() -> None:
    statistics = told(read=(1000, 20.0))
    assert not found(statistics, loop(read=(1000, 0.065)), path_us=60.0).late
    assert found(statistics, loop(read=(1000, 0.070)), path_us=60.0).late
    assert found(statistics, loop(read=(1000, 0.065)), path_us=None).late


@pytest.mark.parametrize(
    ("statistics", "loops"),
    [
        (told(read=(1000, 2000.0)), []),
        (told(read=(1000, 0.0)), [loop(read=(1000, 9.0))]),
        (told(), [loop(read=(1000, 9.0))]),
        (told(read=(9, 2000.0)), [loop(read=(LEAST_REQUESTS - 1, 9.0))]),
        (told(read=(1000, 2000.0)), [loop(read=(1000, None))]),
        (told(read=(1000, 2000.0)), [loop(read=(1000, 9.0), flush=(0, None))]),
    ],
    ids=["no loop", "takes no time", "nothing timed", "too few", "an old record", "no account of flushes"],
)
def test_without_comparable_requests_there_is_no_result(
    statistics: dict[str, Any], loops: list[DeviceUsage]
) -> None:
    assert compare(statistics, loops, 60.0) is None


# ---------------------------------------------------------------- a real disk


@pytest.fixture
def volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[virtual.VirtualDisk]:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    file = tmp_path / "volume.toml"
    file.write_text(VOLUME)
    wanted = virtual.Wanted(str(file), size_bytes=256 * MIB, path_us=60.0, below_floor=True, timing=True)
    journal = Journal.begin("test")
    try:
        attached = virtual.attach(wanted, journal)
        yield attached
        attached.detach()
    finally:
        assert all(item.done for item in journal.finish())


def transfer(block: Path, count: int, *, write: bool = False, flush: bool = False, size: int = 4096) -> None:
    buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    buffer.madvise(mmap.MADV_HUGEPAGE)  # few segments, or the kernel cuts a large request by their number
    buffer.write(bytes(size))
    descriptor = os.open(block, os.O_RDWR | os.O_DIRECT)
    try:
        for number in range(count):
            if write:
                os.pwritev(descriptor, [buffer], number * size)
            else:
                os.preadv(descriptor, [buffer], number * size)
            if flush:
                os.fsync(descriptor)
    finally:
        os.close(descriptor)


@needs_virtual_disks
def test_both_accounts_of_a_real_disk_are_of_the_same_requests(volume: virtual.VirtualDisk) -> None:
    before = device_counters(volume.block_name)
    volume.count_anew()
    transfer(volume.block, LEAST_REQUESTS)
    transfer(volume.block, LEAST_REQUESTS, write=True)
    after = device_counters(volume.block_name)
    assert before
    assert after
    use = volume.use({volume.block_name: between(before, after)})
    assert use.waiting is not None
    assert use.waiting.kinds == ["read", "write"]
    assert use.waiting.requests == use.read.requests + use.write.requests == 2 * LEAST_REQUESTS
    assert use.waiting.modelled_us == pytest.approx(VOLUME_US, rel=0.02)
    assert use.waiting.await_us > 0.9 * VOLUME_US, "never less than the model, but for what the way takes"
    assert volume.use().waiting is None
    with watched(volume.control, volume.block_name, 60.0) as account:
        transfer(volume.block, LEAST_REQUESTS, write=True, flush=True)
    assert account.statistics["flush"]["requests"] == LEAST_REQUESTS
    assert account.waiting is not None
    assert account.waiting.kinds == ["write"], "its flushes take no time"
    assert account.waiting.requests == account.statistics["write"]["requests"] == LEAST_REQUESTS


@needs_virtual_disks
def test_a_large_request_reaches_the_disk_whole(volume: virtual.VirtualDisk) -> None:
    before = device_counters(volume.block_name)
    volume.count_anew()
    transfer(volume.block, 8, size=4 * MIB)
    after = device_counters(volume.block_name)
    assert before
    assert after
    assert volume.use().read.requests == between(before, after).reads >= 32


@needs_virtual_disks
def test_a_disk_that_is_held_up_before_it_reads_a_request_is_late(volume: virtual.VirtualDisk) -> None:
    """Its program is stopped for a while: requests wait in the kernel, and its own account has none of it."""
    pid = volume.served.process.pid
    over = threading.Event()

    def hold_up() -> None:
        while not over.is_set():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.02)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.005)

    with watched(volume.control, volume.block_name, 60.0) as account:
        other = threading.Thread(target=hold_up)
        other.start()
        try:
            transfer(volume.block, LEAST_REQUESTS)
        finally:
            over.set()
            other.join()
    assert account.waiting is not None
    assert account.waiting.late
    assert account.waiting.share > 0.5
