"""Many comparisons at once: keep the chance of any false claim in a whole run at 5%."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by Holm's step-down method, in the order given.

    If claims are made only for an adjusted p below the level, the chance of any false claim stays below that
    level, whatever their dependence. Source: Holm, "A simple sequentially rejective multiple test procedure",
    Scandinavian Journal of Statistics 6, 1979.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = highest
    return adjusted
