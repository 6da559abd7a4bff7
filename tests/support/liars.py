"""Servers that lie: they speak enough of a protocol to be believed, and then say what a test wants."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Answer = Callable[[int, bytes], bytes | Iterator[bytes]]
"""Makes the reply to the n-th question, from 0 on."""


class Wire:
    """One connection, with all that the client has sent."""

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream
        self.heard = bytearray()

    def send(self, data: bytes) -> None:
        self.stream.sendall(data)

    def read(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            more = self.stream.recv(count - len(found))
            if not more:
                raise EOFError
            found += more
        self.heard += found
        return found

    def say(self, reply: bytes | Iterator[bytes]) -> None:
        for part in [reply] if isinstance(reply, bytes) else reply:
            self.send(part)


@contextmanager
def liar(talk: Callable[[Wire], None], path: Path | None = None) -> Iterator[tuple[int, list[Wire]]]:
    """Serve connections on loopback, or at a socket file; yield the port and the connections."""
    wires: list[Wire] = []
    with socket.socket(socket.AF_UNIX if path else socket.AF_INET) as listener:
        listener.bind(str(path) if path else ("127.0.0.1", 0))
        listener.listen(20)

        def serve(wire: Wire) -> None:
            with suppress(OSError, EOFError, ssl.SSLError):
                talk(wire)
            wire.stream.close()

        def accept() -> None:
            with suppress(OSError):
                while True:
                    stream, _ = listener.accept()
                    wires.append(Wire(stream))
                    threading.Thread(target=serve, args=(wires[-1],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield (0 if path else listener.getsockname()[1]), wires
        listener.shutdown(socket.SHUT_RDWR)
        for wire in wires:
            with suppress(OSError):
                wire.stream.shutdown(socket.SHUT_RDWR)


# ---------------------------------------------------------------- MySQL's protocol

OK = b"\0\0\0\2\0\0\0"
MORE = b"\0\0\0\x0a\0\0\0"
END = b"\xfe\0\0\2\0"


def packet(number: int, body: bytes) -> bytes:
    return struct.pack("<I", len(body))[:3] + bytes([number % 256]) + body


def length(number: int) -> bytes:
    if number < 251:
        return bytes([number])
    return b"\xfc" + struct.pack("<H", number) if number < 2**16 else b"\xfe" + struct.pack("<Q", number)


def text(value: bytes | None) -> bytes:
    return b"\xfb" if value is None else length(len(value)) + value


def column(kind: int = 0xFD) -> bytes:
    names = text(b"def") + 3 * text(b"") + 2 * text(b"c")
    return names + b"\x0c" + struct.pack("<HIBHB", 45, 1024, kind, 0, 0) + b"\0\0"


def head(columns: int, kind: int = 0xFD) -> bytes:
    parts = [length(columns), *[column(kind)] * columns, END]
    return b"".join(packet(number, part) for number, part in enumerate(parts, start=1))


def table(*rows: tuple[bytes | None, ...], kind: int = 0xFD, columns: int | None = None) -> bytes:
    width = len(rows[0]) if columns is None else columns
    parts = [*(b"".join(map(text, row)) for row in rows), END]
    begun = width + 3
    return head(width, kind) + b"".join(packet(begun + at, part) for at, part in enumerate(parts))


def greeting(
    version: bytes = b"8.0.36", plugin: bytes = b"mysql_native_password", *, tls: bool = False
) -> bytes:
    can = 0x00BFF7FF & ~0x800 | (0x800 if tls else 0)
    body = b"\x0a" + version + b"\0" + struct.pack("<I", 7) + b"abcdefgh\0" + struct.pack("<H", can & 0xFFFF)
    body += b"\x2d\2\0" + struct.pack("<H", can >> 16) + b"\x15" + bytes(10) + b"ijklmnopqrst\0"
    return packet(0, body + plugin + b"\0")


def mysql(
    answer: Answer = lambda _n, _sql: b"",
    hello: bytes | Iterator[bytes] | None = None,
    login: Callable[[Wire], None] | None = None,
    certificate: ssl.SSLContext | None = None,
) -> Callable[[Wire], None]:
    """Talk as a server of the MySQL family; SET is answered as it should be."""

    def talk(wire: Wire) -> None:
        wire.say(greeting(tls=certificate is not None) if hello is None else hello)
        mysql_packet(wire)
        if certificate is not None:
            wire.stream = certificate.wrap_socket(wire.stream, server_side=True)
            mysql_packet(wire)
        if login is None:
            wire.send(packet(2 if certificate is None else 3, OK))
        else:
            login(wire)
        asked = 0
        while True:
            _, body = mysql_packet(wire)
            if body[:1] == b"\x01":
                return
            if body[1:4].upper() == b"SET":
                wire.send(packet(1, OK))
            else:
                wire.say(answer(asked, body[1:]))
                asked += 1

    return talk


def mysql_packet(wire: Wire) -> tuple[int, bytes]:
    head_ = wire.read(4)
    return head_[3], wire.read(int.from_bytes(head_[:3], "little"))


# ---------------------------------------------------------------- PostgreSQL's protocol


def message(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack(">I", len(body) + 4) + body


READY = message(b"Z", b"I")


def pg_head(columns: int, kind: int = 25) -> bytes:
    one = b"c\0" + struct.pack(">IHIhih", 0, 0, kind, -1, -1, 0)
    return message(b"T", struct.pack(">H", columns) + one * columns)


def pg_row(*values: bytes | None) -> bytes:
    parts = (struct.pack(">i", -1) if one is None else struct.pack(">i", len(one)) + one for one in values)
    return message(b"D", struct.pack(">H", len(values)) + b"".join(parts))


def pg_table(*rows: tuple[bytes | None, ...], kind: int = 25, end: bytes = READY) -> bytes:
    return pg_head(len(rows[0]), kind) + b"".join(pg_row(*row) for row in rows) + pg_end(end)


def pg_end(end: bytes = READY) -> bytes:
    return message(b"C", b"SELECT 1\0") + end


GRANTED = message(b"R", struct.pack(">I", 0)) + message(b"S", b"server_version\x0016.2\0")
ENTERED = GRANTED + message(b"K", bytes(8)) + READY


def postgresql(
    answer: Answer = lambda _n, _sql: b"",
    login: Callable[[Wire], None] | None = None,
    entered: bytes | Iterator[bytes] = ENTERED,
    certificate: ssl.SSLContext | None = None,
) -> Callable[[Wire], None]:
    """Talk as a PostgreSQL; a prepared statement is answered like a plain one."""

    def talk(wire: Wire) -> None:
        while True:
            body = wire.read(int.from_bytes(wire.read(4), "big") - 4)
            if body[:4] != struct.pack(">I", 80877103):
                break
            wire.send(b"N" if certificate is None else b"S")
            if certificate is not None:
                wire.stream = certificate.wrap_socket(wire.stream, server_side=True)
        if login is not None:
            login(wire)
        wire.say(entered)
        asked, parsed = 0, b""
        while True:
            kind, body = pg_message(wire)
            if kind == b"X":
                return
            if kind == b"P":
                parsed = body
            if kind in b"QS":
                begun = message(b"1") + message(b"2") if kind == b"S" else b""
                wire.send(begun)
                wire.say(answer(asked, body if kind == b"Q" else parsed))
                asked += 1

    return talk


def pg_message(wire: Wire) -> tuple[bytes, bytes]:
    kind = wire.read(1)
    return kind, wire.read(int.from_bytes(wire.read(4), "big") - 4)
