"""One trial's time series: where its warm-up ends, and how certain its mean is despite correlation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskproof.stats.distributions import special

MSER_BATCH = 5
"""Bins of a batch."""

KEPT_BATCHES = 2
"""Fewest batches that MSER-5 keeps: the variance of one batch is 0, which would always win."""

FEWEST_BATCHES = 5
"""Fewest batches for a mean: with fewer, Student's t makes any interval useless."""


@dataclass(frozen=True)
class Truncation:
    """Where MSER-5 cuts a series: what comes before it is warm-up."""

    cut_bins: int
    bins: int

    @property
    def steady(self) -> bool:
        """False if the cut lies in the second half: the series never settled."""
        return self.cut_bins <= self.bins / 2


@dataclass(frozen=True)
class BatchMean:
    """The mean of a correlated series, with a half-width (95%) that allows for the correlation."""

    mean: float
    half_width: float
    error: float
    """Standard error of the mean."""
    batch_bins: int


def mser5(values: Sequence[float]) -> Truncation:
    """Return the cut that makes the mean of the rest most certain, in bins.

    Over the means of batches of five bins, the cut d minimises the squared standard error
    ``sum((y - mean)**2) / (k - d)**2`` of the rest. Source: White, Cobb and Spratt, "A comparison
    of five steady-state truncation heuristics for simulation", WSC 2000. Raises ValueError with
    fewer than four batches (20 bins).
    """
    count = len(values) // MSER_BATCH
    if count < 4:
        raise ValueError(f"MSER-5 needs at least {4 * MSER_BATCH} bins, not {len(values)}")
    # Bins that do not fill a batch are left out at the beginning, since the warm-up is there.
    first = len(values) - count * MSER_BATCH
    batches = np.asarray(values[first:], dtype=np.float64).reshape(count, MSER_BATCH).mean(axis=1)
    errors: list[float] = []
    """Of the last batch, of the last two, and so on: Welford, Technometrics 4(3), 1962."""
    mean = squares = 0.0
    for kept, batch in enumerate(reversed(batches.tolist()), start=1):
        off = batch - mean
        mean += off / kept
        squares += off * (batch - mean)
        errors.append(squares / kept**2)
    cut = count - min(range(count, KEPT_BATCHES - 1, -1), key=lambda kept: errors[kept - 1])
    return Truncation(cut_bins=first + cut * MSER_BATCH if cut else 0, bins=len(values))


def lag1_autocorrelation(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the correlation of each value with the next, by the usual moment estimate; 0 if constant.

    Source: Box and Jenkins, "Time Series Analysis", 1970, section 2.1.
    """
    array = np.asarray(values, dtype=np.float64)
    centered = array - array.mean()
    total = float(centered @ centered)
    return float(centered[1:] @ centered[:-1]) / total if total > 0 else 0.0


def batch_mean(values: Sequence[float]) -> BatchMean:
    """Return the mean with a t-interval over batches, which are doubled until they look uncorrelated.

    Batches pass if their lag-1 correlation is below 1.645/sqrt(k), the one-sided 5% point for k independent
    values; at least five are kept. Source: Fishman, "Grouping observations in digital simulation", Management
    Science 24, 1978. Raises ValueError with fewer than two values.
    """
    if len(values) < 2:
        raise ValueError("the mean of a series needs at least two values")
    size, batches = 1, np.asarray(values, dtype=np.float64)
    while (
        lag1_autocorrelation(batches) > 1.645 / math.sqrt(len(batches))
        and len(values) // (size * 2) >= FEWEST_BATCHES
    ):
        size *= 2
        count = len(values) // size
        batches = np.asarray(values[: count * size], dtype=np.float64).reshape(count, size).mean(axis=1)
    error = float(batches.std(ddof=1)) / math.sqrt(len(batches))
    half_width = float(special().stdtrit(len(batches) - 1, 0.975)) * error
    return BatchMean(float(np.mean(values)), half_width, error, size)
