"""Whether TPC-C's inputs are those of the specification, revision 5.11: shares, and distributions.

NURand(A, C, x, y) = (((random(0, A) | random(x, y)) + C) % (y - x + 1)) + x (clause 2.1.6).
"""

from collections.abc import Sequence

import numpy as np

from diskproof.results.record import Record
from diskproof.results.tpcc import KINDS, Inputs, Kind
from diskproof.stats.distributions import special


def binomial_p(seen: int, n: int, share: float) -> float:
    """Return the two-sided p that `seen` of `n` have a share: twice the smaller tail, which is exact."""
    if not 0 < share < 1:
        return 1.0
    tails = special().bdtr(seen, n, share), special().bdtrc(seen - 1, n, share)
    return min(1.0, 2 * float(min(tails)))


class Constants(Record):
    """The constants C of NURand in a run (clause 2.1.6.1)."""

    last_name: int
    customer: int
    item: int


class Drawn(Inputs):
    """What the terminals entered since they began, the warm-up included: draws do not depend on the phase."""

    terminals: int
    constants: Constants
    load_constant: int
    """The constant C for last names while the tables were loaded."""
    begun: list[int]
    """Transactions of each of `KINDS`; one that is run again counts once."""
    rolled_back: int
    """New orders with an unused item."""
    lines: int
    remote_lines: int
    line_counts: list[int]
    """Orders with 5, 6, … 15 lines."""
    items: list[int]
    """Lines in bins of 1,000 items."""
    remote_payments: int
    by_last_name: int
    """Of payments and order statuses."""
    customers: list[int]
    """Customer numbers in bins of 100."""
    last_names: list[int]
    """Numbers of last names in bins of 10."""
    districts: list[int]

    def drawn(self, kind: Kind) -> int:
        """Return how many transactions of a kind were begun."""
        return self.begun[KINDS.index(kind)]


UNLIKELY = 1e-6
"""A correct run fails once in a hundred thousand."""

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


def _within(shares: np.ndarray, bits: int) -> np.ndarray:
    """Return, for each set of bits, the probability that a number has no other bits."""
    sums = shares.copy()
    for bit in range(bits):
        view = sums.reshape(-1, 2, 1 << bit)
        view[:, 1] += view[:, 0]
    return sums


def wrong_shares(inputs: Drawn) -> list[str]:
    """Return the shares that are not the specified ones (clauses 2.4.1 and 2.5.1)."""
    several = inputs.warehouses > 1
    payments, orders = inputs.drawn("payment"), inputs.drawn("new_order")
    named = payments + inputs.drawn("order_status")
    specified = {
        "new orders that roll back": (inputs.rolled_back, orders, 0.01),
        "order lines from another warehouse": (inputs.remote_lines, inputs.lines, 0.01 * several),
        "payments for another warehouse": (inputs.remote_payments, payments, 0.15 * several),
        "customers by last name": (inputs.by_last_name, named, 0.6),
    }
    return [
        name
        for name, (seen, of, share) in specified.items()
        if of and (binomial_p(seen, of, share) < UNLIKELY or (seen and not share))
    ]


def distributions(inputs: Drawn) -> dict[str, float]:
    """Return the p of each distribution of inputs, as far as there are enough (chi-square)."""
    constants = inputs.constants
    found = {
        "districts": chi_square_p(inputs.districts, _equal(inputs.districts)),
        "lines of an order": chi_square_p(inputs.line_counts, _equal(inputs.line_counts)),
        "items": chi_square_p(inputs.items, bin_shares(8191, constants.item, 1, 100_000, len(inputs.items))),
        "customers": chi_square_p(
            inputs.customers, bin_shares(1023, constants.customer, 1, 3_000, len(inputs.customers))
        ),
        "last names": chi_square_p(
            inputs.last_names, bin_shares(255, constants.last_name, 0, 999, len(inputs.last_names))
        ),
    }
    return {name: p for name, p in found.items() if p is not None}


def smallest_p(inputs: Drawn) -> float | None:
    """Return the smallest p of all distributions, times their number (Bonferroni); None without one."""
    found = distributions(inputs).values()
    return min(1.0, min(found) * len(found)) if found else None


def _equal(counts: list[int]) -> list[float]:
    return [1 / len(counts)] * len(counts)
