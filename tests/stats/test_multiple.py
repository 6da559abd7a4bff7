import numpy as np
import pytest

from diskproof.stats.multiple import holm


def test_holm_gives_the_textbook_values() -> None:
    # As R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_of_one_is_itself_and_of_none_is_none() -> None:
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


def test_holm_never_exceeds_one_and_keeps_the_order() -> None:
    adjusted = holm([0.9, 0.8, 0.5])
    assert adjusted == [1.0, 1.0, 1.0]


def test_holm_keeps_false_claims_at_five_percent_of_runs() -> None:
    random = np.random.default_rng(3)
    runs = 4000
    false_claims = sum(min(holm(list(random.uniform(size=12)))) < 0.05 for _ in range(runs))
    assert 0.03 < false_claims / runs < 0.065
