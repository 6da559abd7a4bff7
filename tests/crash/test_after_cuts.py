"""What is of the database and what of our own machine, after a cut; and when a server died."""

import errno
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from diskproof.crash import clients
from diskproof.crash.ledger import ACCOUNTS, ENTRIES
from diskproof.crash.moment import LARGE_SPREAD_S, apart
from diskproof.crash.recovery import NOT_STARTED, Recovered, look, recover
from diskproof.results.cut import DiskAtCut
from diskproof.run.cut import CutAttempt
from diskproof.server.base import Running, ServerFailedError, ServerTooSlowError
from diskproof.storage.filesystem import NotMountedError, mount_again
from diskproof.storage.kinds.base import StorageError
from diskproof.study.crash import CrashChoice
from diskproof.system.dilation import TrialTime
from diskproof.wording import say
from support.cuts import make_crash_plan, make_cut
from support.trials import change

ROLE = Path("/mnt/disk/data")


def raising(error: Exception) -> Callable[..., Any]:
    def raise_it(*_: object) -> None:
        raise error

    return raise_it


def nothing() -> None:
    """Mount without a word."""


@pytest.mark.parametrize(
    "error",
    [
        ServerFailedError("redo log is corrupt"),
        OSError(errno.EUCLEAN, "Structure needs cleaning", str(ROLE / "postmaster.pid")),
        PermissionError(errno.EACCES, "Permission denied", ROLE / "sbtest.db"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", bytes(ROLE)),
        OSError(errno.EIO, "Input/output error"),
    ],
)
def test_a_database_that_cannot_be_worked_on_is_an_outcome(error: Exception) -> None:
    done = recover(nothing, raising(error), [ROLE])
    assert done.refused
    assert done.refused.form == NOT_STARTED
    assert done.mount_s is not None
    assert done.running is None


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device", "/runs/r/cuts/c001-01/recovery/my.cnf"),
        OSError(errno.ENOSPC, "No space left on device"),
        FileNotFoundError("setpriv is missing: install util-linux"),
        OSError(errno.EIO, "Input/output error", "/mnt/disk/database-of-others"),
        ServerTooSlowError("took no connection within 600 s and was killed"),
    ],
)
def test_trouble_of_our_own_is_no_outcome(error: Exception) -> None:
    with pytest.raises(type(error)):
        recover(nothing, raising(error), [ROLE])


def test_a_server_that_reports_damage_and_hangs_is_an_outcome() -> None:
    slow = ServerTooSlowError("took no connection within 600 s and was killed")
    slow.complaints = ["[ERROR] [InnoDB] Database page corruption on disk"]
    record = look(recover(nothing, raising(slow), [ROLE])).recovery
    assert record.refused
    assert "took no connection within 600 s" in record.refused.text
    assert record.complaints == slow.complaints


def test_the_record_has_what_a_server_reported_before_it_gave_up() -> None:
    error = ServerFailedError("it ended while it started")
    error.complaints = ["[ERROR] InnoDB: Unable to apply log to corrupted page 7"]
    record = look(recover(nothing, raising(error), [ROLE])).recovery
    assert record.refused == say(NOT_STARTED, error="it ended while it started")
    assert record.complaints == error.complaints


def test_only_a_file_system_that_the_kernel_refuses_counts_as_lost() -> None:
    refused = recover(raising(NotMountedError("bad superblock")), raising(AssertionError()), [ROLE])
    assert refused.refused
    assert refused.refused.text == "a file system could not be mounted: bad superblock"
    with pytest.raises(StorageError, match="missing"):
        recover(raising(StorageError("`mount` is missing")), raising(AssertionError()), [ROLE])


@pytest.mark.parametrize(("code", "error"), [(32, NotMountedError), (1, StorageError), (2, StorageError)])
def test_mount_says_whose_fault_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, error: type[StorageError]
) -> None:
    program = tmp_path / "mount"
    program.write_text(f"#!/bin/sh\necho it failed >&2\nexit {code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(StorageError, match="it failed") as caught:
        mount_again(Path("/dev/null"), tmp_path, None)
    assert isinstance(caught.value, NotMountedError) == (error is NotMountedError)


class Server:
    """A server that came up with an empty ledger."""

    def __init__(self, binlog: Callable[..., Any]) -> None:
        self.logged_rows = binlog

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return {ENTRIES: [], ACCOUNTS: [(1, 1_000_000, 0)]}[sql]

    def damage(self) -> list[str]:
        return []

    complaints = damage


@pytest.mark.parametrize("error", [ServerFailedError("mysqlbinlog: Illegal instruction"), OSError(5, "EIO")])
def test_a_binary_log_that_cannot_be_read_hides_no_loss(error: Exception) -> None:
    found = look(Recovered(running=cast("Running", Server(raising(error)))))
    assert found.ledger is not None
    assert found.ledger.there == {}
    assert (found.recovery.binlog_only, found.recovery.engine_only) == (None, None)
    [finding] = found.findings
    assert finding.severity == "warning"
    assert str(error) in finding.message.text


def dying(told: str, kill: Callable[[], None]) -> CutAttempt:
    """Return an attempt whose server is about to be killed."""
    attempt = CutAttempt.__new__(CutAttempt)
    attempt.planned = make_crash_plan(ways=["kill"]).trials[0]
    attempt.cut_us, attempt.crash = 0, CrashChoice()
    attempt.bench = cast("Any", SimpleNamespace(time=TrialTime()))
    attempt._running = cast("Any", SimpleNamespace(kill=kill))
    attempt._clients = cast("Any", SimpleNamespace(kill=nothing, freeze=nothing, told=lambda: told))
    return attempt


def test_the_time_that_killing_takes_is_no_window_of_loss() -> None:
    begun: list[int] = []
    attempt = dying("0 1 10\n", lambda: begun.append(time.monotonic_ns() // 1000))
    attempt.die()
    assert 0 < attempt.cut_us <= begun[0]


def test_a_killed_server_was_alive_when_it_last_answered() -> None:
    later_us = time.monotonic_ns() // 1000 + 10_000_000
    attempt = dying(f"0 1 10\n1 1 {later_us}\n", nothing)
    attempt.die()
    assert attempt.cut_us == later_us


def test_only_the_flushes_of_the_logs_disk_make_commits_safe() -> None:
    attempt = dying("0 1 100\n0 2 200\n0 3 300\n", nothing)
    plan = make_crash_plan(ways=["power"])
    attempt.planned, attempt.began_us, attempt.findings = plan.trials[0], 0, []
    own = {"name", "device", "last_flush_before_s", "after_first_s"}
    facts = make_cut(plan, attempt.planned).disks[0].model_dump(exclude=own)
    data, log = (SimpleNamespace(facts=SimpleNamespace(name=name, device="ssd")) for name in ("data", "log"))
    answers = [
        (data, {**facts, "at_monotonic_us": 400, "last_flush_monotonic_us": 350}),
        (log, {**facts, "at_monotonic_us": 410, "last_flush_monotonic_us": 150}),
    ]
    attempt.layout = cast("Any", SimpleNamespace(cut=lambda _: answers, cut_disks_of=lambda _: [log]))
    attempt.die()
    assert attempt._unflushed() == 2
    assert [disk.after_first_s for disk in attempt.disks] == [0.0, pytest.approx(10e-6)]
    assert attempt.findings == []


def test_disks_that_were_cut_far_apart_give_a_warning() -> None:
    plan = make_crash_plan()
    [first] = make_cut(plan, plan.trials[0]).disks

    def after(seconds: float) -> list[DiskAtCut]:
        return [first, change(first, after_first_s=seconds)]

    assert apart([]) == apart([first]) == apart(after(LARGE_SPREAD_S)) == []
    [finding] = apart(after(0.045))
    assert "45.0 ms apart" in finding.message.text
    assert finding.severity == "warning"


def waiting(told: Callable[[], float | None]) -> clients.Clients:
    """Return clients of which the last was told of a commit so many seconds ago."""
    ones = clients.Clients.__new__(clients.Clients)
    ones._time = TrialTime()
    ones._load = cast("Any", SimpleNamespace(alive=True))

    def last_us() -> int | None:
        ago_s = told()
        return None if ago_s is None else int((time.monotonic() - ago_s) * 1e6)

    ones._last_us = last_us  # type: ignore[method-assign]
    return ones


def test_a_cut_that_waits_for_activity_records_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert waiting(lambda: 0.0).wait(0.0) == clients.Waited(0.0, None)
    full_cache_flushes_s = 0.5
    assert waiting(lambda: full_cache_flushes_s).wait(0.0) == clients.Waited(0.0, None)
    stall = iter([9.0, 9.0, 9.0, 0.0])
    waited = waiting(lambda: next(stall)).wait(0.0)
    assert waited.put_off_s >= 3 * clients.LOOK_S
    assert waited.silent_because is None
    monkeypatch.setattr(clients, "LINGER_S", 0.01)
    idle = waiting(lambda: 9.0).wait(0.0)
    assert idle.put_off_s == 0.01
    assert idle.silent_because
    assert "an idle server has nothing to lose" in idle.silent_because.text
