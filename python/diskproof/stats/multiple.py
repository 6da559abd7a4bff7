"""Many comparisons at once: keep the chance of any false claim in a whole run at 5%."""

from collections.abc import Sequence

from diskproof.stats.intervals import RatioTest


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by Holm's step-down method, in the order given.

    If claims are made only for an adjusted p below the level, the chance of any false claim stays below that
    level, whatever their dependence. Source: Holm, "A simple sequentially rejective multiple test procedure",
    Scandinavian Journal of Statistics 6, 1979.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    found = [1.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        found[index] = highest
    return found


def adjusted(tests: Sequence[RatioTest | None]) -> list[float | None]:
    """Return the p of each test by `holm` over all that have one; None of the others."""
    known = iter(holm([one.p for one in tests if one is not None and one.p is not None]))
    return [None if one is None or one.p is None else next(known) for one in tests]
