"""Workers for the tests: forks of the process that has collected all of them, which takes long.

Each takes a unit of tests when it is ready for one. What pytest would say of a test in a worker, the first
process says.
"""

import gc
import os
import pickle
import select
import signal
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from os import write  # tests replace that of the module
from pathlib import Path
from typing import Any

import pytest

Unit = Sequence[pytest.Item]
"""Tests that one worker runs one after the other: what they share is made once."""

NUMBER_BYTES = 2
"""A unit's number in the queue, a pipe: a read takes a whole number, and no two workers the same."""

LENGTH_BYTES = 4
"""The length of a message, before it."""

LOOK_S = 1.0
AT_ONCE_BYTES = 1 << 16


def share(session: pytest.Session, units: Sequence[Unit], workers: int) -> None:
    """Run all units, those in front first. A test of which no worker tells the end has failed."""
    queue, filling = os.pipe()
    os.write(filling, b"".join(number.to_bytes(NUMBER_BYTES) for number in range(len(units))))
    os.close(filling)
    gc.collect()
    gc.freeze()  # what was collected stays, and is looked at no more
    running: dict[int, int] = {}
    for number in range(workers):
        said, saying = os.pipe()
        os.set_blocking(said, False)
        if (pid := os.fork()) == 0:
            _work(session, units, queue, saying, number)
        os.close(saying)
        running[said] = pid
    os.close(queue)
    gc.unfreeze()
    try:
        told = _listen(session, running)
    finally:
        for pid in running.values():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
            os.waitpid(pid, 0)
    for item in (item for unit in units for item in unit if item.nodeid not in told):
        why = "its worker ended before it"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
        session.config.hook.pytest_runtest_logreport(report=report)


def _listen(session: pytest.Session, running: dict[int, int]) -> set[str]:
    """Report what workers say until all have ended; return the names of the tests that came to their end.

    `running` has their processes by the pipes on which they speak; who has ended is taken out.
    """
    told: set[str] = set()
    begun = dict.fromkeys(running, b"")
    while running:
        ready = select.select([*running], [], [], LOOK_S)[0]
        statuses = {said: os.waitpid(pid, os.WNOHANG) for said, pid in running.items()}
        ended = {said: status for said, (pid, status) in statuses.items() if pid}
        for said in {*ready, *ended}:
            begun[said] += _all_of(said)
            while message := _message(begun[said]):
                begun[said] = begun[said][LENGTH_BYTES + len(message) :]
                told.update(_hear(session, *pickle.loads(message)))
        for said, status in ended.items():
            os.close(said)
            del running[said]
            session.testsfailed += status != 0  # what it cleared away last is of no test
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    return told


def _all_of(said: int) -> bytes:
    parts = []
    with suppress(BlockingIOError):
        while part := os.read(said, AT_ONCE_BYTES):
            parts.append(part)
    return b"".join(parts)


def _message(begun: bytes) -> bytes:
    """Return the first message without its length; nothing if it is not whole."""
    length = int.from_bytes(begun[:LENGTH_BYTES])
    message = begun[LENGTH_BYTES : LENGTH_BYTES + length]
    return message if len(message) == length else b""


def _hear(session: pytest.Session, kind: str, said: dict[str, Any]) -> Iterator[str]:
    """Report what a worker said, and yield the test's name if it has ended."""
    hook = session.config.hook
    if kind == "warning":
        hook.pytest_warning_recorded.call_historic(kwargs=said | {"when": "runtest", "location": None})
        return
    report = hook.pytest_report_from_serializable(config=session.config, data=said)
    hook.pytest_runtest_logreport(report=report)
    if report.when == "teardown":
        hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)
        yield report.nodeid


class Speaker:
    """Tells the first process what pytest would show."""

    def __init__(self, config: pytest.Config, saying: int) -> None:
        self._config, self._saying = config, saying

    def _say(self, kind: str, said: dict[str, Any]) -> None:
        message = pickle.dumps((kind, said))
        left = memoryview(len(message).to_bytes(LENGTH_BYTES) + message)
        while left:
            left = left[write(self._saying, left) :]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tell how a part of a test went."""
        hook = self._config.hook
        self._say("report", hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str
    ) -> None:
        """Tell a warning of a test; of those of the collection all know."""
        if when == "runtest":
            text = f"{warning_message.category.__name__}: {warning_message.message}"
            told = warnings.WarningMessage(text, Warning, warning_message.filename, warning_message.lineno)
            self._say("warning", {"warning_message": told, "nodeid": nodeid})


def _work(session: pytest.Session, units: Sequence[Unit], queue: int, saying: int, number: int) -> None:
    """Run units until none is left, and end this process."""
    config, ended = session.config, 1
    capture = config.pluginmanager.getplugin("capturemanager")
    try:
        capture.stop_global_capturing()  # its files are all workers'
        capture.start_global_capturing()
        capture.suspend_global_capture()
        config.get_terminal_writer()._file = Path(os.devnull).open("w")  # noqa: SIM115
        folders = config._tmp_path_factory  # type: ignore[attr-defined]
        folders._basetemp = folders.getbasetemp() / f"w{number}"
        folders._basetemp.mkdir(0o700)
        config.pluginmanager.register(Speaker(config, saying))
        try:
            while taken := os.read(queue, NUMBER_BYTES):
                unit = units[int.from_bytes(taken)]
                # After a unit all is cleared away that is not the session's.
                for item, following in zip(unit, [*unit[1:], session], strict=True):
                    config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            ended = 0
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            session._setupstate.teardown_exact(None)
    except KeyboardInterrupt:
        pass
    except BaseException:  # noqa: BLE001 - none may leave this function: it would go on as the first process does
        ended = 1
        capture.suspend_global_capture(in_=True)
        traceback.print_exc()
    finally:
        os._exit(ended)
