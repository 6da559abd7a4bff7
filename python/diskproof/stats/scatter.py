"""The sources of a run's scatter, and the best length of a trial.

The logarithm of a trial's speed is modelled as cell + block + start + seconds. A block moves all cells
alike, and cancels in their ratios. A start of the server (what remains of a trial after cell and block) stays
for the whole trial. Within a trial, the seconds scatter: a mean over T seconds has the variance `second` / T.

This is the nested model of Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, on
logarithms and with blocks (Fisher, "The Design of Experiments", 1935, chapter 4).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskproof.stats.series import batch_mean

MOST_COSTS = 10.0
"""A measurement that is so many times as long as a start costs: a longer one could spare a tenth at most."""

SHORTEST_S, LONGEST_S = 1.0, 600.0
"""Limits of the measurements that are proposed."""


@dataclass(frozen=True)
class Observed:
    """One trial: how fast it was, and how its seconds scattered."""

    cell: str
    block: int
    speed: float
    measure_s: float
    start_s: float
    """Seconds besides the measured ones: restore, start, warm-up, stop."""
    second: float | None
    """Variance of the relative mean of one second; None: no series, or its seconds are no rate."""


@dataclass(frozen=True)
class Scatter:
    """The scatter of trials by level, as variances of log speeds: 0.0004 is a scatter of 2%."""

    block: float
    """Between blocks, shared by their cells: ratios do not have it."""
    start: float
    """Between starts of the server."""
    second: float | None
    """Within a trial, of the mean of one second; None: not known, and then part of `start`."""
    measure_s: float
    """Length of a measurement."""
    start_s: float
    """What a trial costs besides."""

    @property
    def within(self) -> float:
        """Variance of a trial's mean that its own seconds explain."""
        return (self.second or 0.0) / self.measure_s

    def trial(self, measure_s: float) -> float:
        """Return the variance of a trial of this length, without its block."""
        return self.start + (self.second or 0.0) / measure_s

    def best_measure_s(self) -> float | None:
        """Return the length of a measurement that makes the mean most certain for its time.

        With n trials the variance is (start + second / T) / n, and the time n (start_s + T). Their product
        is least at T = sqrt(start_s second / start): Kalibera and Jones 2013 for two levels; Cochran,
        "Sampling Techniques", 1977, section 10.6. None: the scatter within a trial is not known.
        """
        if self.second is None:
            return None
        most_s = min(MOST_COSTS * self.start_s, LONGEST_S)
        best_s = math.sqrt(self.start_s * self.second / self.start) if self.start > 0 else math.inf
        return max(min(best_s, most_s), SHORTEST_S)


def scatter_of(trials: Sequence[Observed]) -> Scatter | None:
    """Return the scatter by level; None with too few trials for any.

    Cells may be missing in blocks. The residual of cell and block effects is start and seconds; what blocks
    explain beyond cells has the expectation (N - cells) block + (rank - cells) residual (Henderson's method
    3, "Estimation of variance and covariance components", Biometrics 9, 1953). A variance below 0 is 0.
    """
    cells = {cell: at for at, cell in enumerate(dict.fromkeys(one.cell for one in trials))}
    blocks = {block: at for at, block in enumerate(dict.fromkeys(one.block for one in trials))}
    if not trials or len(blocks) < 2:
        return None
    logs = np.log([one.speed for one in trials])
    of_cells, of_blocks = np.zeros((len(trials), len(cells))), np.zeros((len(trials), len(blocks)))
    for row, one in enumerate(trials):
        of_cells[row, cells[one.cell]] = of_blocks[row, blocks[one.block]] = 1.0
    squares, _ = _residual(of_cells, logs)
    left, rank = _residual(np.hstack([of_cells, of_blocks]), logs)
    freedom = len(trials) - rank
    if freedom < 1:
        return None
    residual = left / freedom
    block = max((squares - left - (rank - len(cells)) * residual) / (len(trials) - len(cells)), 0.0)
    return _scatter(trials, block, residual)


def of_pair(trials: Mapping[str, Sequence[Observed]], log_deviation: float) -> Scatter | None:
    """Return the scatter of two cells, from that of their log ratio; blocks cancel in it.

    Each side is taken to have half of the ratio's variance. None without trials.
    """
    every = [one for side in trials.values() for one in side]
    if not every:
        return None
    return _scatter(every, 0.0, log_deviation**2 / 2)


def _scatter(trials: Sequence[Observed], block: float, trial: float) -> Scatter:
    """Divide the variance of a `trial`, without its block, into that of starts and of seconds."""
    seconds = [one.second for one in trials if one.second is not None]
    within = float(np.mean([(one.second or 0.0) / one.measure_s for one in trials]))
    return Scatter(
        block=block,
        start=max(trial - within, 0.0),
        second=float(np.mean(seconds)) if len(seconds) == len(trials) else None,
        measure_s=float(np.mean([one.measure_s for one in trials])),
        start_s=float(np.mean([one.start_s for one in trials])),
    )


def second_variance(throughputs_per_s: Sequence[float], measure_s: float) -> float | None:
    """Return the variance of the relative mean of one second of a trial; None if the series is too short.

    The squared standard error of batch means, times the seconds behind it: it allows for autocorrelation.
    """
    if len(throughputs_per_s) < 2 or min(throughputs_per_s) < 0 or not sum(throughputs_per_s):
        return None
    found = batch_mean(throughputs_per_s)
    return (found.error / found.mean) ** 2 * measure_s


def _residual(design: NDArray[np.float64], logs: NDArray[np.float64]) -> tuple[float, int]:
    """Return the squares that a least-squares fit leaves, and the rank of its design."""
    fitted, _, rank, _ = np.linalg.lstsq(design, logs, rcond=None)
    left = logs - design @ fitted
    return float(left @ left), int(rank)
