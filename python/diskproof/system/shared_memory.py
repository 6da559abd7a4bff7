"""The shared memory that a killed PostgreSQL leaves, found by the data directory that it belongs to.

A server begins with one small System V segment, by which it locks its data directory. The segment names the
directory by device and inode, and the file in /dev/shm that lists all others (src/include/storage/pg_shmem.h,
src/backend/storage/ipc/dsm.c). The kernel removes neither when the server is killed, initdb's no more than
the server's own.

``dynamic_shared_memory_type = mmap`` would keep the files in the data directory, where they are written to
the device under test.
"""

import ctypes
import os
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SEGMENTS = Path("/proc/sysvipc/shm")
FILES = Path("/dev/shm")  # noqa: S108 - where the kernel shows them

HEADER_BYTES = 56
MAGIC = 679834894
PLACES = (40, 32)
"""Where a header has device and inode: since 9.4, and in versions without one of the fields before them."""
LIST = 24
"""Where a header has the number of the file that lists the others."""

LIST_MAGIC = 0x9A503D32
"""The first word of such a file."""

SHM_RDONLY = 0o10000
IPC_RMID = 0

_libc = ctypes.CDLL(None, use_errno=True)
_libc.shmat.restype = ctypes.c_void_p
_libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_libc.shmdt.argtypes = (ctypes.c_void_p,)


@dataclass(frozen=True)
class Owner:
    """A data directory as a server's shared memory names it, and the user that owns both."""

    device: int
    inode: int
    uid: int

    @classmethod
    def of(cls, data: Path) -> "Owner":
        """Return what identifies the shared memory of a server on `data`."""
        status = data.stat()
        return cls(status.st_dev, status.st_ino, status.st_uid)

    @classmethod
    def parse(cls, text: str) -> "Owner":
        """Read what `str` wrote; ValueError if it is something else."""
        device, inode, uid = map(int, text.split())
        return cls(device, inode, uid)

    def __str__(self) -> str:
        return f"{self.device} {self.inode} {self.uid}"


def remove(owner: Owner) -> list[str]:
    """Remove the shared memory of a dead server; return what was removed. A living server's stays."""
    removed = []
    for number, header in _segments(owner):
        for file in _files(header, owner.uid):
            file.unlink(missing_ok=True)
            removed.append(f"shared memory {file}")
        if _libc.shmctl(number, IPC_RMID, None) == 0:  # last: it names the others
            removed.append(f"shared memory {number}")
    return removed


def _segments(owner: Owner) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers and headers of a data directory's segments that no process has attached."""
    try:
        lines = SEGMENTS.read_text().splitlines()[1:]
    except OSError:
        return  # a kernel without System V shared memory
    for line in lines:
        key, number, _, size, _, _, attached, uid, *_ = map(int, line.split())
        if attached or uid != owner.uid or size < PLACES[-1] + 16:
            continue
        header = _read(number, min(size, HEADER_BYTES))
        if _belongs(header, key, owner):
            yield number, header


def _belongs(header: bytes, key: int, owner: Owner) -> bool:
    """Return whether a segment is a data directory's; one that nobody filled yet is known by its key."""
    if not any(header):
        return len(header) > 0 and key == ctypes.c_int32(owner.inode).value
    names = [struct.unpack_from("QQ", header, at) for at in PLACES if len(header) >= at + 16]
    return struct.unpack_from("i", header) == (MAGIC,) and (owner.device, owner.inode) in names


def _read(number: int, size: int) -> bytes:
    """Return the beginning of a segment; nothing if it is gone or may not be read."""
    address = _libc.shmat(number, None, SHM_RDONLY)
    if address in (None, ctypes.c_void_p(-1).value):
        return b""
    try:
        return ctypes.string_at(address, size)
    finally:
        _libc.shmdt(address)


def _files(header: bytes, uid: int) -> list[Path]:
    """Return a user's files in /dev/shm that a header leads to, the list of the others last."""
    listing = _file(struct.unpack_from("I", header, LIST)[0])
    try:
        content = listing.read_bytes()
    except OSError:
        return []
    words = array("I", content[: len(content) // 4 * 4])
    if words[:1] != array("I", [LIST_MAGIC]):
        return [listing] if not any(words) and _is_owned(listing, uid) else []
    others = {_file(word) for word in words} - {listing}
    return [file for file in (*sorted(others), listing) if _is_owned(file, uid)]


def _file(handle: int) -> Path:
    return FILES / f"PostgreSQL.{handle}"


def _is_owned(file: Path, uid: int) -> bool:
    try:
        return os.lstat(file).st_uid == uid
    except OSError:
        return False
