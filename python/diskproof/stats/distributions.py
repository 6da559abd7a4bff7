"""SciPy's special functions, loaded at the first call: that takes a third of a second."""

from types import ModuleType


def special() -> ModuleType:
    """Return `scipy.special`: quantiles and tails of distributions."""
    from scipy import special  # noqa: PLC0415 - see above

    return special


def binomial_p(seen: int, n: int, share: float) -> float:
    """Return the two-sided p that `seen` of `n` have a share: twice the smaller tail, which is exact."""
    if not 0 < share < 1:
        return 1.0
    tails = special().bdtr(seen, n, share), special().bdtrc(seen - 1, n, share)
    return min(1.0, 2 * float(min(tails)))


def poisson_p(count: float, mean: float) -> float:
    """Return the probability that a Poisson count is so high or higher."""
    return float(special().gammainc(count, mean)) if count > 0 else 1.0
