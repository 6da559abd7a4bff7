"""Thresholds: a claim is proved by the whole interval of every verdict, or not at all."""

import pytest
from pydantic import ValidationError

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.thresholds import FailedClaim, failed_thresholds
from diskproof.study.threshold import Threshold
from support.cuts import make_crash_plan
from support.safety import analysed, lossy
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


def test_a_figure_of_each_cell_may_be_claimed(analysis: Analysis) -> None:
    throughputs = [cell.throughput_per_s for cell in analysis.cells]
    least = min(one.low for one in throughputs if one and one.low)
    assert failed_thresholds([Threshold(figure="throughput_per_s", at_least=least)], analysis) == []
    missed = failed_thresholds([Threshold(figure="throughput_per_s", at_least=least * 1.001)], analysis)
    assert [one.found.low for one in missed if one.found] == [least]
    latencies = [cell.latency_us["95"].scaled(1 / 1000) for cell in analysis.cells]
    most = max(one.high for one in latencies if one.high)
    assert failed_thresholds([Threshold(figure="p95_ms", at_most=most)], analysis) == []
    assert failed_thresholds([Threshold(figure="p95_ms", at_most=most * 0.999)], analysis)


def test_a_factor_chooses_the_cells_of_a_claim(analysis: Analysis) -> None:
    chosen = Threshold(figure="mean_ms", factor="storage", level="disk", at_most=0.0001)
    missed = failed_thresholds([chosen], analysis)
    assert [one.cell for one in missed] == [
        cell.cell.id for cell in analysis.cells if cell.cell.storage == "disk"
    ]
    nowhere = chosen.model_copy(update={"level": "tape"})
    assert failed_thresholds([nowhere], analysis) == [FailedClaim(nowhere, None)]


def test_what_was_not_observed_proves_no_claim(analysis: Analysis) -> None:
    [first, *_] = failed_thresholds([Threshold(figure="seconds", at_most=1e9)], analysis)
    assert (first.cell, first.found) == (analysis.cells[0].cell.id, None)
    assert failed_thresholds([Threshold(figure="lost", at_most=1e9)], analysis)[0].cell is None


@pytest.mark.parametrize(
    ("losses", "at_most", "missed"), [((0, 0), 0, []), ((0, 3), 3, []), ((0, 3), 2, [3.0])]
)
def test_lost_transactions_may_be_bounded(losses: tuple[int, ...], at_most: int, missed: list[float]) -> None:
    cut = analysed(make_crash_plan(tunings=("safest",), cuts=2), lossy(*losses))
    found = failed_thresholds([Threshold(figure="lost", at_most=at_most)], cut)
    assert [one.found.estimate for one in found if one.found] == missed


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"figure": "p99_ms"}, "needs `at_least` or `at_most`"),
        ({"figure": "p99_ms", "at_most": 0}, "must be more than 0"),
        ({"figure": "p99_ms", "at_most": 1, "level": "disk"}, "go together"),
        ({"at_most": 1}, "a `ratio` needs `factor`"),
        (
            {"figure": "lost", "at_most": 1, "factor": "storage", "level": "a", "baseline": "b"},
            "leave `baseline`",
        ),
    ],
)
def test_a_claim_that_says_too_little_or_too_much_is_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Threshold.model_validate(fields)
