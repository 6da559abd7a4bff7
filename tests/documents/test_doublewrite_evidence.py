"""tools/doublewrite.py finds pages and copies in a log of requests, and which a cut left beyond repair."""

import io
from collections.abc import Iterator

import pytest

from doublewrite import PAGE, SECTOR, Record, Written, read_log, repairable

HOME, COPY = 10 * PAGE, 2 * PAGE
OLD = bytes(PAGE)


def page(version: int) -> bytes:
    """Return page 7 of space 3."""
    return bytes(4) + (7).to_bytes(4) + bytes(26) + (3).to_bytes(4) + bytes([version]) * (PAGE - 38)


def log(*, flushed: bool) -> Iterator[Record]:
    """Yield a copy among others, its page, and whether the copy became safe before."""
    batch = page(9).replace(b"\7", b"\5") + page(1)
    yield "write", {"number": 1, "offset_bytes": COPY - PAGE, "length_bytes": len(batch)}, batch
    if flushed:
        yield "stable", {"number": 1}, b""
    yield "write", {"number": 2, "offset_bytes": HOME, "length_bytes": PAGE}, page(1)


@pytest.mark.parametrize("flushed", [True, False])
def test_a_page_is_the_second_write_of_the_same_bytes(flushed: bool) -> None:
    pages, stable = read_log(log(flushed=flushed), io.BytesIO(bytes(20 * PAGE)))
    assert {name: (one.copy, one.last) for name, one in pages.items()} == {
        (3, 7): (Written(1, COPY), Written(2, HOME))
    }
    assert stable == ({1} if flushed else set())


TORN_PAGE = page(1)[:SECTOR] + OLD[SECTOR:]
TORN_COPY = page(1)[: 3 * SECTOR] + OLD[3 * SECTOR :]


@pytest.mark.parametrize(
    ("home", "copy", "can_be"),
    [
        (page(1), OLD[:-1] + b"x", True),
        (OLD, TORN_COPY, True),
        (TORN_PAGE, page(1), True),
        (TORN_PAGE, TORN_COPY, False),
    ],
)
def test_a_torn_page_needs_a_whole_copy(home: bytes, copy: bytes, can_be: bool) -> None:
    [found] = read_log(log(flushed=False), io.BytesIO(bytes(20 * PAGE)))[0].values()
    left = bytearray(20 * PAGE)
    left[HOME : HOME + PAGE], left[COPY : COPY + PAGE] = home, copy
    assert repairable(found, io.BytesIO(left)) == can_be
