"""The one-way F test: a known value, and the level that it keeps."""

import numpy as np
import pytest

from diskproof.stats.variance import same_mean

# R's data set PlantGrowth (Dobson 1983): dried weights of plants under three conditions.
CONTROL = [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14]
FIRST = [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69]
SECOND = [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26]


def test_it_gives_the_textbook_value() -> None:
    # As R's summary(aov(weight ~ group, PlantGrowth)).
    assert same_mean([CONTROL, FIRST, SECOND]) == pytest.approx(0.01591, abs=5e-6)


def test_it_finds_a_difference_in_five_of_a_hundred_equal_groups() -> None:
    random = np.random.default_rng(5)
    runs = 2000
    found = sum(same_mean([random.normal(size=n).tolist() for n in (4, 3, 3)]) < 0.05 for _ in range(runs))
    assert 0.035 < found / runs < 0.065


def test_values_without_scatter_differ_or_do_not() -> None:
    assert same_mean([[1.0, 1.0], [2.0]]) == 0.0
    assert same_mean([[1.0, 1.0], [1.0]]) == 1.0


@pytest.mark.parametrize("groups", [[], [[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 2.0, 3.0], []]])
def test_too_few_values_are_refused(groups: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="two groups"):
        same_mean(groups)
