"""Its presence puts this folder on the import path; and where nothing may be skipped, a skip fails."""

import fcntl
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace

import pytest
import vl_convert
from playwright.sync_api import Browser

from diskproof.__main__ import GARBAGE_AFTER
from diskproof.run import trials
from diskproof.storage import path_cost
from support import disk_path, forks, fresh
from support.browser import chromium
from support.containers import engine, make_images
from support.shared import FOLDER, memory_or_disk, short_folder
from support.workers import share

STRICT = "DISKPROOF_TEST_STRICT"
"""Set it to 1 on a machine that can run every test."""

FAILURES = "DISKPROOF_TEST_FAILURES"
"""Names the file for what failed, a line each: pytest's own summary cuts the reasons off."""

RUNS = ("hosts", "torture", "bench", "crash", "run")
"""Folders whose tests make runs."""

LONGEST_FIRST = ("hosts", "browser", "containers", *RUNS[1:], "profile", "site", "server", "storage", "cli")
"""Folders with tests that take up to two minutes, and the tests with a browser, in the order in which workers
begin with them: who is ready first in the end waits for short ones only."""

TOGETHER = ("hosts", "browser", "containers")
"""Whose tests are one worker's: three machines, a browser and images take long to begin."""

KINDS = {"browser": "browser", "podman_here": "containers"}
"""What tests are that need a fixture, in whatever folder."""

DRAWN = ("report", "system", "hostile")
"""Folders whose tests look at pictures."""

_skipped: list[str] = []


gc.set_threshold(GARBAGE_AFTER)  # as the command line does
os.umask(0o022)  # a state folder that a group may write to is refused


def pytest_configure() -> None:
    """Make a folder that all workers share, before they start."""
    os.environ[FOLDER] = str(short_folder(memory_or_disk()))


def pytest_unconfigure() -> None:
    shutil.rmtree(os.environ[FOLDER], ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=1, metavar="N", help="run the tests in N processes")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    workers = int(session.config.getoption("workers"))
    if workers < 2 or session.config.option.collectonly:
        return None
    if any(item.path.parent.name in RUNS for item in session.items):
        forks.prepare()  # one for all
    share(session, units(session.items), workers)
    return True


def units(items: Sequence[pytest.Item]) -> list[list[pytest.Item]]:
    """Return the tests of each file, and all that are to be together, those that take longest first.

    Tests that need the hosts' cluster come before those that end it.
    """
    ordered = sorted(items, key=lambda item: (_order(item), _file(item), "cluster" not in _needs(item)))
    return [list(unit) for _, unit in groupby(ordered, key=lambda item: (_order(item), _file(item)))]


def _needs(item: pytest.Item) -> list[str]:
    return item.fixturenames if isinstance(item, pytest.Function) else []


def _kind(item: pytest.Item) -> str:
    return next((KINDS[name] for name in _needs(item) if name in KINDS), item.path.parent.name)


def _order(item: pytest.Item) -> int:
    kind = _kind(item)
    return LONGEST_FIRST.index(kind) if kind in LONGEST_FIRST else len(LONGEST_FIRST)


def _file(item: pytest.Item) -> Path | None:
    return None if _kind(item) in TOGETHER else item.path


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        _skipped.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _skipped and os.environ.get(STRICT) == "1" and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if path := os.environ.get(FAILURES):
        broken = [*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")]
        told = [f"{report.nodeid}: {_reason(report)}" for report in broken]
        told += [f"{name}: skipped" for name in _skipped if os.environ.get(STRICT) == "1"]
        Path(path).write_text("".join(f"{line}\n" for line in told))
    if _skipped and os.environ.get(STRICT) == "1":
        terminalreporter.write_line(f"{STRICT}=1, and {len(_skipped)} tests were skipped", red=True)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return on one line what a test failed of."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join((crash.message if crash else report.longreprtext).split())


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real browser: one for all tests of a worker, because Playwright begins once in a thread."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def podman_here() -> Iterator[None]:
    """Let the environment name a Podman with images of this machine's servers."""
    with engine() as folder:
        make_images(folder)
        yield


@pytest.fixture
def one_zfs() -> Iterator[None]:
    """For tests that work with ZFS: one daemon of zfs-fuse serves a machine.

    Ask for it by `usefixtures`, so that it comes before a journal, whose end is also the daemon's.
    """
    with (Path(tempfile.gettempdir()) / "diskproof-tests-zfs.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(autouse=True)
def fresh_databases(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy empty databases where runs are made, rather than let servers make them again and again."""
    if request.path.parent.name in RUNS:
        for kind in fresh.MAKERS:
            monkeypatch.setattr(kind, "initialise", fresh.initialise)


@pytest.fixture
def never_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no trial be run again because of other work: beside other tests each would be."""
    monkeypatch.setattr(trials, "host_busy", SimpleNamespace(name=""))


@pytest.fixture(autouse=True)
def shared_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure the path to virtual disks once: tests/storage/test_virtual_places.py asks how."""
    monkeypatch.setattr(path_cost, "_measured_us", disk_path.shared_us)


@pytest.fixture(autouse=True)
def undrawn_pages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the pictures on a run's page empty where nobody looks at them."""
    if request.path.parent.name not in DRAWN:
        monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda _: "<svg></svg>")


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """Give the signals back after a test: an interrupted command leaves them ignored to its process's end.

    Here that process is the tests' own, and every program that a later test starts would inherit it.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
