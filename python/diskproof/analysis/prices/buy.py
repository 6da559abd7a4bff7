"""Which storage to buy."""

from typing import NamedTuple

from diskproof.analysis.answers import Analysis
from diskproof.analysis.asked import asked


class Buy(NamedTuple):
    """The storage that is faster under all conditions, and its prices over those of the slower one."""

    storage: str
    times: float
    times_per_gb: float


def best_buy(analysis: Analysis) -> Buy | None:
    """Return which of two storages is faster wherever that is decided; None without prices of both."""
    priced = {row.storage: row for row in analysis.prices.storages} if analysis.prices else {}
    sides = {
        (one.level, one.baseline) if one.outcome == "faster" else (one.baseline, one.level)
        for one in asked(analysis)
        if one.factor == "storage" and one.outcome in ("faster", "slower")
    }
    if len(sides) != 1:
        return None
    faster, slower = (priced.get(name) for name in next(iter(sides)))
    if not faster or not slower or not slower.amount:
        return None
    return Buy(faster.storage, faster.amount / slower.amount, faster.amount_per_gb / slower.amount_per_gb)
