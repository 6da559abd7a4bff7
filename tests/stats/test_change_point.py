"""Where a series changes: e-divisive's statistic, and how often it is right."""

import numpy as np
import pytest

from diskproof.stats.change_point import change_point, energy


def runs(before: int, after: int, change: float, seed: int, scatter: float = 0.01) -> list[list[float]]:
    random = np.random.default_rng(seed)
    shifts = [0.0] * before + [change] * after
    return [list(random.normal(shift + random.normal(0, scatter / 2), scatter, 5)) for shift in shifts]


def test_the_energy_is_that_of_the_paper() -> None:
    one, other = np.array([0.0, 2.0]), np.array([1.0, 4.0, 5.0])
    between = 2 * np.mean([1, 4, 5, 1, 2, 3])
    within = 2.0 + (3 + 4 + 1) / 3
    assert energy(one, other) == pytest.approx(2 * 3 / 5 * (between - within))
    assert energy(np.array([1.0]), np.array([4.0])) == pytest.approx(0.5 * 6)


@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_change_of_five_percent_is_found_where_it_is(at: int) -> None:
    found = [change_point(runs(at, 6 - at, -0.05, seed), 1) for seed in range(20)]
    assert sum(one is not None and one[0] == at for one in found) >= 19


def test_three_percent_are_found_in_a_long_series() -> None:
    found = [change_point(runs(6, 6, -0.03, seed), 1) for seed in range(20)]
    assert sum(one is not None and one[0] == 6 and one[1] <= 0.02 for one in found) >= 19


def test_without_a_change_chance_explains_most_of_it() -> None:
    ps = [one[1] for seed in range(40) if (one := change_point(runs(10, 0, 0.0, seed), 1))]
    assert sum(p <= 0.05 for p in ps) <= 6


def test_a_change_is_looked_for_where_it_may_be() -> None:
    series = runs(4, 8, -0.05, 1)
    assert change_point(series, 1) == (4, 1 / 200)
    assert [found[0] for places in ([6], [2, 9], [5, 11]) if (found := change_point(series, 1, places))] == [
        6,
        2,
        5,
    ]


def test_one_run_has_no_change() -> None:
    assert change_point([[1.0, 2.0]], 1) is None
    assert change_point([[1.0], [2.0]], 1) == (1, 1.0)
