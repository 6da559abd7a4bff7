"""Known values, and coverage by simulation: a 95 % interval holds the truth in 95 of 100 runs."""

import math

import numpy as np
import pytest

from diskproof.stats.intervals import (
    blocks_needed,
    geometric_mean_interval,
    independent_ratio,
    paired_ratio,
)
from support.intervals import bounds

# Student's own example (Biometrika 1908): hours of sleep gained under two drugs, ten patients.
DRUG_A = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG_B = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_paired_ratio_gives_the_textbook_values() -> None:
    test = paired_ratio([math.exp(x) for x in DRUG_B], [math.exp(x) for x in DRUG_A])
    assert math.log(test.interval.estimate) == pytest.approx(1.58)
    assert math.log(bounds(test.interval)[0]) == pytest.approx(0.7001142, abs=1e-6)
    assert math.log(bounds(test.interval)[1]) == pytest.approx(2.4598858, abs=1e-6)
    assert test.p == pytest.approx(0.002833, abs=1e-6)
    assert test.interval.n == 10


def test_independent_ratio_gives_the_textbook_values() -> None:
    test = independent_ratio([math.exp(x) for x in DRUG_B], [math.exp(x) for x in DRUG_A])
    assert math.log(bounds(test.interval)[0]) == pytest.approx(-0.2054832, abs=1e-6)
    assert math.log(bounds(test.interval)[1]) == pytest.approx(3.3654832, abs=1e-6)
    assert test.p == pytest.approx(0.07939, abs=1e-5)


def test_a_geometric_mean_lies_where_it_should() -> None:
    interval = geometric_mean_interval([50.0, 200.0])
    assert interval.estimate == pytest.approx(100.0)
    assert 100 * (1 + (interval.uncertainty or 0)) == pytest.approx(interval.high)
    # One degree of freedom: t = 12.706, log deviation ln(4)/sqrt(2).
    assert math.log(bounds(interval)[1] / 100) == pytest.approx(12.7062 * math.log(4) / 2, rel=1e-4)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_intervals_cover_the_truth_in_95_of_100_runs(n: int) -> None:
    random = np.random.default_rng(20260314)
    runs = 2000
    covered = {"mean": 0, "paired": 0, "independent": 0}
    for _ in range(runs):
        machine = random.normal(0, 0.2, n)  # what a block does to both sides
        a = np.exp(np.log(300) + machine + random.normal(0, 0.03, n)).tolist()
        b = np.exp(np.log(100) + machine + random.normal(0, 0.06, n)).tolist()
        covered["mean"] += not geometric_mean_interval(a).excludes(300)
        covered["paired"] += not paired_ratio(a, b).interval.excludes(3)
        covered["independent"] += not independent_ratio(a, random.permutation(b).tolist()).interval.excludes(
            3
        )
    # Four standard errors of a simulated share; Welch's test and shared blocks may only be cautious.
    margin = 4 * math.sqrt(0.95 * 0.05 / runs)
    assert covered["mean"] / runs == pytest.approx(0.95, abs=margin)
    assert covered["paired"] / runs == pytest.approx(0.95, abs=margin)
    assert covered["independent"] / runs > 0.95 - margin


def test_pairing_removes_what_a_block_does_to_both_sides() -> None:
    blocks = [1.0, 2.0, 0.5, 4.0]
    noise = [1.01, 0.99, 1.02, 0.98]
    numerators = [3 * block * scatter for block, scatter in zip(blocks, noise, strict=True)]
    paired = paired_ratio(numerators, blocks)
    assert paired.interval.excludes(1)
    low, high = bounds(paired.interval)
    assert high / low < 1.1
    assert not independent_ratio(numerators, blocks).interval.excludes(1)


def test_a_ratio_and_its_reciprocal_say_the_same() -> None:
    a, b = [210.0, 190.0, 205.0], [100.0, 98.0, 104.0]
    forth, back = paired_ratio(a, b), paired_ratio(b, a)
    assert bounds(forth.interval)[0] == pytest.approx(1 / bounds(back.interval)[1])
    assert forth.p == pytest.approx(back.p)


def test_one_observation_has_no_interval() -> None:
    assert geometric_mean_interval([7.0]).low is None
    assert paired_ratio([2.0], [1.0]).p is None
    assert independent_ratio([2.0], [1.0, 1.1]).interval.high is None
    assert geometric_mean_interval([7.0]).uncertainty is None


def test_figures_without_scatter_differ_only_if_they_do() -> None:
    assert paired_ratio([2.0, 2.0], [1.0, 1.0]).p == 0
    assert paired_ratio([1.0, 1.0], [1.0, 1.0]).p == 1
    assert independent_ratio([1.0, 1.0], [1.0, 1.0]).p == 1


def test_wild_blocks_give_a_finite_interval() -> None:
    interval = paired_ratio([1e9, 1e-9], [1.0, 1.0]).interval
    low, high = bounds(interval)
    assert low >= 0
    assert math.isfinite(high)


@pytest.mark.parametrize("values", [[], [0.0, 1.0], [math.nan], [-3.0]])
def test_what_has_no_logarithm_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="positive values are needed"):
        geometric_mean_interval(values)


def test_blocks_needed_are_about_enough() -> None:
    """Of runs with that many blocks, most decide: neither far too few nor far too many."""
    ratio, deviation = 1.06, 0.05
    needed = blocks_needed(ratio, deviation, same_within=0.03, comparisons=1)
    assert needed is not None
    random = np.random.default_rng(5)

    def share_decided(n: int) -> float:
        decided = 0
        for _ in range(1000):
            a = np.exp(np.log(ratio) + random.normal(0, deviation, n)).tolist()
            decided += paired_ratio(a, [1.0] * n).interval.excludes(1)
        return decided / 1000

    assert 0.7 < share_decided(needed) < 0.92
    assert share_decided(max(2, needed // 3)) < 0.5
    assert share_decided(3 * needed) > 0.9


def test_blocks_needed_grow_with_scatter_and_comparisons_and_may_be_hopeless() -> None:
    few, noisier, stricter = (
        blocks_needed(1.1, deviation, 0.03, comparisons)
        for deviation, comparisons in ((0.05, 1), (0.1, 1), (0.05, 20))
    )
    assert few is not None
    assert noisier is not None
    assert stricter is not None
    assert few < min(noisier, stricter)
    assert blocks_needed(1.001, 0.005, 0.03, 1) == 3
    assert blocks_needed(1.0301, 3.0, 0.03, 1) is None
