"""TPC-C's non-uniform numbers: exact probabilities, and tests that find what is not so distributed."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from support.tpcc_inputs import bin_shares, binomial_p, chi_square_p


@pytest.mark.parametrize(("a", "c", "x", "y"), [(7, 0, 1, 30), (7, 5, 1, 30), (15, 9, 0, 19), (3, 2, 1, 10)])
def test_probabilities_are_those_of_every_pair_counted(a: int, c: int, x: int, y: int) -> None:
    pairs = product(range(a + 1), range(x, y + 1))
    counted = Counter(((first | second) + c) % (y - x + 1) + x for first, second in pairs)
    every = (a + 1) * (y - x + 1)
    expected = [counted[value] / every for value in range(x, y + 1)]
    assert bin_shares(a, c, x, y, y - x + 1) == pytest.approx(expected)
    halves = bin_shares(a, c, x, y, 2)
    assert halves == pytest.approx([sum(expected[: len(expected) // 2]), sum(expected[len(expected) // 2 :])])


def test_items_are_as_skewed_as_published() -> None:
    """Of items, 84% of the accesses go to 20% of the rows (Leutenegger and Dias, SIGMOD 1993)."""
    shares = sorted(bin_shares(8191, 4000, 1, 100_000, 100_000), reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert sum(shares[:20_000]) == pytest.approx(0.84, abs=0.01)


def test_draws_agree_and_uniform_ones_do_not() -> None:
    draw = np.random.default_rng(4)
    ors = draw.integers(0, 8192, 50_000) | draw.integers(1, 100_001, 50_000)
    counts = np.bincount((ors + 259) % 100_000 // 1000, minlength=100).tolist()
    shares = bin_shares(8191, 259, 1, 100_000, 100)
    agrees = chi_square_p(counts, shares)
    assert agrees is not None
    assert agrees > 0.001
    uniform = np.bincount(draw.integers(0, 100, 50_000), minlength=100).tolist()
    differs = chi_square_p(uniform, shares)
    assert differs is not None
    assert differs < 1e-6


def test_a_published_example_of_the_test() -> None:
    """Mendel's peas: 315, 108, 101 and 32 beside 9:3:3:1 give 0.470, p 0.925 with 3 degrees of freedom."""
    p = chi_square_p([315, 108, 101, 32], [9 / 16, 3 / 16, 3 / 16, 1 / 16])
    assert p == pytest.approx(0.925, abs=0.001)


def test_few_counts_are_joined_or_say_nothing() -> None:
    assert chi_square_p([1, 2], [0.5, 0.5]) is None
    assert chi_square_p([0] * 10, [0.1] * 10) is None
    joined = chi_square_p([3, 3, 3, 3], [0.25] * 4)
    assert joined == pytest.approx(1.0)


def test_shares_that_are_far_off_have_a_small_p() -> None:
    assert binomial_p(100, 10_000, 0.01) == pytest.approx(1.0)
    assert binomial_p(180, 10_000, 0.01) < 1e-6
    assert 0.01 < binomial_p(110, 10_000, 0.01) < 0.5
    assert binomial_p(0, 10_000, 0.0) == 1.0


def test_shares_of_few_draws_have_an_exact_p() -> None:
    """By a normal approximation, three of twenty with a share of 1% would have p = 2e-7."""
    assert binomial_p(3, 20, 0.01) == pytest.approx(
        2 * (1 - 0.99**20 - 20 * 0.01 * 0.99**19 - 190 * 0.01**2 * 0.99**18)
    )
    assert binomial_p(0, 20, 0.01) == 1.0
    assert binomial_p(150_400, 1_000_000, 0.15) == pytest.approx(0.263, abs=0.002)
