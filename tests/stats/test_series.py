import numpy as np
import pytest

from diskproof.stats.series import batch_mean, lag1_autocorrelation, mser5


def test_mser5_cuts_a_warm_up_where_it_ends() -> None:
    random = np.random.default_rng(1)
    warming = np.linspace(200, 1000, 15)
    series = np.concatenate([warming, np.full(85, 1000.0)]) + random.normal(0, 10, 100)
    cut = mser5(series.tolist())
    assert 10 <= cut.cut_bins <= 20
    assert cut.steady


def test_mser5_finds_no_rest_in_a_series_that_never_settles() -> None:
    random = np.random.default_rng(2)
    series = np.linspace(100, 1000, 60) + random.normal(0, 5, 60)
    assert not mser5(series.tolist()).steady


def test_mser5_leaves_a_flat_series_alone() -> None:
    assert mser5([500.0] * 30).cut_bins == 0


def test_mser5_keeps_the_last_bins_and_needs_four_batches() -> None:
    series = [0.0] * 3 + [100.0, 101.0, 99.0, 100.0, 100.0] * 4
    assert mser5(series).cut_bins == 0  # the three odd bins stand before the first batch
    with pytest.raises(ValueError, match="at least 20 bins"):
        mser5([1.0] * 19)


def test_lag1_of_an_autoregressive_series_is_its_coefficient() -> None:
    random = np.random.default_rng(4)
    series = _autoregressive(random, 20_000, 0.6)
    assert lag1_autocorrelation(series) == pytest.approx(0.6, abs=0.02)
    assert lag1_autocorrelation([3.0, 3.0, 3.0]) == 0


def test_lag1_of_a_known_series() -> None:
    # 1, 2, 3, 4: centred -1.5, -0.5, 0.5, 1.5; products 0.75 - 0.25 + 0.75 over 5.
    assert lag1_autocorrelation([1.0, 2.0, 3.0, 4.0]) == pytest.approx(1.25 / 5)


def test_batches_grow_with_the_correlation() -> None:
    random = np.random.default_rng(6)
    assert batch_mean(random.normal(100, 5, 200).tolist()).batch_bins <= 2
    assert batch_mean(_autoregressive(random, 200, 0.9)).batch_bins >= 8


@pytest.mark.parametrize(("coefficient", "least"), [(0.0, 0.92), (0.5, 0.85), (0.8, 0.8)])
def test_batch_means_cover_the_truth_if_plain_intervals_do_not(coefficient: float, least: float) -> None:
    random = np.random.default_rng(7)
    runs, covered = 1500, 0
    for _ in range(runs):
        mean = batch_mean(_autoregressive(random, 240, coefficient))
        covered += abs(mean.mean) <= mean.half_width
    assert least < covered / runs < 0.98


def _autoregressive(random: np.random.Generator, length: int, coefficient: float) -> list[float]:
    noise = random.normal(0, 1, length + 200)
    values = np.zeros(length + 200)
    for index in range(1, length + 200):
        values[index] = coefficient * values[index - 1] + noise[index]
    return [float(value) for value in values[200:]]
