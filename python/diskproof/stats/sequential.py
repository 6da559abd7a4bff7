"""Ratios that stay valid however often one looks, for runs that end as soon as they are sure.

A fixed interval is right once. Looked at after each block, until it excludes 1, it would exclude 1 sooner or
later by chance. Here the odds for a difference (a Bayes factor) are looked at instead. If there is no
difference, they ever reach 20 to 1 in at most 5% of runs (Ville's inequality), so one may look at will.

The odds are those of the t-statistic, with a normal prior on the effect in units of its scatter and the right
Haar prior on the scatter. Sources: Hendriksen, de Heide and Gruenwald, "Optional stopping with Bayes
factors", Bayesian Analysis 16(3), 2021; Wang and Ramdas, "Anytime-valid t-tests and confidence sequences for
Gaussian means with unknown variance", Sequential Analysis 44(1), 2025.
"""

import math
from collections.abc import Sequence

from diskproof.stats.intervals import CONFIDENCE, Interval, RatioTest, log_ratios

PRIOR_VARIANCE = 3.0
"""Variance of the effect before the first block, in squares of a block's scatter. Effects of one to two times
the scatter of a block are found soonest: smaller ones need many blocks anyway. It does not touch validity."""


def anytime_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> RatioTest:
    """Return the ratio of two positive quantities from pairs, in the order in which these were observed.

    Interval and p are the narrowest and the least that any look so far gave, which are valid too: what was
    decided once stays decided. The interval holds the ratio, and has no ends while there are too few pairs.
    """
    differences = log_ratios(numerators, denominators)
    ends: list[tuple[float, float]] = []
    p = 1.0
    center, deviation = float(differences[0]), None
    for n in range(2, len(differences) + 1):
        center, deviation = float(differences[:n].mean()), float(differences[:n].std(ddof=1))
        error = deviation / math.sqrt(n)
        t = t_at_any_time(n)
        if math.isinf(t):
            continue  # two or three equal ratios, of coarse figures, prove nothing
        ends.append((center - t * error, center + t * error))
        p = min(p, _p(center / error, n) if error > 0 else float(center == 0))
    low, high = max((low for low, _ in ends), default=None), min((high for _, high in ends), default=None)
    if low is not None and high is not None:
        if low > high:  # at most in one of 20 runs
            low, high = ends[-1]
        low, high = min(low, center), max(high, center)  # after a wild block the ratio may lie beside it
    interval = Interval(
        estimate=math.exp(center),
        low=None if low is None else math.exp(low),
        high=None if high is None else math.exp(high),
        n=len(differences),
    )
    return RatioTest(interval=interval, p=None if deviation is None else p, log_deviation=deviation)


def t_at_any_time(n: int, significance: float = 1 - CONFIDENCE) -> float:
    """Return the t that n values may exceed at any look with this probability; infinite for the first few."""
    shrunk = 1 / (1 + n * PRIOR_VARIANCE)
    odds = (1 / (significance * math.sqrt(shrunk))) ** (2 / n)
    return math.sqrt((n - 1) * (odds - 1) / (1 - odds * shrunk)) if odds * shrunk < 1 else math.inf


def _p(t: float, n: int) -> float:
    """Return the inverse of the odds for a difference, at most 1."""
    shrunk = 1 / (1 + n * PRIOR_VARIANCE)
    x = t * t / (n - 1)
    log_odds = (math.log(shrunk) + n * (math.log1p(x) - math.log1p(shrunk * x))) / 2
    return math.exp(-max(0.0, log_odds))


def blocks_needed_at_any_time(
    ratio: float, log_deviation: float, same_within: float, comparisons: int, most: int = 1000
) -> int | None:
    """Return how many blocks will probably decide a ratio, with the scatter so far; None: not with `most`.

    As `blocks_needed`, with this module's intervals, and without its allowance for bad luck: a run that goes
    on until it is decided needs none.
    """
    center = abs(math.log(ratio))
    for n in range(3, most + 1):
        error = log_deviation / math.sqrt(n)
        half = t_at_any_time(n) * error
        strict = t_at_any_time(n, (1 - CONFIDENCE) / max(1, comparisons)) * error
        if center > strict or (
            center + half < -math.log1p(-same_within) and center + half < math.log1p(same_within)
        ):
            return n
    return None


def blocks_for_precision(log_deviation: float, precision: float, most: int = 1000) -> int | None:
    """Return how many blocks will probably bring an interval within this share of its ratio.

    None: more than `most`.
    """
    half = math.log1p(precision)
    fits = (n for n in range(4, most + 1) if t_at_any_time(n) * log_deviation / math.sqrt(n) <= half)
    return next(fits, None)
