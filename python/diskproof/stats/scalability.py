"""The Universal Scalability Law, fitted to the throughput of several numbers of clients.

X(N) = l N / (1 + s (N - 1) + k N (N - 1)): l is the throughput of one client alone, s the contention (serial
work, as in Amdahl's law), k the coherency (work that each client must agree on with every other).
Gunther, "Guerrilla Capacity Planning", 2007, chapters 4 to 6.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskproof.stats.intervals import CONFIDENCE, Interval

FEWEST_COUNTS = 4
"""Numbers of clients: one more than parameters, or else the curve meets every point."""

RESAMPLES = 1000
"""Enough for the ends of a 95% interval: 25 resamples lie beyond each."""

PARAMETERS = 3

ROUNDING = 1e-12


@dataclass(frozen=True)
class ScalabilityFit:
    """The law's parameters with their intervals."""

    per_client: Interval
    contention: Interval
    coherency: Interval
    residual: float
    """Root mean square of (measured - fitted) / measured."""

    @property
    def peak_clients(self) -> float | None:
        """The clients with the highest throughput: sqrt((1 - s) / k); None if it only grows."""
        contention, coherency = self.contention.estimate, self.coherency.estimate
        if coherency <= 0 or contention >= 1:
            return None
        return max(math.sqrt((1 - contention) / coherency), 1.0)


def fit_scalability(clients: Sequence[int], throughputs: Sequence[float]) -> ScalabilityFit:
    """Fit the law to points, several of which may have the same number of clients.

    N / X is linear in 1/l, s/l and k/l, so the least squares of relative errors have one solution with none
    of them below 0 (Lawson and Hanson, "Solving Least Squares Problems", 1974: NNLS), without starting
    values. Intervals are percentiles of a residual bootstrap with a fixed seed (Efron and Tibshirani, "An
    Introduction to the Bootstrap", 1993, section 9.4), with residuals enlarged by sqrt(n / (n-3)) for the
    fitted parameters. The covariance at the optimum would be wrong, since a parameter often lies on its bound
    of 0. Raises ValueError with fewer than four different numbers of clients, or if a value is not above 0.
    """
    counts, measured = np.asarray(clients, dtype=np.float64), np.asarray(throughputs, dtype=np.float64)
    if counts.shape != measured.shape:
        raise ValueError(
            f"{len(clients)} numbers of clients and {len(throughputs)} throughputs are no points"
        )
    if len(set(clients)) < FEWEST_COUNTS:
        raise ValueError(
            f"the law needs {FEWEST_COUNTS} different numbers of clients, not {len(set(clients))}"
        )
    if not (np.all(np.isfinite(measured)) and measured.min() > 0 and counts.min() >= 1):
        raise ValueError("clients from 1 on and throughputs above 0 are needed")
    fitted = _fit(counts, measured)
    if fitted is None:
        raise ValueError("the law does not fit: a client alone would do nothing")
    predicted = law(counts, *fitted)
    errors = (measured - predicted) / measured
    drawn = _bootstrap(counts, predicted, measured, fitted)
    per_client, contention, coherency = (
        _interval(estimate, drawn[:, index], len(measured)) for index, estimate in enumerate(fitted)
    )
    return ScalabilityFit(per_client, contention, coherency, residual=float(np.sqrt(np.mean(errors**2))))


Parameters = tuple[float, float, float]


def _fit(counts: NDArray[np.float64], measured: NDArray[np.float64]) -> Parameters | None:
    from scipy import optimize  # noqa: PLC0415 - it takes long to load, and most commands need none of it

    ideal = counts / measured
    design = np.column_stack([np.ones_like(counts), counts - 1, counts * (counts - 1)])
    # Divided by what was measured, an error is relative; columns of similar size keep the solution exact.
    weighted = design / ideal[:, None]
    scale = np.linalg.norm(weighted, axis=0)
    solution, _ = optimize.nnls(weighted / scale, np.ones_like(counts))
    alone, contended, agreed = (float(value) for value in solution / scale)
    if alone <= 0:
        return None
    # A rounding error instead of 0 would put the peak at a billion clients.
    contention, coherency = contended / alone, agreed / alone
    return 1 / alone, contention * (contention > ROUNDING), coherency * (coherency > ROUNDING)


def _bootstrap(
    counts: NDArray[np.float64],
    predicted: NDArray[np.float64],
    measured: NDArray[np.float64],
    fitted: Parameters,
) -> NDArray[np.float64]:
    random, n = np.random.default_rng(1), len(counts)
    logs = np.log(measured / predicted)
    residuals = (logs - logs.mean()) * math.sqrt(n / max(n - PARAMETERS, 1))
    drawn = [
        _fit(counts, predicted * np.exp(random.choice(residuals, n, replace=True))) for _ in range(RESAMPLES)
    ]
    return np.array([one for one in drawn if one is not None] or [fitted])


def _interval(estimate: float, drawn: NDArray[np.float64], n: int) -> Interval:
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(estimate=estimate, low=min(float(low), estimate), high=max(float(high), estimate), n=n)


def law(
    clients: NDArray[np.float64], per_client: float, contention: float, coherency: float
) -> NDArray[np.float64]:
    """Return the throughputs of these numbers of clients."""
    return per_client * clients / (1 + contention * (clients - 1) + coherency * clients * (clients - 1))
