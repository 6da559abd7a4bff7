"""Whether the order of the trials explains what they measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskproof.stats.grouping import grouped

PERMUTATIONS = 2000
"""Enough to tell a p of 0.01 from one of 0.02."""


FEW = 33
"""Blocks up to which Kendall's test is exact; its sum is near enough to normal for more."""

SINGULAR = 1e-9
"""Equations whose share is smaller follow from the others: a mean may be the cells' or the blocks'."""


@dataclass(frozen=True)
class Observation:
    """One trial: its place in the run, and the logarithm of its throughput."""

    cell: str
    block: int
    position: int
    log_value: float


@dataclass(frozen=True)
class Trend:
    """A trend, and how likely chance alone makes one as strong."""

    change: float
    """Relative change from the first to the last position (or block): -0.05 is 5% slower at the end."""
    p: float


def position_effect(observations: Sequence[Observation], seed: int = 1) -> Trend | None:
    """Return the trend over the positions within a block; None with too few observations.

    Positions are random in every block, so the test needs no model: it repeats the draw and counts how often
    the slope of the residuals (without the means of cells and blocks) is as steep.
    Source: Fisher, "The Design of Experiments", 1935, section 21 (randomisation test).
    """
    blocks = list(grouped(range(len(observations)), lambda index: observations[index].block).values())
    positions = np.array([one.position for one in observations], dtype=np.float64)
    if len(blocks) < 2 or len(observations) < 8 or np.ptp(positions) == 0:
        return None
    residuals = _residuals(observations)
    # Without the block's mean position this is the slope within blocks.
    centered = positions.copy()
    for members in blocks:
        centered[members] -= centered[members].mean()
    observed = abs(float(centered @ residuals))
    random = np.random.default_rng(seed)
    drawn = np.zeros(PERMUTATIONS)
    for members in blocks:
        shuffled = random.permuted(np.tile(centered[members], (PERMUTATIONS, 1)), axis=1)
        drawn += shuffled @ residuals[members]
    # Counting the real draw keeps p above 0 (Davison and Hinkley, 1997, section 4.2).
    p = (1 + int(np.sum(np.abs(drawn) >= observed * (1 - 1e-9)))) / (PERMUTATIONS + 1)
    slope = float(centered @ residuals) / float(centered @ centered)
    return Trend(change=math.expm1(slope * float(np.ptp(positions))), p=p)


def block_drift(observations: Sequence[Observation]) -> Trend | None:
    """Return the trend from block to block; None with fewer than five blocks: chance explains any.

    Kendall's test of a block's number and its mean, with the Theil-Sen slope: Mann, "Nonparametric tests
    against trend", Econometrica 13, 1945; Sen, JASA 63, 1968. SciPy has both, and takes a second to load.
    """
    numbers = sorted({one.block for one in observations})
    if len(numbers) < 5:
        return None
    by_cell = grouped(observations, lambda one: one.cell)
    usual = {cell: float(np.mean([one.log_value for one in ours])) for cell, ours in by_cell.items()}
    by_block = grouped(observations, lambda one: one.block)
    means = np.array(
        [np.mean([one.log_value - usual[one.cell] for one in by_block[number]]) for number in numbers]
    )
    at, (first, later) = np.array(numbers), np.triu_indices(len(numbers), 1)
    slopes = (means[later] - means[first]) / (at[later] - at[first])
    slope = float(np.median(slopes))
    return Trend(change=math.expm1(slope * (numbers[-1] - numbers[0])), p=_kendall_p(means))


def _kendall_p(values: NDArray[np.float64]) -> float:
    """Return the two-sided p of Kendall's test that values have no trend: exact for few, ties among them.

    The orders of n with k inversions are those of n - 1 with k less what the last can add, 0 to n - 1
    (Kendall, "A new measure of rank correlation", Biometrika 30, 1938), divided by those among equal values
    (MacMahon, "Two applications of general theorems in combinatory analysis", Proceedings of the London
    Mathematical Society 15, 1916). Equal values lessen the variance of the sum (Kendall, "The treatment of
    ties in ranking problems", Biometrika 33, 1945).
    """
    n, ties = len(values), np.unique(values, return_counts=True)[1].tolist()
    first, later = np.triu_indices(n, 1)
    surplus = abs(int(np.sign(values[later] - values[first]).sum()))
    if n > FEW:
        of_all, *of_ties = (t * (t - 1) * (2 * t + 5) for t in (n, *ties))
        return math.erfc(3 * surplus / math.sqrt(of_all - sum(of_ties))) if surplus else 1.0
    inversions = (math.comb(n, 2) - sum(math.comb(t, 2) for t in ties) - surplus) // 2
    orders = [1] + [0] * inversions
    for last in range(1, n):
        orders = [sum(orders[max(k - last, 0) : k + 1]) for k in range(inversions + 1)]
    for last in (last for t in ties for last in range(1, t)):
        for k in range(1, inversions + 1):
            orders[k] -= sum(orders[max(k - last, 0) : k])
    return min(2 * sum(orders) * math.prod(map(math.factorial, ties)) / math.factorial(n), 1.0)


def _residuals(observations: Sequence[Observation]) -> NDArray[np.float64]:
    """Return what cells and blocks do not explain: least squares on both, since blocks may be incomplete.

    The effects of whichever are more are put into the equations of the others, which are then few.
    """
    values = np.array([one.log_value for one in observations], dtype=np.float64)
    cells = np.unique([one.cell for one in observations], return_inverse=True)[1]
    blocks = np.unique([one.block for one in observations], return_inverse=True)[1]
    few, many = sorted((cells, blocks), key=np.max)
    of_each = np.bincount(many)
    met = np.zeros((few.max() + 1, of_each.size))
    np.add.at(met, (few, many), 1)
    shares = met / of_each
    left = np.diag(np.bincount(few)) - shares @ met.T
    right = np.bincount(few, values) - shares @ np.bincount(many, values)
    of_few = np.linalg.lstsq(left, right, rcond=SINGULAR)[0]
    of_many = (np.bincount(many, values) - of_few @ met) / of_each
    return np.asarray(values - of_few[few] - of_many[many], dtype=np.float64)
