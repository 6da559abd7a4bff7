"""What a run says of its scatter, and the advice that follows, from made-up trials with a series each."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from support.trials import change, make_machine, make_plan, make_trials


def analysed(start: float, second: float, *, blocks: int = 10, ratio: float = 1.05) -> Analysis:
    """Return a run of two cells with this scatter between starts, and of one second within a trial."""
    plan = make_plan(tunings=("safest",), clients=(8,), blocks=blocks)
    random, trials, series = np.random.default_rng(6), [], dict[str, Sequence[float]]()
    speeds = {"dram": 400.0, "disk": 400.0 * ratio}
    for made in make_trials(plan, lambda cell: speeds[cell.storage], spread=0.0):
        trial = change(made, timings__measure_s=2.0, timings__total_s=9.0)
        assert trial.load is not None
        factor = math.exp(random.normal(0, start))
        rates = 100 * np.exp(random.normal(0, second * math.sqrt(20 / 2), 20))
        series[trial.id] = rates.tolist()
        speed = trial.load.transactions_per_s * factor * rates.mean() / 100
        trials.append(change(trial, load__transactions_per_s=speed))
    return analyse(plan, make_machine(), trials, series)


def test_scatter_is_told_by_level() -> None:
    scatter = analysed(0.05, 0.05, blocks=40).scatter
    assert scatter is not None and scatter.within is not None
    assert scatter.start == pytest.approx(0.05, rel=0.35)
    assert scatter.within == pytest.approx(0.05 / math.sqrt(scatter.measure_s), rel=0.25)
    assert scatter.block < 0.03


def test_scatter_within_trials_asks_for_longer_ones() -> None:
    (verdict,) = analysed(0.0, 0.2).verdicts
    assert verdict.outcome == "inconclusive" and verdict.advice is not None
    said = verdict.reasons[1].text
    assert f"`measure_s = {verdict.advice.measure_s:g}` and `blocks = {verdict.advice.blocks}`" in said
    assert said.endswith("of the scatter arises within trials")


def test_scatter_between_starts_asks_for_more_blocks() -> None:
    (verdict,) = analysed(0.1, 0.01).verdicts
    assert verdict.outcome == "inconclusive" and verdict.advice is None and verdict.blocks_needed is not None
    assert "more blocks would probably decide it: `blocks = " in verdict.reasons[1].text


def test_nobody_waits_for_days() -> None:
    (verdict,) = analysed(0.3, 0.3, ratio=1.0).verdicts
    assert verdict.outcome == "inconclusive" and verdict.advice is None and verdict.blocks_needed is None
    assert "hardly decide it" in verdict.reasons[1].text
