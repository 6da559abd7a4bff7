"""HDR histograms in their interchange form."""

import random

import pytest

from diskproof.stats.hdr import Histogram, added, decode, encode

HOUR_NS = 3_600_000_000_000


def made(values: list[int]) -> Histogram:
    """Count values one by one: 2,048 buckets have the width 1, then 1,024 each other width."""
    counts: dict[int, int] = {}
    for value in values:
        octave = max(value.bit_length() - 11, 0)
        index = (octave << 10) + (value >> octave)
        counts[index] = counts.get(index, 0) + 1
    return Histogram(3, 1, HOUR_NS, tuple(counts.get(index, 0) for index in range(max(counts) + 1)))


def values(seed: int) -> list[int]:
    source = random.Random(seed)
    return [round(10 ** source.uniform(0, 12)) for _ in range(5000)]


def test_what_is_written_is_read() -> None:
    histogram = made([1, 1, 2047, 2048, 10**9, HOUR_NS])
    assert decode(encode(histogram)) == histogram
    assert encode(histogram).startswith("HISTFAAA")


def test_a_sum_is_exact() -> None:
    one, other = values(1), values(2)
    assert added([made(one), made(other)]) == made([*one, *other])
    with pytest.raises(ValueError, match="other buckets"):
        added([made(one), Histogram(2, 1, HOUR_NS, (1,))])


def test_percentiles_lie_in_the_bucket_of_the_value() -> None:
    ordered = sorted(values(3))
    histogram = made(ordered)
    for percentile in (0.1, 50.0, 99.0, 99.9, 100.0):
        exact = ordered[max(-int(-percentile / 100 * len(ordered) // 1), 1) - 1]
        assert exact <= histogram.percentile(percentile) <= exact * 1.001


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "unpack"), ("HISTFAAA", "unpack"), ("QUJDREVGR0g=", "incomplete"), ("?", "base64|Only")],
)
def test_what_is_none_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode(text)
