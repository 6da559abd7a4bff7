import math
from collections.abc import Iterable
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import kendalltau

from diskproof.stats.order import Observation, Trend, block_drift, position_effect


def test_position_effect_is_found_and_sized() -> None:
    trend = _found(position_effect(_run(seed=1, slope=-0.02)))
    assert trend.p < 0.01
    assert trend.change == pytest.approx(math.expm1(-0.02 * 7), abs=0.03)


def test_drift_from_block_to_block_is_found_and_sized() -> None:
    trend = _found(block_drift(_run(seed=2, drift=0.03, blocks=8)))
    assert trend.p < 0.01
    assert trend.change == pytest.approx(math.expm1(0.03 * 7), abs=0.04)


def test_both_keep_their_level_without_any_trend() -> None:
    runs = 200
    at_position = sum(_found(position_effect(_run(seed))).p < 0.05 for seed in range(runs))
    over_blocks = sum(_found(block_drift(_run(seed, blocks=6))).p < 0.05 for seed in range(runs))
    assert 0.02 < at_position / runs < 0.09
    assert over_blocks / runs < 0.09


def test_a_noisy_cell_does_not_make_a_position_effect() -> None:
    runs = 150
    found = sum(_found(position_effect(_run(seed, noise_of_last=0.3))).p < 0.05 for seed in range(runs))
    assert 0.02 < found / runs < 0.09


def test_too_few_observations_give_no_trend() -> None:
    assert position_effect(_run(seed=1, blocks=1)) is None
    assert position_effect([_only(block) for block in range(1, 9)]) is None
    assert block_drift(_run(seed=1, blocks=4)) is None


def test_a_block_that_broke_off_does_no_harm() -> None:
    trend = _found(position_effect(_run(seed=3, slope=-0.02)[:-5]))
    assert trend.p < 0.01
    assert trend.change < -0.08


def test_ten_thousand_trials_with_gaps_are_sized_closely() -> None:
    made = _run(seed=4, slope=-0.02, drift=0.0001, blocks=1250)
    with_gaps = [one for at, one in enumerate(made) if at % 7]
    trend = _found(position_effect(with_gaps))
    assert trend.p < 0.01
    assert trend.change == pytest.approx(math.expm1(-0.02 * 7), abs=0.005)
    drift = _found(block_drift(with_gaps))
    assert drift.p < 0.01
    assert drift.change == pytest.approx(math.expm1(0.0001 * 1249), abs=0.01)


@pytest.mark.parametrize("means", ["12345", "11234", "11345", "31222", "1122334", "3211222", "11111"])
def test_the_p_of_a_drift_is_that_of_all_orders(means: str) -> None:
    def surplus(order: tuple[str, ...]) -> int:
        return abs(sum((later > first) - (later < first) for first, later in combinations(order, 2)))

    seen = [surplus(order) for order in permutations(means)]
    as_strong = sum(one >= surplus(tuple(means)) for one in seen) / len(seen)
    assert _found(block_drift(_means(means))).p == pytest.approx(as_strong)


@pytest.mark.parametrize("levels", [2, 5, 40])
def test_the_p_of_many_blocks_with_equal_means_is_scipys(levels: int) -> None:
    means = np.random.default_rng(levels).integers(0, levels, 60)
    theirs = kendalltau(range(60), means, method="asymptotic").pvalue
    assert _found(block_drift(_means(means))).p == pytest.approx(theirs)


def _means(means: Iterable[object]) -> list[Observation]:
    return [Observation("a", block, 1, float(str(mean))) for block, mean in enumerate(means, start=1)]


def _only(block: int) -> Observation:
    return Observation(cell="a", block=block, position=1, log_value=block / 100)


def _found(trend: Trend | None) -> Trend:
    assert trend is not None
    return trend


def _run(
    seed: int,
    *,
    slope: float = 0.0,
    drift: float = 0.0,
    blocks: int = 5,
    cells: int = 8,
    noise_of_last: float = 0.02,
) -> list[Observation]:
    random = np.random.default_rng(seed)
    observations = []
    for block in range(1, blocks + 1):
        for position, cell in enumerate(random.permutation(cells), start=1):
            noise = noise_of_last if cell == cells - 1 else 0.02
            value = cell / 2 + slope * position + drift * block + random.normal(0, noise)
            observations.append(Observation(str(cell), block, position, value))
    return observations
