"""What was found at many moments becomes shares and means, and rows of each second."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import cast

import pytest

from diskproof.results.record import Role
from diskproof.results.series import Row
from diskproof.run import activity as module
from diskproof.run.activity import ActivityWatch
from diskproof.system.dilation import REAL, TrialTime
from diskproof.system.threads import Sight, Threads
from support.command import wait_for

ROLES: dict[str, Role] = {"/log": "redo", "/table": "data", "/binlog": "binlog"}


class Shown:
    """Threads that do what the test says, look by look, and then nothing."""

    def __init__(self, *looks: list[Sight] | None) -> None:
        self.looks = list(looks)
        self.taken = 0
        self.renewed = 0
        self.closed = False
        self.refused = False
        self.serving = 3
        self.over = threading.Event()

    def renew(self) -> None:
        self.renewed += 1

    def look(self) -> list[Sight] | None:
        self.taken += 1
        if self.taken > len(self.looks):
            self.over.set()
            time.sleep(60 if self.closed else 0)
            return None
        return self.looks[self.taken - 1]

    def close(self) -> None:
        self.closed = True


class Refusing(Shown):
    """The kernel shows no threads any more after that."""

    def look(self) -> list[Sight] | None:
        sights = super().look()
        self.refused = sights is None
        return sights


def watch_of(shown: Shown, rows: list[Row] | None = None, own_time: TrialTime = REAL) -> ActivityWatch:
    series: Callable[[Iterable[Row]], object] = (lambda _: None) if rows is None else rows.extend
    return ActivityWatch(cast("Threads", shown), ROLES.get, series, own_time)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PERIOD_S", 0.001)
    monkeypatch.setattr(module, "MOST_CPU", 10.0)
    monkeypatch.setattr(module, "RENEWED_EACH_S", 0.01)


def watched(shown: Shown, rows: list[Row] | None = None, own_time: TrialTime = REAL) -> ActivityWatch:
    watch = watch_of(shown, rows, own_time)
    watch.begin()
    assert shown.over.wait(20)
    watch.end()
    return watch


def test_shares_are_of_moments_and_threads_are_a_mean() -> None:
    looks: list[list[Sight] | None] = [
        [Sight("flushing", "/log", serves=True), Sight("waiting"), Sight("waiting")],
        [Sight("flushing", "/log", serves=True), Sight("computing")],
        [
            Sight("reading", "/table", serves=True),
            Sight("reading", "/table", serves=True),
            Sight("reading", "/else", serves=True),
        ],
        [],
    ]
    shown = Shown(*looks * 5)
    activity = watched(shown).activity()
    assert activity is not None
    assert activity.moments == 20, "looks at nobody are no moments"
    found = {(one.act, one.role): (one.share, one.threads) for one in activity.doings}
    assert found == {
        ("flushing", "redo"): (0.5, 0.5),
        ("waiting", None): (0.25, 0.5),
        ("computing", None): (0.25, 0.25),
        ("reading", "data"): (0.25, 0.5),
        ("reading", None): (0.25, 0.25),
    }
    assert activity.doing("flushing", "binlog") is None
    flushing, computing = activity.doing("flushing", "redo"), activity.doing("computing")
    assert flushing is not None
    assert computing is not None
    assert (flushing.serving, computing.serving, activity.serving) == (0.5, 0, 3)
    assert activity.refused_after_s is None
    assert shown.closed


def test_two_logs_at_once_are_one_moment_at_the_logs() -> None:
    redo, binlog, page = Sight("flushing", "/log"), Sight("writing", "/binlog"), Sight("flushing", "/table")
    looks: list[list[Sight] | None] = [[redo, binlog], [redo], [binlog], [page]]
    activity = watched(Shown(*looks * 5)).activity()
    assert activity is not None
    assert activity.log_share == 0.75


def test_background_failures_are_raised_at_the_end() -> None:
    class Broken(Shown):
        def look(self) -> list[Sight] | None:
            self.over.set()
            raise OSError(24, "Too many open files")

    shown = Broken()
    with pytest.raises(OSError, match="Too many"):
        watched(shown)
    assert shown.closed, "its descriptors are let go of all the same"


def test_a_kernel_that_refuses_midway_is_recorded() -> None:
    activity = watched(Refusing(*[[Sight("computing")]] * 10)).activity()
    assert activity is not None
    assert activity.moments == 10
    assert activity.refused_after_s is not None
    assert activity.period_s * activity.moments <= activity.refused_after_s


def test_without_threads_there_is_no_activity() -> None:
    watch = watched(Shown(None, None))
    assert watch.activity() is None
    assert watch.runnable_mean() is not None, "the machine's own figure is there all the same"


def test_every_second_has_its_rows() -> None:
    rows: list[Row] = []
    looks: list[list[Sight] | None] = [[Sight("flushing", "/log", serves=True), Sight("computing")]] * 40
    watched(Shown(*looks), rows)
    told = [(source, metric, value) for _, source, metric, value in rows]
    assert ("threads", "flushing_redo", 1.0) in told
    assert ("threads", "computing", 1.0) in told
    assert {(source, metric) for source, metric, _ in told} == {
        ("host", "runnable"),
        ("threads", "flushing_redo"),
        ("threads", "computing"),
    }
    times = [t_s for t_s, *_ in rows]
    assert times == sorted(times)
    assert times[0] > 0


def test_in_slow_time_seconds_are_the_trials_own() -> None:
    rows: list[Row] = []
    looks: list[list[Sight] | None] = [[Sight("computing")]] * 100
    began_s = time.monotonic()
    activity = watched(Refusing(*looks), rows, TrialTime(dilation=10)).activity()
    own_s = (time.monotonic() - began_s) / 10
    assert activity is not None
    assert activity.refused_after_s is not None
    assert 0 < activity.period_s * activity.moments <= activity.refused_after_s < own_s
    assert 0 < max(t_s for t_s, *_ in rows) < own_s


def test_the_list_of_threads_is_made_anew() -> None:
    looks: list[list[Sight] | None] = [[]] * 60
    shown = Shown(*looks)
    watched(shown)
    assert shown.renewed >= 3


def test_who_serves_clients_shows_before_anything_counts() -> None:
    shown = Shown([Sight("computing")], [])
    watch = watch_of(shown)
    watch.meet()
    assert watch.activity() is None
    watch.abandon()
    assert shown.closed, "no look will ever be taken"


def test_after_the_end_there_are_no_rows() -> None:
    rows: list[Row] = []
    looks: list[list[Sight] | None] = [[Sight("computing")]] * 100_000
    shown = Shown(*looks)
    watch = watch_of(shown, rows)
    watch.begin()
    wait_for(lambda: rows)
    watch.abandon()
    count = len(rows)
    time.sleep(0.1)
    assert len(rows) == count


def test_looking_at_many_threads_costs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks that cost 10 ms each are taken five times a second, or less often, not 20 times."""

    class Slow(Shown):
        def look(self) -> list[Sight] | None:
            end = time.thread_time() + 0.01
            while time.thread_time() < end:
                pass
            self.taken += 1
            return []

    monkeypatch.setattr(module, "MOST_CPU", 0.05)
    shown = Slow()
    watch = watch_of(shown)
    began = time.monotonic()
    watch.begin()
    wait_for(lambda: shown.taken >= 4)
    watch.end()
    took_s = time.monotonic() - began
    # The first look has none before it to be compared with.
    assert took_s >= (1 - module.JITTER) * (shown.taken - 2) * 0.01 / module.MOST_CPU
    assert watch.cpu_s < 2 * shown.taken * 0.01
