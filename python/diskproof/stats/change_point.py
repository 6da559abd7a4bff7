"""Where a series of samples changes: the split at which both sides differ most."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

SHUFFLES = 199


def energy(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """Return the scaled energy distance of two samples; 0 if they are distributed alike.

    Source: Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate
    data", JASA 109, 2014, equation 5 with alpha 1: the statistic of e-divisive, as Apache Otava takes it.
    """
    n, m = len(before), len(after)
    between = float(np.abs(before[:, None] - after[None, :]).mean())
    within = sum(
        float(np.abs(one[:, None] - one[None, :]).sum()) / (len(one) * (len(one) - 1))
        for one in (before, after)
        if len(one) > 1
    )
    return n * m / (n + m) * (2 * between - within)


def change_point(
    samples: Sequence[Sequence[float]], seed: int, places: Collection[int] = ()
) -> tuple[int, float] | None:
    """Return the first sample after the likeliest change, and how often shuffled samples show one as large.

    A sample is a run's values, and is shuffled as a whole: runs differ more than the trials of one. `places`
    are the samples that may be the first; empty: all but the first one. None with fewer than two samples.
    """
    arrays = [np.asarray(one, dtype=np.float64) for one in samples]
    if len(arrays) < 2:
        return None
    splits = sorted(places) or range(1, len(arrays))
    at, found = _largest(arrays, splits)
    random = np.random.default_rng(seed)
    shuffled = ([arrays[place] for place in random.permutation(len(arrays))] for _ in range(SHUFFLES))
    as_large = sum(_largest(one, splits)[1] >= found for one in shuffled)
    return at, (1 + as_large) / (1 + SHUFFLES)


def _largest(arrays: Sequence[NDArray[np.float64]], splits: Sequence[int]) -> tuple[int, float]:
    sizes = {at: energy(np.concatenate(arrays[:at]), np.concatenate(arrays[at:])) for at in splits}
    at = max(sizes, key=sizes.__getitem__)
    return at, sizes[at]
