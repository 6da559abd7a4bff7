"""Shares with exact intervals, against published tables and by how often they cover the truth."""

import numpy as np
import pytest

from diskproof.stats.proportions import same_share_p, share, trials_to_see


@pytest.mark.parametrize(("seen", "n"), [(1, 10), (5, 10), (43, 50), (81, 263)])
def test_the_interval_is_clopper_and_pearsons(seen: int, n: int) -> None:
    from scipy import stats  # noqa: PLC0415 - a second of each worker, which collects all tests

    exact, found = stats.binomtest(seen, n).proportion_ci(0.95, method="exact"), share(seen, n)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    assert found.estimate == seen / n
    assert found.kind == "interval"


def test_the_interval_is_the_one_of_the_tables() -> None:
    found = share(5, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.1871, 0.8129)


@pytest.mark.parametrize("n", [1, 20, 50, 1000])
def test_the_bound_for_no_case_is_exact_and_a_little_below_the_rule_of_three(n: int) -> None:
    none, each = share(0, n), share(n, n)
    assert none.low == 0
    assert (1 - none.high) ** n == pytest.approx(0.05)
    assert none.high < 3 / n
    if n >= 20:
        assert none.high > 2.7 / n
    assert (each.low, each.high) == pytest.approx((1 - none.high, 1.0))
    assert (none.kind, each.kind) == ("at most", "at least")


TRUTHS = np.linspace(0.002, 0.998, 499)


def missed(n: int, *kinds: str) -> float:
    """Return how often, at the worst truth, something of these kinds is said of n trials and is wrong."""
    from scipy import stats  # noqa: PLC0415

    said = [found for seen in range(n + 1) if (found := share(seen, n)).kind in kinds]
    wrong = [
        stats.binom.pmf(found.seen, n, TRUTHS) * ((found.low > TRUTHS) | (found.high < TRUTHS))
        for found in said
    ]
    return float(np.max(np.sum(wrong, axis=0)))


@pytest.mark.parametrize("n", [2, 5, 10, 30, 100])
def test_each_kind_is_wrong_at_most_as_often_as_it_says_and_both_in_the_sum(
    n: int,
) -> None:
    assert missed(n, "at most") <= 0.05
    assert missed(n, "at least") <= 0.05
    assert missed(n, "interval") <= 0.05
    assert missed(n, "at most", "at least", "interval") <= 0.075


def test_interval_and_bound_together_have_less_than_95_percent() -> None:
    assert 0.05 < missed(10, "at most", "at least", "interval") <= 0.075


@pytest.mark.parametrize(("seen", "n"), [(0, 0), (3, 2), (-1, 5)])
def test_what_is_no_share_is_refused(seen: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"{seen} of {n}"):
        share(seen, n)


@pytest.mark.parametrize(("wanted", "trials"), [(0.05, 59), (0.01, 299), (0.5, 5)])
def test_so_many_trials_show_one_case(wanted: float, trials: int) -> None:
    assert trials_to_see(wanted) == trials
    assert share(0, trials).high <= wanted < share(0, trials - 1).high


@pytest.mark.parametrize("wanted", [0.0, 1.0, -0.1])
def test_a_share_that_no_trials_can_show_is_refused(wanted: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        trials_to_see(wanted)


def test_two_shares_are_compared_by_fishers_exact_test() -> None:
    assert same_share_p(3, 4, 1, 4) == pytest.approx(0.4857, abs=1e-4)  # the lady tasting tea, two-sided
    assert same_share_p(0, 50, 10, 50) < 0.01 < same_share_p(0, 5, 1, 5)
