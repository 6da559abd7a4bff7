"""The sampler between a server that answers, one that is slow, and one that hangs."""

import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import cast

import pytest

from diskproof.families.samples import Samples, Status
from diskproof.results.series import Row
from diskproof.results.usage import CpuUse, DeviceUsage, ServerAccount
from diskproof.run import sampler as module
from diskproof.run.sampler import Sample, Sampler, seconds_to_next
from diskproof.server.base import Running, ServerFailedError
from diskproof.system.counters import HostCounters, cpu_time_s

PERIOD_S = 0.02


class Told:
    """A server whose status the test tells: ten more statements at each look, and one level."""

    def __init__(self) -> None:
        self.looks = self.asked = 0
        self.before_answer: Callable[[], object] = lambda: None

    @property
    def pids(self) -> list[int]:
        return [os.getpid()]

    def status(self) -> Status:
        self.before_answer()
        self.looks += 1
        return Status(counters={"Questions": 10.0 * self.looks}, gauges={"Threads_running": 4.0})

    def account(self, told: Samples) -> ServerAccount:
        return ServerAccount(commits=told.count("Questions"))

    def waiting_sessions(self) -> dict[str, int]:
        self.asked += 1
        return {"Lock:tuple": 2} if self.asked % 2 else {}

    def log_tail(self) -> str:
        return "the log's last line"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Told:
    monkeypatch.setattr(module, "PERIOD_S", PERIOD_S)
    return Told()


def sampler_of(server: Told, rows: list[Row] | None = None) -> Sampler:
    return Sampler(cast("Running", server), [], ([] if rows is None else rows).extend)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_rows_go_out_as_they_come_and_samples_are_not_kept(server: Told) -> None:
    rows: list[Row] = []
    sampler = sampler_of(server, rows)
    sampler.begin()
    wait_for(lambda: server.looks > 20)
    assert rows
    gc.collect()
    kept = [thing for thing in gc.get_objects() if isinstance(thing, Sample)]
    assert len(kept) <= 4, "the first, the last, and what is being made of the next"
    sampler.end()
    usage = sampler.usage(has_processes=True)
    assert usage.server_counters == {"Questions": 10.0 * (server.looks - 1)}
    assert max(t_s for t_s, *_ in rows) == pytest.approx(usage.seconds)


def test_counters_become_rates_and_levels_stay_levels(server: Told) -> None:
    rows: list[Row] = []
    sampler = sampler_of(server, rows)
    sampler.begin()
    wait_for(lambda: server.looks > 5)
    sampler.end()
    of_server = [(t_s, metric, value) for t_s, source, metric, value in rows if source == "server"]
    told = {"cpu", "cpu_waited", "Questions_per_s", "Threads_running"}
    assert {metric for _, metric, _ in of_server} <= told
    assert {value for _, metric, value in of_server if metric == "Threads_running"} == {4.0}
    usage = sampler.usage(has_processes=True)
    assert usage.server_counters.keys() == {"Questions"}
    counted, before_s = 0.0, 0.0
    for t_s, metric, value in of_server:
        if metric == "Questions_per_s":
            counted += value * (t_s - before_s)
            before_s = t_s
    assert counted == pytest.approx(usage.server_counters["Questions"])


def test_missed_periods_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PERIOD_S", 1.0)
    assert [seconds_to_next(elapsed_s) for elapsed_s in (0.0, 0.25, 1.0, 7.75)] == [1.0, 0.75, 1.0, 0.25]


def test_a_slow_server_is_not_asked_in_a_burst_afterwards(server: Told) -> None:
    sampler = sampler_of(server)
    sampler.begin()
    server.before_answer = lambda: time.sleep(10 * PERIOD_S)
    wait_for(lambda: server.looks >= 2)
    server.before_answer = lambda: None
    looks, began = server.looks, time.monotonic()
    wait_for(lambda: server.looks >= looks + 5)
    took_s = time.monotonic() - began
    sampler.end()
    assert took_s >= 3 * PERIOD_S


def test_the_end_does_not_wait_for_a_server_that_hangs(server: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "END_LIMIT_S", 0.2)
    rows: list[Row] = []
    sampler = sampler_of(server, rows)
    hanging, release = threading.Event(), threading.Event()

    def hang() -> None:
        hanging.set()
        release.wait(30)

    sampler.begin()
    server.before_answer = hang
    assert hanging.wait(10)
    began, looks = time.monotonic(), server.looks
    with pytest.raises(ServerFailedError, match=r"(?s)did not answer for 0\.2 s.*the log's last line"):
        sampler.end()
    assert time.monotonic() - began < 5
    written = len(rows)
    release.set()
    wait_for(lambda: server.looks > looks)
    time.sleep(5 * PERIOD_S)
    assert len(rows) == written, "no row comes after the end"
    assert server.looks == looks + 1


def test_a_failure_in_between_is_raised_at_the_end(server: Told) -> None:
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise ServerFailedError("it did not answer")

    sampler = sampler_of(server)
    sampler.begin()
    server.before_answer = fail
    assert failed.wait(10)
    server.before_answer = lambda: None
    with pytest.raises(ServerFailedError, match="it did not answer"):
        sampler.end()


def test_each_party_has_its_own_cpu_time(server: Told) -> None:
    rows: list[Row] = []
    burning = "import time\nwhile True: time.process_time()"
    with subprocess.Popen([sys.executable, "-c", burning]) as busy:
        try:
            sampler = Sampler(
                cast("Running", server), [], rows.extend, others={"load": lambda: [busy.pid], "disks": list}
            )
            sampler.begin()
            wait_for(lambda: server.looks > 20 and cpu_time_s([busy.pid]) >= 0.1)
            sampler.end()
        finally:
            busy.kill()
    usage = sampler.usage(has_processes=True)
    assert usage.cpu.keys() == {"server", "load"}, "nobody serves a disk"
    assert 0 < usage.cpu["load"].used_s <= 1.1 * usage.seconds + 0.02
    told = {source for _, source, metric, _ in rows if metric == "cpu"}
    assert told == {"server", "load"}


def seen(at_s: float, used: DeviceUsage) -> Sample:
    return Sample(
        at_s=at_s,
        host=HostCounters(host_cpu_busy_s=at_s, host_cpu_iowait_s=0, host_cpu_steal_s=0, context_switches=0),
        cpu={"load": CpuUse(used_s=at_s / 2, waited_s=at_s / 4)},
        devices={"vdb": used},
        server=Status({}, {}),
    )


def device(**figures: float) -> DeviceUsage:
    still = {"reads": 0, "read_bytes": 0, "writes": 0, "written_bytes": 0, "flushes": 0, "busy_s": 0.0}
    times = {"read_s": 0.0, "write_s": 0.0, "flush_s": 0.0}
    return DeviceUsage.model_validate({**still, **times, **figures})


def test_a_second_of_a_disk_has_its_queue_and_its_mean_times() -> None:
    moved = device(reads=10, read_s=0.05, writes=4, write_s=1.0, flushes=2, flush_s=0.8, busy_s=0.9)
    rows = module._rows(seen(10, device()), seen(12, moved), 10)
    told = {(source, metric): value for t_s, source, metric, value in rows if t_s == 2}
    assert len(told) == len(rows)
    assert told["device:vdb", "utilisation"] == pytest.approx(0.45)
    assert told["device:vdb", "in_flight"] == pytest.approx(0.525), "a flush is in its write's time"
    assert told["device:vdb", "read_mean_us"] == pytest.approx(5_000)
    assert told["device:vdb", "write_mean_us"] == pytest.approx(250_000)
    assert told["device:vdb", "flush_mean_us"] == pytest.approx(400_000)
    assert told["load", "cpu"] == pytest.approx(0.5)
    assert told["load", "cpu_waited"] == pytest.approx(0.25)


def test_a_disk_that_did_nothing_has_no_mean_times() -> None:
    rows = module._rows(seen(10, device()), seen(11, device()), 10)
    assert not [metric for _, _, metric, _ in rows if metric.endswith("_mean_us")]


def test_the_servers_account_has_the_waits_of_its_sessions(
    server: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WAITS_PERIOD_S", 0.002)
    sampler = sampler_of(server)
    sampler.begin()
    wait_for(lambda: server.looks > 5 and server.asked > 10)
    sampler.end()
    account = sampler.usage(has_processes=True).account
    assert account is not None
    assert account.commits == 10 * (server.looks - 1)
    assert account.waiting_sessions is not None
    assert account.waiting_sessions["Lock:tuple"] == pytest.approx(1, abs=0.2), "two, every other time"


def test_a_server_that_does_not_tell_its_waits_is_asked_once() -> None:
    asked: list[int] = []
    watch = module.WaitsWatch(lambda: asked.append(1))
    watch.begin()
    wait_for(lambda: bool(asked))
    time.sleep(0.05)
    watch.end()
    assert asked == [1]
    assert watch.mean() is None


def test_a_server_that_is_gone_ends_the_asking() -> None:
    def fail() -> dict[str, int]:
        raise ServerFailedError("it is gone")

    watch = module.WaitsWatch(fail)
    watch.begin()
    watch.end()
    assert watch.mean() is None
