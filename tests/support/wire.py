"""A capture of loopback's packets, as `tcpdump` would write it."""

import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

needs_packets = pytest.mark.skipif(os.geteuid() != 0, reason="only root captures packets")

MOST_BYTES = 1 << 18
RECEIVE_BUFFER_FORCE = 33
ALL_PROTOCOLS = 3
ETHERNET = 1
TCP = 6
SETTLES_S = 0.3


@contextmanager
def captured(path: Path, port: int) -> Iterator[None]:
    """Write what is said to and from a port of 127.0.0.1 to a file."""
    ended = threading.Event()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS)) as wire:
        wire.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER_FORCE, 64 << 20)
        wire.bind(("lo", 0))
        wire.settimeout(SETTLES_S)
        writer = threading.Thread(target=_write, args=(wire, path, port, ended))
        writer.start()
        try:
            yield
        finally:
            time.sleep(SETTLES_S)
            ended.set()
            writer.join()


def _write(wire: socket.socket, path: Path, port: int, ended: threading.Event) -> None:
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, MOST_BYTES, ETHERNET))
        while not ended.is_set():
            try:
                data, (_, _, direction, *_) = wire.recvfrom(MOST_BYTES)
            except TimeoutError:
                continue
            # Loopback has each packet twice: as it leaves, and as it arrives.
            is_ours = direction == socket.PACKET_OUTGOING and data[12:14] == b"\x08\x00" and data[23] == TCP
            if is_ours and port in struct.unpack("!HH", data[34:38]):
                seconds, ns = divmod(time.time_ns(), 10**9)
                out.write(struct.pack("<IIII", seconds, ns // 1000, len(data), len(data)) + data)
