"""What lies between two machines: how far their clocks are apart, the network's round trip and throughput.

One end listens for a moment, and answers a client that knows the secret of this measurement.
"""

import hmac
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from statistics import median

from diskproof.results.load_host import Network

SECRET_BYTES = 16

CLOCKS, UPLOAD, DOWNLOAD = b"clocks..", b"upload..", b"download"
"""A connection says after the secret which of them it is for."""

TIMES = struct.Struct("!qq")

EXCHANGES, FEWEST, EXCHANGING_S = 400, 20, 0.5
"""The least of many round trips is hardly disturbed; over a slow network fewer must do."""

STREAMING_S = 0.5

CHUNK = bytes(2**18)

ANSWER_S = 10.0
"""How long one end waits for the other."""


@dataclass(frozen=True)
class Clock:
    """How far the other machine's monotonic clock is ahead of ours."""

    ahead_ns: int
    within_ns: int
    """How far that may be wrong, whatever the two ways of a round trip took: half of it."""
    round_trip_us: float
    """Median of all exchanges, without the other end's own time."""


@contextmanager
def answering(address: str, port: int, secret: bytes) -> Iterator[None]:
    """Answer on one address and port meanwhile."""
    with closing(socket.create_server((address, port), backlog=4)) as listener:
        threading.Thread(target=_accept, args=(listener, secret), daemon=True).start()
        try:
            yield
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread


def _accept(listener: socket.socket, secret: bytes) -> None:
    with suppress(OSError):  # it was closed
        while True:
            connection, _ = listener.accept()
            with closing(connection), suppress(OSError, EOFError):
                _answer(connection, secret)


def _answer(connection: socket.socket, secret: bytes) -> None:
    connection.settimeout(ANSWER_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not hmac.compare_digest(_whole(connection, SECRET_BYTES), secret):
        return
    what = _whole(connection, len(CLOCKS))
    if what == CLOCKS:
        while connection.recv(1):
            came_ns = time.monotonic_ns()
            connection.sendall(TIMES.pack(came_ns, time.monotonic_ns()))
    elif what == UPLOAD:
        connection.sendall(TIMES.pack(*_count(connection)))
    elif what == DOWNLOAD:
        _stream(connection)


def clock(address: str, port: int, secret: bytes) -> Clock:
    """Return how far the clock of the machine that answers there is ahead of ours; OSError if none answers.

    The exchange with the least round trip counts. Its offset is wrong by at most half of that round trip
    (Mills, RFC 5905, section 8).
    """
    trips: list[tuple[int, int]] = []
    with _connected(address, port, secret, CLOCKS) as connection:
        until_ns = time.monotonic_ns() + int(EXCHANGING_S * 1e9)
        while len(trips) < EXCHANGES and (len(trips) < FEWEST or time.monotonic_ns() < until_ns):
            sent_ns = time.monotonic_ns()
            connection.sendall(b"?")
            came_ns, left_ns = TIMES.unpack(_whole(connection, TIMES.size))
            back_ns = time.monotonic_ns()
            trip_ns = (back_ns - sent_ns) - (left_ns - came_ns)
            trips.append((trip_ns, ((came_ns - sent_ns) + (left_ns - back_ns)) // 2))
    least_ns, ahead_ns = min(trips)
    return Clock(ahead_ns, -(-least_ns // 2), median(trip for trip, _ in trips) / 1e3)


def network(address: str, port: int, secret: bytes) -> Network:
    """Return what the network to the machine that answers there can do; OSError if none answers."""
    found = clock(address, port, secret)
    with _connected(address, port, secret, UPLOAD) as connection:
        _stream(connection)
        sent_bytes, sending_ns = TIMES.unpack(_whole(connection, TIMES.size))
    with _connected(address, port, secret, DOWNLOAD) as connection:
        received_bytes, receiving_ns = _count(connection)
    return Network(
        round_trip_us=found.round_trip_us,
        to_database_bytes_per_s=sent_bytes / sending_ns * 1e9,
        from_database_bytes_per_s=received_bytes / receiving_ns * 1e9,
    )


@contextmanager
def _connected(address: str, port: int, secret: bytes, what: bytes) -> Iterator[socket.socket]:
    with closing(socket.create_connection((address, port), timeout=ANSWER_S)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(secret + what)
        try:
            yield connection
        except EOFError:
            raise ConnectionResetError(f"{address}:{port} ended the connection") from None


def _stream(connection: socket.socket) -> None:
    """Send for a while, then say that it was all."""
    until_s = time.monotonic() + STREAMING_S
    while time.monotonic() < until_s:
        connection.sendall(CHUNK)
    connection.shutdown(socket.SHUT_WR)


def _count(connection: socket.socket) -> tuple[int, int]:
    """Return the bytes until the other end has said all, and the nanoseconds from the first to the last."""
    room = bytearray(len(CHUNK))
    count = connection.recv_into(room)
    first_ns = time.monotonic_ns()
    counted = 0
    while count:
        count = connection.recv_into(room)
        counted += count
    return counted, max(time.monotonic_ns() - first_ns, 1)


def _whole(connection: socket.socket, size_bytes: int) -> bytes:
    content = b""
    while len(content) < size_bytes:
        more = connection.recv(size_bytes - len(content))
        if not more:
            raise EOFError
        content += more
    return content
