"""HDR histograms in their interchange form: read, added up, written.

Format V2 of HdrHistogram (github.com/HdrHistogram/HdrHistogram, AbstractHistogram.encodeIntoByteBuffer and
ZigZagLEB128Int64): base64 of a header with a deflated payload of counts.
"""

import base64
import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

DEFLATED, PLAIN = 0x1C849314, 0x1C849313
"""Cookies of the two headers: counts as ZigZag LEB128."""

OUTER = struct.Struct(">ii")
INNER = struct.Struct(">iiiiqqd")


@dataclass(frozen=True)
class Histogram:
    """Counts by bucket."""

    digits: int
    lowest: int
    highest: int
    counts: tuple[int, ...]
    """By the index of the bucket; what lies behind the last is 0."""

    @property
    def total(self) -> int:
        """How many values there are."""
        return sum(self.counts)

    def percentile(self, percentile: float) -> int:
        """Return the largest value of the bucket in which a percentile lies; ValueError if there is none."""
        at_least = max(math.ceil(percentile / 100 * self.total), 1)
        below = 0
        for index, count in enumerate(self.counts):
            below += count
            if below >= at_least:
                return self._end(index) - 1
        raise ValueError("an empty histogram has no percentiles")

    @property
    def stdev(self) -> float:
        """Standard deviation of all values, each in the middle of its bucket."""
        total = self.total
        middles = [(count, self._middle(index)) for index, count in enumerate(self.counts) if count]
        mean = sum(count * middle for count, middle in middles) / total
        return math.sqrt(sum(count * (middle - mean) ** 2 for count, middle in middles) / total)

    @property
    def _unit(self) -> int:
        """Bits of the smallest bucket's width."""
        return max(self.lowest.bit_length() - 1, 0)

    @property
    def _half_bits(self) -> int:
        """Bits of half the number of buckets of one width."""
        return max(math.ceil(math.log2(2 * 10**self.digits)), 1) - 1

    def _start(self, index: int) -> tuple[int, int]:
        """Return the smallest value of a bucket, and its width."""
        half = 1 << self._half_bits
        octave, within = (index >> self._half_bits) - 1, (index & (half - 1)) + half
        if octave < 0:
            octave, within = 0, within - half
        return within << (octave + self._unit), 1 << (octave + self._unit)

    def _end(self, index: int) -> int:
        start, width = self._start(index)
        return start + width

    def _middle(self, index: int) -> int:
        start, width = self._start(index)
        return start + (width >> 1)


def decode(text: str) -> Histogram:
    """Read a histogram; ValueError if it is none."""
    try:
        packed = base64.b64decode(text, validate=True)
        cookie, size_bytes = OUTER.unpack_from(packed)
        plain = zlib.decompress(packed[OUTER.size : OUTER.size + size_bytes])
        inner, payload_bytes, _, digits, lowest, highest, _ = INNER.unpack_from(plain)
    except (struct.error, zlib.error) as error:
        raise ValueError(f"no histogram: {error}") from None
    if (cookie, inner) != (DEFLATED, PLAIN):
        raise ValueError("no histogram of format V2")
    return Histogram(digits, lowest, highest, tuple(_counts(plain[INNER.size : INNER.size + payload_bytes])))


def encode(histogram: Histogram) -> str:
    """Write a histogram."""
    payload = b"".join(_written(histogram.counts))
    header = INNER.pack(PLAIN, len(payload), 0, histogram.digits, histogram.lowest, histogram.highest, 1.0)
    packed = zlib.compress(header + payload)
    return base64.b64encode(OUTER.pack(DEFLATED, len(packed)) + packed).decode()


def added(histograms: Sequence[Histogram]) -> Histogram:
    """Return the histogram of all values, exactly; ValueError if their buckets differ."""
    first, *others = histograms
    buckets = (first.digits, first.lowest, first.highest)
    if any((one.digits, one.lowest, one.highest) != buckets for one in others):
        raise ValueError("histograms with other buckets cannot be added")
    counts = [0] * max(len(one.counts) for one in histograms)
    for one in histograms:
        for index, count in enumerate(one.counts):
            counts[index] += count
    return replace(first, counts=tuple(counts))


def _counts(payload: bytes) -> Iterator[int]:
    """Yield counts: a negative number is so many zeros."""
    at = 0
    while at < len(payload):
        number = shift = 0
        for shift in range(0, 63, 7):
            byte = payload[at]
            at += 1
            if shift == 56:  # the ninth byte has eight bits
                number |= byte << shift
                break
            number |= (byte & 0x7F) << shift
            if not byte & 0x80:
                break
        signed = (number >> 1) ^ -(number & 1)
        if signed < 0:
            yield from (0 for _ in range(-signed))
        else:
            yield signed


def _written(counts: Sequence[int]) -> Iterator[bytes]:
    zeros = 0
    for count in counts:
        if not count:
            zeros += 1
            continue
        if zeros:
            yield _number(-zeros)
            zeros = 0
        yield _number(count)


def _number(signed: int) -> bytes:
    number = (signed << 1) if signed >= 0 else ((-signed << 1) - 1)
    content = bytearray()
    while number >= 0x80 and len(content) < 8:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    content.append(number)
    return bytes(content)
