"""Thresholds: a claim is proved by the whole interval of every verdict, or not at all."""

from dataclasses import replace

import pytest
from pydantic import TypeAdapter, ValidationError

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.thresholds import FailedClaim, failed_thresholds
from diskproof.study.condition import Condition, Threshold, parse_condition
from support.cuts import make_crash_plan
from support.safety import analysed, lossy
from support.trials import make_plan, make_series, make_trials


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    plan = make_plan()
    trials = make_trials(plan)
    return analyse(plan, None, trials, make_series(trials))


def claim(analysis: Analysis, bound: str) -> Condition:
    verdict = analysis.verdicts[0]
    return parse_condition(f"ratio of {verdict.factor} {verdict.level} to {verdict.baseline} {bound}")


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
    kept = [claim(analysis, f">= {low * 0.99}"), claim(analysis, f"<= {high * 1.01}")]
    assert failed_thresholds(kept, analysis) == []


def test_a_claim_within_an_interval_is_not_proved(analysis: Analysis) -> None:
    low, high = bounds(analysis)
    assert failed_thresholds([claim(analysis, f">= {low * 1.01}")], analysis)
    assert failed_thresholds([claim(analysis, f"<= {high * 0.99}")], analysis)


def test_a_comma_groups_thousands_and_is_no_decimal_point() -> None:
    assert parse_condition("throughput >= 12,000.5/s").bound == 12_000.5
    with pytest.raises(ValueError, match="write a condition such as"):
        parse_condition("p99 <= 1,5 ms")


def test_a_claim_about_nothing_is_not_proved(analysis: Analysis) -> None:
    stray = replace(claim(analysis, ">= 0.001"), level="tape")
    assert failed_thresholds([stray], analysis) == [FailedClaim(stray, None)]


def test_a_figure_of_each_cell_may_be_claimed(analysis: Analysis) -> None:
    throughputs = [cell.throughput_per_s for cell in analysis.cells]
    least = min(one.low for one in throughputs if one and one.low)
    assert failed_thresholds([parse_condition(f"throughput >= {least}/s")], analysis) == []
    missed = failed_thresholds([parse_condition(f"throughput >= {least * 1.001}/s")], analysis)
    assert [one.found.low for one in missed if one.found] == [least]
    latencies = [cell.latency_us["95"] for cell in analysis.cells]
    most = max(one.high for one in latencies if one.high)
    assert failed_thresholds([parse_condition(f"p95 <= {most} us")], analysis) == []
    assert failed_thresholds([parse_condition(f"p95 < {most * 0.000999} ms")], analysis)


def test_a_factor_chooses_the_cells_of_a_claim(analysis: Analysis) -> None:
    chosen = parse_condition("mean of storage disk <= 0.1 us")
    missed = failed_thresholds([chosen], analysis)
    assert [one.cell for one in missed] == [
        cell.cell.id for cell in analysis.cells if cell.cell.storage == "disk"
    ]
    nowhere = replace(chosen, level="tape")
    assert failed_thresholds([nowhere], analysis) == [FailedClaim(nowhere, None)]


def test_what_was_not_observed_proves_no_claim(analysis: Analysis) -> None:
    [first, *_] = failed_thresholds([parse_condition("seconds <= 1_000_000")], analysis)
    assert (first.cell, first.found) == (analysis.cells[0].cell.id, None)
    assert failed_thresholds([parse_condition("lost <= 1_000_000")], analysis)[0].cell is None


@pytest.mark.parametrize(
    ("losses", "at_most", "missed"), [((0, 0), 0, []), ((0, 3), 3, []), ((0, 3), 2, [3.0])]
)
def test_lost_transactions_may_be_bounded(losses: tuple[int, ...], at_most: int, missed: list[float]) -> None:
    cut = analysed(make_crash_plan(tunings=("safest",), cuts=2), lossy(*losses))
    found = failed_thresholds([parse_condition(f"lost <= {at_most}")], cut)
    assert [one.found.estimate for one in found if one.found] == missed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p99", "write a condition such as"),
        ("p42 < 3 ms", "not `p42 < 3 ms`; figures: ratio, throughput"),
        ("p99 = 3 ms", "write a condition"),
        ("p99 <= 3", "give `p99` in us or in ms or in s"),
        ("p99 <= 0 ms", "the bound must be more than 0"),
        ("mean of colour red < 1 ms", "`colour` is not one of"),
        ("lost of storage a to b <= 1", "only a `ratio` is of one level to another"),
        ("ratio >= 2", "write `ratio of FACTOR LEVEL to BASELINE`"),
        ({"figure": "p99_ms", "at_most": 1}, "a threshold is a text now"),
    ],
)
def test_a_claim_that_says_too_little_or_too_much_is_refused(text: object, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        TypeAdapter[Condition](Threshold).validate_python(text)
