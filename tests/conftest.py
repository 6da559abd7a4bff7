"""Its presence puts this folder on the import path; and where nothing may be skipped, a skip fails."""

import fcntl
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest
import vl_convert
from playwright.sync_api import Browser

from diskproof.__main__ import GARBAGE_AFTER
from support import fresh
from support.browser import chromium
from support.shared import FOLDER, memory_or_disk, short_folder

STRICT = "DISKPROOF_TEST_STRICT"
"""Set it to 1 on a machine that can run every test."""

FAILURES = "DISKPROOF_TEST_FAILURES"
"""Names the file for what failed, a line each: pytest's own summary cuts the reasons off."""

LONG = ("hosts", "torture", "bench", "crash", "run")
"""Folders whose tests take up to two minutes, and wait for half of it."""

GROUPS = ("hosts", "browser", *LONG[1:])
"""The same, and the tests with a browser, in the order in which workers begin with them."""

DRAWN = ("report", "site", "system", "hostile")
"""Folders whose tests look at pictures."""

_skipped: list[str] = []


gc.set_threshold(GARBAGE_AFTER)  # as the command line does
os.umask(0o022)  # a state folder that a group may write to is refused


def pytest_configure(config: pytest.Config) -> None:
    """Make a folder that all workers share, before they start."""
    if not hasattr(config, "workerinput"):
        os.environ[FOLDER] = str(short_folder(memory_or_disk()))


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ[FOLDER], ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let every worker begin with files of long tests: their waits leave processors to the compiler beside.

    xdist gives each worker an equal part of the tests, in their order; who is ready takes over others' last
    ones. Were one worker given all long tests, they would be taken over in the end, and wait alone. The hosts
    are one worker's: three machines take longest to begin. Those that need their cluster come before those
    that end it. Nor does more than one worker start a browser.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    short = [item for item in items if not _group(item)]
    long = [item for item in items if _group(item)]
    long.sort(key=_order)  # no worker is left alone with a long one in the end
    files = [list(some) for _, some in groupby(long, key=_together)]
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        part = [item for file in files[worker::workers] for item in file]
        room = max((len(items) - len(ordered)) // (workers - worker) - len(part), 0)
        ordered += [*part, *short[:room]]
        del short[:room]
    items[:] = [*ordered, *short]


def _needs(item: pytest.Item) -> list[str]:
    return item.fixturenames if isinstance(item, pytest.Function) else []


def _group(item: pytest.Item) -> str:
    """Return which group of long tests it belongs to, if any."""
    folder = item.path.parent.name
    return "browser" if "browser" in _needs(item) else folder if folder in LONG else ""


def _order(item: pytest.Item) -> tuple[int, bool]:
    return GROUPS.index(_group(item)), "cluster" not in _needs(item)


def _together(item: pytest.Item) -> str | Path:
    """Return what a test shares with those that its worker takes along."""
    group = _group(item)
    return group if group in ("hosts", "browser") else item.path


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
    if request.path.parent.name in LONG:
        for kind in fresh.MAKERS:
            monkeypatch.setattr(kind, "initialise", fresh.initialise)


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
