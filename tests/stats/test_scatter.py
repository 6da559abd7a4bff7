"""The scatter by level, held against trials that are drawn from the model."""

import math

import numpy as np
import pytest

from diskproof.stats.scatter import LONGEST_S, Observed, Scatter, of_pair, scatter_of, second_variance

BLOCK, START, SECOND = 0.05**2, 0.03**2, 0.08**2
"""Variances: a trial of 4 s scatters by 4% within itself."""


def draw(random: np.random.Generator, cells: int, blocks: int, measure_s: float) -> list[Observed]:
    trials = []
    for block in range(blocks):
        shared = random.normal(0, math.sqrt(BLOCK))
        for cell in range(cells):
            own = random.normal(0, math.sqrt(START)) + random.normal(0, math.sqrt(SECOND / measure_s))
            speed = 1000 * (cell + 1) * math.exp(shared + own)
            trials.append(Observed(f"c{cell}", block, speed, measure_s, start_s=3.0, second=SECOND))
    return trials


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_each_level_is_found_on_average(missing: float) -> None:
    random = np.random.default_rng(1)
    found: list[Scatter] = []
    for _ in range(300):
        trials = [one for one in draw(random, 4, 8, 4.0) if random.random() >= missing]
        if (made := scatter_of(trials)) is not None:
            found.append(made)
    assert np.mean([one.block for one in found]) == pytest.approx(BLOCK, rel=0.1)
    assert np.mean([one.start for one in found]) == pytest.approx(START, rel=0.1)
    assert found[0].second == pytest.approx(SECOND)
    assert found[0].within == pytest.approx(SECOND / 4)


def test_the_best_length_is_the_least_uncertain_for_its_time() -> None:
    made = Scatter(0.0, START, SECOND, measure_s=1.0, start_s=3.0)
    best_s = made.best_measure_s()
    assert best_s is not None
    assert best_s == pytest.approx(math.sqrt(3 * SECOND / START))
    random = np.random.default_rng(2)

    def uncertainty(measure_s: float) -> float:
        """Squared error of the mean of as many trials as an hour has room for, over 1,000 such hours."""
        trials = int(3600 / (3 + measure_s))
        scatter = math.sqrt(START + SECOND / measure_s)
        return float(random.normal(0, scatter, (1000, trials)).mean(axis=1).var())

    assert uncertainty(best_s) < 0.9 * min(uncertainty(best_s / 6), uncertainty(best_s * 6))


def test_the_best_length_has_ends() -> None:
    assert Scatter(0, 0.0, SECOND, 1.0, 3.0).best_measure_s() == 30
    assert Scatter(0, 0.0, SECOND, 1.0, 300.0).best_measure_s() == LONGEST_S
    assert Scatter(0, START, 0.0, 1.0, 3.0).best_measure_s() == 1
    assert Scatter(0, START, None, 1.0, 3.0).best_measure_s() is None


def test_the_variance_of_a_second_allows_for_autocorrelation() -> None:
    random = np.random.default_rng(3)
    variances = []
    means = []
    for _ in range(300):
        values = [0.0]
        for shock in random.normal(0, 1, 400):
            values.append(0.7 * values[-1] + shock)
        series = [100 + value for value in values[1:]]
        means.append(np.mean(series) / 100)
        variance = second_variance(series, 40.0)
        assert variance is not None
        variances.append(variance)
    true = np.var(means) * 40
    assert true == pytest.approx((1 / (1 - 0.7)) ** 2 / 100**2 * 40 / 400, rel=0.2)
    assert np.mean(variances) == pytest.approx(true, rel=0.25)
    independent = np.var(series) / 100**2 * 40 / 400
    assert independent < true / 2


def test_a_pair_has_the_scatter_of_its_ratio() -> None:
    trials = draw(np.random.default_rng(4), 2, 6, 4.0)
    sides = {cell: [one for one in trials if one.cell == cell] for cell in ("c0", "c1")}
    made = of_pair(sides, log_deviation=math.sqrt(2 * (START + SECOND / 4)))
    assert made is not None and made.start == pytest.approx(START) and made.trial(4.0) == START + SECOND / 4
    quiet = of_pair(sides, log_deviation=0.001)
    assert quiet is not None and quiet.start == 0
    assert of_pair({"c0": [], "c1": []}, 0.1) is None


def test_too_little_says_nothing() -> None:
    trials = draw(np.random.default_rng(5), 3, 1, 4.0)
    assert scatter_of(trials) is None and scatter_of([]) is None
    assert scatter_of(draw(np.random.default_rng(5), 1, 9, 4.0)) is None  # a cell is no scatter of blocks
    assert second_variance([5.0], 1) is None and second_variance([0.0] * 20, 1) is None
