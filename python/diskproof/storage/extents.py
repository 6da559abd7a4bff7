"""Which file has which bytes of a disk, as far as the file system says (FIEMAP)."""

import fcntl
import os
import struct
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from diskproof.reading import closed_at_end

FS_IOC_FIEMAP = 0xC020660B
HEADER, EXTENT = struct.Struct("=QQLLLL"), struct.Struct("=QQQ2QL3L")
MOST_EXTENTS = 512
"""Of one file; later ones have no name."""


OWN_BLOCKS = "the file system's own blocks"


class Owners:
    """The files of a mounted file system by the places of their bytes."""

    def __init__(self, folder: Path) -> None:
        """Ask for all files and directories below a folder."""
        found = [
            (physical, physical + length, f"{path.relative_to(folder)}")
            for path in [folder, *folder.rglob("*")]
            if path.is_dir() or (path.is_file() and not path.is_symlink())
            for physical, length in _extents(path)
        ]
        self._extents = sorted(found)

    def of(self, offset: int, length: int) -> list[str]:
        """Return the files that some bytes of the disk belong to; empty if they are the file system's own."""
        last = bisect_right(self._extents, (offset + length,))
        return list(dict.fromkeys(name for start, end, name in self._extents[:last] if end > offset))

    def in_words(self, offset: int, length: int) -> str:
        """Say which bytes these are; without files if the file system says nothing of any."""
        if not self._extents:
            return f"{length:,} bytes at {offset:,} of the disk"
        where = ", ".join(self.of(offset, length)) or OWN_BLOCKS
        return f"{length:,} bytes of {where} (at {offset:,} of the disk)"


def _extents(path: Path) -> Iterator[tuple[int, int]]:
    with (
        suppress(OSError),  # it is gone, or its file system does not tell
        closed_at_end(os.open(path, os.O_RDONLY | os.O_NOFOLLOW)) as descriptor,
    ):
        asked = bytearray(HEADER.size + MOST_EXTENTS * EXTENT.size)
        HEADER.pack_into(asked, 0, 0, 2**64 - 1, 0, 0, MOST_EXTENTS, 0)
        fcntl.ioctl(descriptor, FS_IOC_FIEMAP, asked)
        count = HEADER.unpack_from(asked)[3]
        for number in range(min(count, MOST_EXTENTS)):
            _, physical, length, *_ = EXTENT.unpack_from(asked, HEADER.size + number * EXTENT.size)
            if physical:  # its place is known
                yield physical, length
