"""The lengths that a pilot chooses, from made-up trials with a known warm-up and scatter."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from diskproof.analysis.pilot import LENGTHS_S, UNKNOWN_S, choose_lengths, has_settled, settle
from diskproof.results.plan import Pilot
from diskproof.results.trial import Trial
from support.trials import change, make_plan, make_trials

LOAD_S = 10.0


def piloted(*, warm_up_s: float = 0.0, start: float = 0.02, second: float = 0.05, **changed: object) -> Pilot:
    """Return what a pilot of two cells finds: half speed while warm, then this scatter; a start takes 3 s."""
    plan = make_plan(tunings=("safest",), clients=(8,), blocks=3)
    asked = {"precision": 0.03, "left_to_a_pilot": ["warm_up_s", "measure_s"], "at_most_s": 1200.0}
    plan = change(plan, **{**asked, **changed})
    random, trials, series = np.random.default_rng(1), list[Trial](), dict[str, Sequence[float]]()
    for made in make_trials(plan, lambda _: 400.0, spread=0.0):
        trial = change(made, timings__measure_s=LOAD_S, timings__total_s=LOAD_S + 3)
        bins = 20
        rates = 400 * np.exp(random.normal(0, second * math.sqrt(bins / LOAD_S), bins))
        rates[: int(warm_up_s / LOAD_S * bins)] /= 2
        series[trial.id] = (rates * math.exp(random.normal(0, start))).tolist()
        trials.append(trial)
    return choose_lengths(plan, trials, series)


def test_the_warm_up_is_as_long_as_throughput_takes_to_settle() -> None:
    assert piloted().warm_up_s == 1
    assert piloted(warm_up_s=2.5).warm_up_s == pytest.approx(2.5, abs=0.5)
    late = [100.0] * 10 + [150.0] * 6 + [200.0] * 4
    assert settle(late, LOAD_S).settled_s is None
    assert settle([100.0] * 20, LOAD_S).settled_s == 0
    trial = make_trials(make_plan(), lambda _: 400.0)[0]
    assert has_settled([trial], {}) and not has_settled([trial], {trial.id: late})


def test_seconds_that_scatter_more_are_measured_for_longer() -> None:
    quiet, wild = piloted(second=0.01, start=0.03), piloted(second=0.15, start=0.005)
    assert quiet.measure_s == LENGTHS_S[0] < 10 <= wild.measure_s
    assert quiet.blocks is not None and wild.blocks is not None
    assert wild.second == pytest.approx(0.15, rel=0.5)


def test_what_the_study_gives_is_kept() -> None:
    made = piloted(left_to_a_pilot=["warm_up_s"], measure_s=33.0)
    assert made.measure_s == 33 and made.warm_up_s == 1
    assert made.trials == 6 and made.start_s == 3


def test_lengths_fit_into_the_time_and_need_a_rate() -> None:
    assert piloted(second=0.3, at_most_s=150.0).measure_s < piloted(second=0.3).measure_s
    assert piloted(metrics={"complex": "latency_mean_us"}).measure_s == UNKNOWN_S
