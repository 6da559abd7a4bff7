"""Counters grow, levels go up and down; and a server that hangs is told from one that answers."""

import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from diskproof.families.mysql import MYSQL
from diskproof.server.base import ServerFailedError, ServerKind
from diskproof.system.processes import Starter
from support.servers import Images, connect, start

LEVELS = {
    "mysql": {
        "Innodb_buffer_pool_pages_dirty",
        "Innodb_row_lock_current_waits",
        "Max_used_connections",
        "Open_tables",
        "Threads_connected",
        "Threads_running",
    },
    "postgresql": {"pg_stat_database.numbackends"},
}
COUNTERS = {
    "mysql": {"Connections", "Handler_update", "Innodb_buffer_pool_pages_flushed", "Opened_tables"},
    "postgresql": {"pg_stat_database.tup_updated", "pg_stat_database.xact_commit"},
}
CONNECTED = {"mysql": "Threads_connected", "postgresql": "pg_stat_database.numbackends"}


def test_levels_are_no_counters(
    process_kind: ServerKind, root: Path, starter: Starter, images: Images
) -> None:
    family = process_kind.facts.family
    running = start(process_kind, images.restore(process_kind, root), starter)
    try:
        first = running.status()
        with ExitStack() as connections:
            clients = [connections.enter_context(connect(running)) for _ in range(3)]
            for client in clients:
                client.run("UPDATE sbtest1 SET c = 'changed'")
            busy = running.status()
        end = time.monotonic() + 5
        after = running.status()
        while after.gauges[CONNECTED[family]] > first.gauges[CONNECTED[family]]:
            assert time.monotonic() < end
            time.sleep(0.05)
            after = running.status()
    finally:
        running.kill()
    assert LEVELS[family] <= first.gauges.keys()
    assert COUNTERS[family] <= first.counters.keys()
    assert not first.gauges.keys() & first.counters.keys()
    assert busy.gauges[CONNECTED[family]] == first.gauges[CONNECTED[family]] + 3
    for earlier, later in ((first, busy), (busy, after)):
        fallen = {name for name, value in later.counters.items() if value < earlier.counters.get(name, value)}
        assert not fallen, "what falls is no counter"


def test_words_are_neither() -> None:
    found = MYSQL.status(
        [("Threads_running", "2"), ("Queries", "7"), ("Compression", "OFF"), ("Last", "2.5.1")]
    )
    assert found.gauges == {"Threads_running": 2}
    assert found.counters == {"Queries": 7}


def wait_until_stopped(pid: int) -> None:
    """Wait for every thread: the signal stops them one after the other, and one left could still answer."""
    deadline = time.monotonic() + 20
    tasks = Path(f"/proc/{pid}/task")
    while any(
        (task / "stat").read_text().rpartition(")")[2].split()[0] not in "tT" for task in tasks.iterdir()
    ):
        assert time.monotonic() < deadline, f"process {pid} does not stop"
        time.sleep(0.01)


def test_a_server_that_hangs_is_given_up(
    process_kind: ServerKind,
    root: Path,
    starter: Starter,
    images: Images,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dirs = images.restore(process_kind, root)
    monkeypatch.setattr("diskproof.server.asked.ANSWER_LIMIT_S", 1.0)
    running = start(process_kind, dirs, starter)
    try:
        for pid in running.pids:
            os.kill(pid, signal.SIGSTOP)
            wait_until_stopped(pid)
        began = time.monotonic()
        with pytest.raises(ServerFailedError, match=r"did not answer .* within 1 s"):
            running.status()
        with pytest.raises(ServerFailedError, match=r"did not answer"):
            running.status()
        assert time.monotonic() - began < 10
        assert running.alive
    finally:
        running.kill()
