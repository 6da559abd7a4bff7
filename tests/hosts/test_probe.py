"""What lies between two machines, measured on one."""

import socket
import threading
import time

import pytest

from diskproof.hosts import probe

SECRET = bytes(range(16))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def test_one_machine_has_one_clock() -> None:
    port = free_port()
    with probe.answering("127.0.0.1", port, SECRET):
        found = probe.clock("127.0.0.1", port, SECRET)
        assert abs(found.ahead_ns) <= found.within_ns
        assert 0 < found.within_ns < 5_000_000
        assert found.round_trip_us >= 2 * found.within_ns / 1e3 - 1
        network = probe.network("127.0.0.1", port, SECRET)
    assert network.to_database_bytes_per_s > 1e7
    assert network.from_database_bytes_per_s > 1e7
    with pytest.raises(OSError):
        probe.clock("127.0.0.1", port, SECRET)


def test_another_clock_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One end's clock is 5 s ahead: the answering thread's, which is not this one."""
    port, here, now_ns = free_port(), threading.get_ident(), time.monotonic_ns
    monkeypatch.setattr(
        time,
        "monotonic_ns",
        lambda: now_ns() + (0 if threading.get_ident() == here else 5_000_000_000),
    )
    with probe.answering("127.0.0.1", port, SECRET):
        found = probe.clock("127.0.0.1", port, SECRET)
    assert abs(found.ahead_ns - 5_000_000_000) <= found.within_ns


def test_without_the_secret_nothing_is_said() -> None:
    port = free_port()
    with probe.answering("127.0.0.1", port, SECRET):
        with pytest.raises(OSError):
            probe.clock("127.0.0.1", port, bytes(16))
        assert probe.clock("127.0.0.1", port, SECRET).within_ns > 0
