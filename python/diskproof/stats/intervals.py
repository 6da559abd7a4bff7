"""Confidence intervals for rates and for ratios of rates, all on logarithms.

Rates are positive and their scatter is relative: a machine that is 2% slower is so at 100 and at 100,000
transactions a second. On logarithms such scatter is additive and nearly normal, a ratio is a difference, and
``a/b`` and ``b/a`` give the same verdict (Fleming and Wallace, "How not to lie with statistics", CACM 29(3),
1986, for the geometric mean).
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from diskproof.stats.distributions import special

CONFIDENCE = 0.95

POWER = 0.8
"""The share of runs in which the number of blocks asked for should decide: four of five."""


class Interval(BaseModel):
    """An estimate with its confidence interval. With one observation ``low`` and ``high`` are None."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    estimate: float
    low: float | None
    high: float | None
    n: int
    """Independent observations (blocks) behind it."""
    confidence: float = CONFIDENCE

    def excludes(self, value: float) -> bool:
        """Return whether there is an interval and `value` lies outside it."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high

    def within(self, low: float, high: float) -> bool:
        """Return whether there is an interval and all of it lies from `low` to `high`."""
        return self.low is not None and self.high is not None and low <= self.low and self.high <= high

    def excludes_all(self, low: float, high: float) -> bool:
        """Return whether there is an interval and none of it lies from `low` to `high`."""
        return self.low is not None and self.high is not None and (self.high < low or self.low > high)

    def scaled(self, factor: float) -> "Interval":
        """Return the interval of the quantity times a known factor above 0, such as another unit."""
        ends = {end: getattr(self, end) for end in ("estimate", "low", "high")}
        scaled = {end: None if value is None else value * factor for end, value in ends.items()}
        return self.model_copy(update=scaled)

    def over(self, other: "Interval") -> "Interval":
        """Return the ratio of two positive quantities that were observed independently.

        Half widths of their logarithms add in squares, as errors do; both have the same confidence.
        """
        ratio, errors = self.estimate / other.estimate, (self.uncertainty, other.uncertainty)
        n = min(self.n, other.n)
        if None in errors:
            return Interval(estimate=ratio, low=None, high=None, n=n)
        return _from_logs(math.log(ratio), math.hypot(*(math.log1p(one or 0.0) for one in errors)), n)

    @property
    def uncertainty(self) -> float | None:
        """How far the true value may be off, relatively: 0.04 is "4% more or less", 1 is "twice or half"."""
        if self.low is None or self.high is None or self.low <= 0:
            return None
        return math.sqrt(self.high / self.low) - 1


class RatioTest(BaseModel):
    """A ratio with its interval, the p of "the ratio is 1", and the scatter that both rest on."""

    model_config = ConfigDict(frozen=True)

    interval: Interval
    p: float | None
    """Two-sided; None with too few observations for a test."""
    log_deviation: float | None
    """Standard deviation of one log ratio (one block's, or one pair of independent observations)."""


def geometric_mean_interval(values: Sequence[float]) -> Interval:
    """Return the geometric mean of positive values with Student's t-interval on their logarithms.

    Source: Student, "The probable error of a mean", Biometrika 6, 1908. Raises ValueError for no values, or
    if one is not above 0.
    """
    logs = _logs(values)
    center = float(logs.mean())
    if len(logs) == 1:
        return Interval(estimate=math.exp(center), low=None, high=None, n=1)
    half = _quantile(len(logs) - 1) * float(logs.std(ddof=1)) / math.sqrt(len(logs))
    return _from_logs(center, half, len(logs))


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean of values of any sign with Student's t-interval (Student 1908).

    Raises ValueError for no values.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        raise ValueError("values are needed")
    center = float(array.mean())
    if array.size == 1:
        return Interval(estimate=center, low=None, high=None, n=1)
    half = _quantile(array.size - 1) * float(array.std(ddof=1)) / math.sqrt(array.size)
    return Interval(estimate=center, low=center - half, high=center + half, n=array.size)


def paired_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> RatioTest:
    """Return the ratio of two positive quantities that were observed in pairs (blocks).

    The effect of a block on both sides cancels in its log ratio. The interval and the p are those of the
    paired t-test on the log ratios (Student 1908; Fisher, "The Design of Experiments", 1935, ch. 3).
    """
    differences = log_ratios(numerators, denominators)
    n, center = len(differences), float(differences.mean())
    if n == 1:
        interval = Interval(estimate=math.exp(center), low=None, high=None, n=1)
        return RatioTest(interval=interval, p=None, log_deviation=None)
    deviation = float(differences.std(ddof=1))
    return _t_test(center, deviation / math.sqrt(n), n - 1, n, deviation)


def log_ratios(numerators: Sequence[float], denominators: Sequence[float]) -> NDArray[np.float64]:
    """Return the logarithm of each pair's ratio. ValueError for other than pairs of positive values."""
    if len(numerators) != len(denominators):
        raise ValueError(f"pairs are needed: {len(numerators)} values against {len(denominators)}")
    return _logs(numerators) - _logs(denominators)


def independent_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> RatioTest:
    """Return the ratio of two positive quantities that were observed independently, in two runs.

    Welch's t-interval on the logarithms: the two sides may scatter differently (Welch, "The
    generalization of 'Student's' problem", Biometrika 34, 1947). ``n`` is the smaller side's.
    """
    above, below = _logs(numerators), _logs(denominators)
    n, center = min(len(above), len(below)), float(above.mean() - below.mean())
    if n == 1:
        interval = Interval(estimate=math.exp(center), low=None, high=None, n=1)
        return RatioTest(interval=interval, p=None, log_deviation=None)
    squared = [float(side.var(ddof=1)) / len(side) for side in (above, below)]
    total = sum(squared)
    freedom = float(len(above) + len(below) - 2)
    if total > 0:
        freedom = total**2 / sum(
            s**2 / (len(side) - 1) for s, side in zip(squared, (above, below), strict=True)
        )
    deviation = math.sqrt(float(above.var(ddof=1)) + float(below.var(ddof=1)))
    return _t_test(center, math.sqrt(total), freedom, n, deviation)


def over_conditions(ratios: Sequence[Interval]) -> Interval:
    """Return one interval for ratios under several conditions: their mean, the lowest end and the highest."""
    return Interval(
        estimate=math.exp(sum(math.log(one.estimate) for one in ratios) / len(ratios)),
        low=min((one.low for one in ratios if one.low is not None), default=None),
        high=max((one.high for one in ratios if one.high is not None), default=None),
        n=min(one.n for one in ratios),
    )


def blocks_needed(
    ratio: float, log_deviation: float, same_within: float, comparisons: int, most: int = 1000
) -> int | None:
    """Return how many blocks would decide a ratio in four of five runs, with the scatter seen so far.

    A ratio is decided if the interval lies within ``1 +- same_within``, or if it excludes 1 even at the level
    ``0.05 / comparisons`` of Holm's first step. None: not with `most` blocks. This is the usual sample size
    of a t-test, ``(t + z)**2 s**2 / d**2`` (Cochran and Cox, "Experimental Designs", 1957, section 2.2),
    searched upwards because t depends on n.
    """
    center, n = math.log(ratio), np.arange(3, most + 1)
    error = log_deviation / np.sqrt(n)
    luck = NormalDist().inv_cdf(POWER) * error
    t = special().stdtrit
    half = t(n - 1, (1 + CONFIDENCE) / 2) * error + luck
    same = (math.log1p(-same_within) <= center - half) & (center + half <= math.log1p(same_within))
    strict = t(n - 1, 1 - (1 - CONFIDENCE) / 2 / max(1, comparisons)) * error + luck
    decided = n[same | (abs(center) > strict)]
    return int(decided[0]) if decided.size else None


def _t_test(center: float, error: float, freedom: float, n: int, deviation: float) -> RatioTest:
    # Without any scatter (made-up data, coarse figures) t is infinite, or 0 if there is no difference.
    t = abs(center) / error if error > 0 else (math.inf if center else 0.0)
    p = 2 * float(special().stdtr(freedom, -t))
    interval = _from_logs(center, _quantile(freedom) * error, n)
    return RatioTest(interval=interval, p=p, log_deviation=deviation)


def _from_logs(center: float, half: float, n: int) -> Interval:
    return Interval(estimate=math.exp(center), low=_exp(center - half), high=_exp(center + half), n=n)


def _exp(value: float) -> float:
    """Return e**value within what a float and JSON can hold: two wild blocks give a huge interval."""
    return math.exp(max(-700.0, min(700.0, value)))


def _quantile(freedom: float) -> float:
    return float(special().stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _logs(values: Sequence[float]) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0 or not np.all(np.isfinite(array)) or array.min() <= 0:
        raise ValueError(f"positive values are needed, not {list(values)}")
    return np.log(array)
