"""Ratios that may be looked at after each block: their errors by simulation, their limits by hand."""

import math

import numpy as np
import pytest

from diskproof.stats.intervals import paired_ratio
from diskproof.stats.sequential import anytime_ratio, blocks_needed_at_any_time, t_at_any_time


def simulated(center: float, deviation: float, blocks: int, seed: int) -> list[float]:
    """Ratios of blocks."""
    normal = np.random.default_rng(seed).normal(center, deviation, blocks)
    return [math.exp(value) for value in normal]


def test_looking_after_each_block_rarely_finds_a_difference_that_is_not_there() -> None:
    runs, blocks = 400, 40
    missed = fixed_missed = false = 0
    for seed in range(runs):
        ratios = simulated(0.0, 0.1, blocks, seed)
        ones = [1.0] * blocks
        final = anytime_ratio(ratios, ones)
        # The interval and p of the last look hold the extremes of all looks before it.
        missed += final.interval.excludes(1)
        false += final.p is not None and final.p < 0.05
        fixed_missed += any(
            paired_ratio(ratios[:n], ones[:n]).interval.excludes(1) for n in range(4, blocks + 1)
        )
    # 5% of 400 is 20; 33 and more would come by chance once in 300 times.
    assert missed < 33 and false < 33
    assert fixed_missed > 60, "a fixed interval that is looked at each time would be wrong often"


def test_what_was_decided_once_stays_decided() -> None:
    ratios = [*simulated(0.3, 0.05, 8, 1), *simulated(-0.3, 0.05, 3, 2)]
    decided = anytime_ratio(ratios[:8], [1.0] * 8)
    later = anytime_ratio(ratios, [1.0] * 11)
    assert decided.interval.excludes(1) and decided.p is not None and decided.p < 0.05
    assert later.p is not None and later.p <= decided.p
    assert later.interval.low == decided.interval.low or later.interval.high == decided.interval.high


def test_few_pairs_have_no_ends() -> None:
    assert anytime_ratio([2.0], [1.0]).p is None
    two = anytime_ratio([2.0, 2.1], [1.0, 1.0])
    assert two.interval.low is None and two.interval.estimate == pytest.approx(math.sqrt(4.2))
    assert math.isinf(t_at_any_time(3)) and t_at_any_time(5) == pytest.approx(5.46, abs=0.01)
    # By hand: n = 10, prior variance 3, 5%.
    shrunk = 1 / 31
    odds = (20 / math.sqrt(shrunk)) ** 0.2
    assert t_at_any_time(10) == pytest.approx(math.sqrt(9 * (odds - 1) / (1 - odds * shrunk)))


def test_equal_ratios_of_coarse_figures_prove_nothing_at_first() -> None:
    seconds = [13.0, 13.0, 12.0, 12.0, 13.0, 12.0]
    assert anytime_ratio(seconds[:3], [12.0] * 3).p == 1
    later = anytime_ratio(seconds, [12.0] * 6).p
    assert later is not None and later > 0.05


def test_the_interval_ends_where_p_is_a_twentieth() -> None:
    ratios = simulated(0.02, 0.1, 12, 3)
    logs = np.log(ratios)
    half = t_at_any_time(12) * logs.std(ddof=1) / math.sqrt(12)
    shifted = [ratio * math.exp(half - logs.mean()) for ratio in ratios]
    # The last look alone decides here: earlier ones are wider.
    assert anytime_ratio(shifted, [1.0] * 12).p == pytest.approx(0.05, rel=0.02)


def test_values_without_scatter() -> None:
    same = anytime_ratio([3.0] * 5, [3.0] * 5)
    assert same.interval.within(0.999, 1.001) and same.p == 1
    twice = anytime_ratio([6.0] * 5, [3.0] * 5)
    assert twice.p == 0 and twice.interval.excludes(1)


@pytest.mark.parametrize(("effect", "deviation"), [(0.3, 0.1), (0.05, 0.05), (0.0, 0.02)])
def test_blocks_needed_decide_half_of_the_runs(effect: float, deviation: float) -> None:
    needed = blocks_needed_at_any_time(math.exp(effect), deviation, 0.03, 1)
    assert needed is not None
    decided = 0
    for seed in range(60):
        found = anytime_ratio(simulated(effect, deviation, needed, seed), [1.0] * needed).interval
        decided += found.excludes(1) or found.within(0.97, 1.03)
    assert 20 <= decided <= 60
    assert blocks_needed_at_any_time(1.0, 0.5, 0.03, 1) is None


def test_only_pairs_of_positive_values() -> None:
    with pytest.raises(ValueError, match="pairs"):
        anytime_ratio([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="positive"):
        anytime_ratio([0.0, 1.0], [1.0, 1.0])


def test_a_wild_last_block_does_not_leave_the_ratio_outside_of_its_interval() -> None:
    disk, dram = [159.0, 157.0, 127.0, 132.0, 2878.0], [38646.0, 46539.0, 42967.0, 43099.0, 31068.0]
    sure = anytime_ratio(disk[:4], dram[:4]).interval
    wild = anytime_ratio(disk, dram)
    assert sure.high is not None and sure.high < wild.interval.estimate
    assert wild.interval.low == sure.low
    assert wild.interval.high == wild.interval.estimate
    assert wild.p is not None and wild.p < 0.05, "that they differ stays decided"
