import pytest

from diskproof.stats.quantiles import known_percentiles, observations_for


@pytest.mark.parametrize(
    ("percentile", "needed"), [(50, 20), (90, 100), (95, 200), (99, 1000), (99.9, 10_000)]
)
def test_ten_observations_must_lie_in_the_tail(percentile: float, needed: int) -> None:
    assert observations_for(percentile) == needed
    assert known_percentiles(needed, [str(percentile)]) == [str(percentile)]
    assert known_percentiles(needed - 1, [str(percentile)]) == []


def test_only_percentiles_that_are_known_are_kept_in_their_order() -> None:
    assert known_percentiles(999, ["50", "95", "99", "99.9"]) == ["50", "95"]
    assert known_percentiles(0, ["50"]) == []
