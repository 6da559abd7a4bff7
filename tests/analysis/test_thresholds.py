"""Thresholds: a claim is proved by the whole interval of every verdict, or not at all."""

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.thresholds import FailedClaim, failed_thresholds
from diskproof.study.model import Threshold
from support.trials import make_plan, make_series, make_trials


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    plan = make_plan()
    trials = make_trials(plan)
    return analyse(plan, None, trials, make_series(trials))


def claim(analysis: Analysis, **limits: float) -> Threshold:
    verdict = analysis.verdicts[0]
    return Threshold(
        factor=verdict.factor,
        level=verdict.level,
        baseline=verdict.baseline,
        at_least=limits.get("at_least"),
        at_most=limits.get("at_most"),
    )


def bounds(analysis: Analysis) -> tuple[float, float]:
    """Return the lowest and the highest bound of all verdicts that the claim is about."""
    first = analysis.verdicts[0]
    ratios = [
        verdict.ratio
        for verdict in analysis.verdicts
        if (verdict.factor, verdict.level, verdict.baseline) == (first.factor, first.level, first.baseline)
    ]
    return (
        min(ratio.low for ratio in ratios if ratio and ratio.low),
        max(ratio.high for ratio in ratios if ratio and ratio.high),
    )


def test_a_claim_that_every_interval_keeps_is_proved(analysis: Analysis) -> None:
    low, high = bounds(analysis)
    kept = claim(analysis, at_least=low * 0.99, at_most=high * 1.01)
    assert failed_thresholds([kept], analysis) == []


def test_a_claim_within_an_interval_is_not_proved(analysis: Analysis) -> None:
    low, high = bounds(analysis)
    assert failed_thresholds([claim(analysis, at_least=low * 1.01)], analysis)
    assert failed_thresholds([claim(analysis, at_most=high * 0.99)], analysis)


def test_a_claim_about_nothing_is_not_proved(analysis: Analysis) -> None:
    stray = claim(analysis, at_least=0.001).model_copy(update={"level": "tape"})
    assert failed_thresholds([stray], analysis) == [FailedClaim(stray, None)]
