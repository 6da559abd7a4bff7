"""Quantiles and tails of distributions, by SciPy, which is loaded at the first call.

Loading takes a third of a second, and most commands need none of it.
"""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray


def t_quantile(freedom: float, p: float) -> float:
    """Return Student's t of so many degrees of freedom below which it lies with probability `p`."""
    return float(_special().stdtrit(freedom, p))


def t_quantiles(freedom: NDArray[np.int64], p: float) -> NDArray[np.float64]:
    """Return the same quantile for each of many degrees of freedom."""
    return np.asarray(_special().stdtrit(freedom, p), dtype=np.float64)


def t_tail(freedom: float, t: float) -> float:
    """Return the probability that Student's t lies above `t`."""
    return float(_special().stdtr(freedom, -t))


def beta_quantile(a: float, b: float, p: float) -> float:
    """Return the value below which a beta distribution lies with probability `p`."""
    return float(_special().betaincinv(a, b, p))


def _special() -> ModuleType:
    from scipy import special  # noqa: PLC0415 - see above

    return special
