"""TPC-C's non-uniform random numbers: how likely each is, and whether counts agree.

NURand(A, C, x, y) = (((random(0, A) | random(x, y)) + C) % (y - x + 1)) + x, by clause 2.1.6 of TPC-C's
specification, revision 5.11.
"""

from collections.abc import Sequence

import numpy as np

from diskproof.stats.distributions import special

FEWEST_EXPECTED = 5.0
"""Cochran's rule: bins with smaller expected counts are joined (Biometrics 10, 1954)."""


def bin_shares(a: int, c: int, x: int, y: int, bins: int) -> list[float]:
    """Return the probability of each of equal bins from x to y.

    A bitwise OR of two independent numbers lies within a set of bits exactly if both do. So the distribution
    function over sets of bits is a product, and the Moebius transform gives the probabilities back.
    """
    bits = max(a, y).bit_length()
    size = 1 << bits
    first, second = np.zeros(size), np.zeros(size)
    first[: a + 1] = 1 / (a + 1)
    second[x : y + 1] = 1 / (y - x + 1)
    both = _within(first, bits) * _within(second, bits)
    for bit in range(bits):
        view = both.reshape(-1, 2, 1 << bit)
        view[:, 1] -= view[:, 0]
    width = y - x + 1
    at = (np.arange(size) + c) % width
    shares = np.bincount(at, weights=both, minlength=width)
    return [float(part.sum()) for part in np.split(shares, bins)]


def chi_square_p(counts: Sequence[int], shares: Sequence[float]) -> float | None:
    """Return the p of Pearson's chi-square test that counts have these shares; None with too few counts.

    Neighbouring bins are joined until each expects `FEWEST_EXPECTED`.
    """
    total = sum(counts)
    joined: list[tuple[float, float]] = []
    seen = expected = 0.0
    for count, share in zip(counts, shares, strict=True):
        seen, expected = seen + count, expected + share * total
        if expected >= FEWEST_EXPECTED:
            joined.append((seen, expected))
            seen = expected = 0.0
    if expected and joined:
        joined[-1] = (joined[-1][0] + seen, joined[-1][1] + expected)
    if len(joined) < 2:
        return None
    statistic = sum((seen - expected) ** 2 / expected for seen, expected in joined)
    return float(special().chdtrc(len(joined) - 1, statistic))


def binomial_p(seen: int, n: int, share: float) -> float:
    """Return the two-sided p that `seen` of `n` have a share: twice the smaller tail, which is exact."""
    if not 0 < share < 1:
        return 1.0
    tails = special().bdtr(seen, n, share), special().bdtrc(seen - 1, n, share)
    return min(1.0, 2 * float(min(tails)))


def poisson_p(count: float, mean: float) -> float:
    """Return the probability that a Poisson count is so high or higher."""
    return float(special().gammainc(count, mean)) if count > 0 else 1.0


def _within(shares: np.ndarray, bits: int) -> np.ndarray:
    """Return, for each set of bits, the probability that a number has no other bits."""
    sums = shares.copy()
    for bit in range(bits):
        view = sums.reshape(-1, 2, 1 << bit)
        view[:, 1] += view[:, 0]
    return sums
