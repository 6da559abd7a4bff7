"""SciPy's special functions, loaded at the first call: that takes a third of a second."""

from types import ModuleType


def special() -> ModuleType:
    """Return `scipy.special`: quantiles and tails of distributions."""
    from scipy import special  # noqa: PLC0415 - see above

    return special


def poisson_p(count: float, mean: float) -> float:
    """Return the probability that a Poisson count is so high or higher."""
    return float(special().gammainc(count, mean)) if count > 0 else 1.0
