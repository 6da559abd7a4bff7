"""The analysis of variance."""

from collections.abc import Sequence
from statistics import fmean

from diskproof.stats.distributions import special


def same_mean(groups: Sequence[Sequence[float]]) -> float:
    """Return the p of "the groups have one mean": the one-way F test, with one variance in all groups.

    Source: Fisher, "Statistical Methods for Research Workers", 1925, chapter 7. ValueError unless there are
    two groups, none is empty, and one has two values.
    """
    values = [value for group in groups for value in group]
    between, within = len(groups) - 1, len(values) - len(groups)
    if between < 1 or within < 1 or not all(groups):
        raise ValueError("two groups are needed, one of them with two values")
    whole = fmean(values)
    of_groups = sum(len(group) * (fmean(group) - whole) ** 2 for group in groups)
    inside = sum((value - fmean(group)) ** 2 for group in groups for value in group)
    if inside == 0:  # made-up data
        return 0.0 if of_groups else 1.0
    return float(special().fdtrc(between, within, (of_groups / between) / (inside / within)))
