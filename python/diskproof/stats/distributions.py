"""SciPy's special functions, loaded at the first call: that takes a third of a second."""

from types import ModuleType


def special() -> ModuleType:
    """Return `scipy.special`: quantiles and tails of distributions."""
    from scipy import special  # noqa: PLC0415 - see above

    return special
