"""An article's claims about several pairs of figures: percentages, amounts and orders."""

from typing import Any

import pytest

from diskproof.results.article import Article
from diskproof.results.trial import Severity
from support.articles import (
    claim,
    make_article,
    outcome,
    stated,
    with_procedure,
    with_stated,
)
from support.trials import change


@pytest.mark.parametrize(
    ("kind", "value"),
    [("percent slower", 300), ("percent slower", 75), ("percent faster", 75), ("percent faster", 300)],
)
def test_percentages_of_times_are_read_both_ways(kind: str, value: float) -> None:
    """Four times the time is 300 % longer, or 75 % less speed; a quarter 75 % less, or 300 % more speed."""
    article = with_stated(stated("ssd", figures={"seconds": 10.0}), stated("disk", figures={"seconds": 40.0}))
    pair = ("disk", "ssd") if kind == "percent slower" else ("ssd", "disk")
    said = claim(*pair, kind=kind, value=value, measure="seconds")
    assert outcome("percent-or-ratio", change(article, claims=[said])).state == "passed"


def test_a_right_reading_in_one_pair_makes_roughness_in_the_others_no_slip() -> None:
    """41 s to 21 is 49 % less time; that 20 is also 49 % of 41 is chance."""
    article = with_stated(
        stated("ssd", figures={"seconds": 21.0}),
        stated("cache", figures={"seconds": 20.0}),
        stated("disk", figures={"seconds": 41.0}),
    )
    said = [
        claim(of, "disk", kind="percent faster", value=49, measure="seconds", about=True)
        for of in ("ssd", "cache")
    ]
    assert outcome("percent-or-ratio", change(article, claims=said)).state == "passed"


OTHERS = {"one": 100.0, "two": 100.0, "three": 250.0}
"""Rates beside 400: 75 % less, 75 % less, and 37.5 %."""


def of_others(beside: str = "ssd", **changes: Any) -> Article:
    """Return an article that says the same of three storages, of which the last is another case."""
    rows = [stated(name, figures={"transactions_per_s": rate}) for name, rate in OTHERS.items()]
    return change(with_stated(*rows), claims=[claim(name, beside, **changes) for name in OTHERS])


@pytest.mark.parametrize("about", [True, False])
def test_each_pair_of_a_percentage_is_judged(about: bool) -> None:
    """That one pair fits says nothing of the others; roughness forgives a little, and names what is more."""
    found = outcome("percent-or-ratio", of_others(value=75, about=about))
    (problem,) = found.problems
    assert (found.state, problem.severity) == ("failed", "warning")
    assert "in 1 of 3 pairs: 1 - 250 / 400 = 37.5% less (oltp, three: 250" in problem.message.text


def test_a_pair_that_no_slip_explains_is_named_beside_the_slips() -> None:
    slip, missed = outcome("percent-or-ratio", of_others(value=25)).problems
    assert "the same in 2 of 3 pairs" in slip.message.text
    assert (missed.severity, "37.5% less" in missed.message.text) == ("invalid", True)


@pytest.mark.parametrize(("value", "state"), [(12, "passed"), (13, "failed")])
def test_a_percentage_is_as_exact_as_it_is_told(value: float, state: str) -> None:
    """12.4 % less is told as 12; it is not 13."""
    article = with_stated(stated("disk", figures={"transactions_per_s": 350.4}))
    said = change(article, claims=[claim("disk", "ssd", value=value)])
    assert outcome("percent-or-ratio", said).state == state


def test_the_pairs_that_an_amount_fits_are_named_where_they_are_few() -> None:
    rows = [stated(name, figures={"transactions_per_s": rate}) for name, rate in OTHERS.items()]
    said = [claim("ssd", name, kind="times as fast", value=1.6) for name in OTHERS]
    (problem,) = outcome("stated-amount", change(with_stated(*rows), claims=said)).problems
    assert "it fits 400 / 250 = 1.6 (oltp, ssd: 400; oltp, three: 250" in problem.message.text
    assert "2 are not that: 400 / 100 = 4 (oltp, ssd: 400; oltp, one: 100" in problem.message.text


def test_the_remedy_of_a_difference_speaks_of_differences() -> None:
    said = [claim("ssd", "disk", kind="difference", value=7)]
    (problem,) = outcome("stated-amount", make_article(claims=said)).problems
    assert problem.remedy
    assert "ratio" not in str(problem.remedy)


@pytest.mark.parametrize(("most", "severity"), [(True, "note"), (False, "warning")])
def test_what_is_said_of_most_may_fail_for_some(most: bool, severity: Severity) -> None:
    found = outcome("stated-order", of_others(beside="one", kind="the same", value=None, most=most))
    assert [(one.severity, "in 1 of 3 pairs" in one.message.text) for one in found.problems] == [
        (severity, True)
    ]


def test_what_is_said_of_most_and_fails_for_most_fails() -> None:
    found = outcome("stated-order", of_others(kind="the same", value=None, most=True))
    assert [one.severity for one in found.problems] == ["invalid"]


def test_an_order_of_most_is_not_shown_by_close_pairs() -> None:
    rows = [stated(name, figures={"transactions_per_s": 100.0 + at}) for at, name in enumerate(OTHERS)]
    article = change(with_procedure(spread_told=False), stated=[*with_stated(*rows).stated])
    said = [claim(name, "one", kind="faster", value=None, most=True) for name in OTHERS]
    (problem,) = outcome("order-without-spread", change(article, claims=said)).problems
    assert "that is so in 3 of 3 pairs" in problem.message.text
