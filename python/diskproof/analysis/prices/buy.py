"""Which storage to buy."""

from typing import NamedTuple

from diskproof.analysis.answers import Analysis
from diskproof.analysis.asked import asked


class Buy(NamedTuple):
    """The storage that is faster under all conditions, and its prices over those of the slower one."""

    storage: str
    amount: float
    amount_of_slower: float
    times_per_gb: float

    @property
    def times(self) -> float:
        """Its price over that of the slower one."""
        return self.amount / self.amount_of_slower


def best_buy(analysis: Analysis) -> Buy | None:
    """Return which of two storages is faster in all comparisons; None without prices of both.

    None also if it may lose what it acknowledged, and if cuts were made, which say more.
    """
    priced = {row.storage: row for row in analysis.prices.storages} if analysis.prices else {}
    verdicts = [one for one in asked(analysis) if one.factor == "storage"]
    sides = {
        (one.level, one.baseline) if one.outcome == "faster" else (one.baseline, one.level)
        for one in verdicts
    }
    if len(sides) != 1 or analysis.safety or any(one.outcome not in ("faster", "slower") for one in verdicts):
        return None
    faster, slower = (priced.get(name) for name in next(iter(sides)))
    if not faster or not slower or not slower.amount:
        return None
    places = analysis.machine.places if analysis.machine else []
    of_faster = [one for one in places if one.storage == faster.storage]
    if any(one.in_memory or (one.virtual and one.virtual.flushes_ignored) for one in of_faster):
        return None
    return Buy(faster.storage, faster.amount, slower.amount, faster.amount_per_gb / slower.amount_per_gb)
