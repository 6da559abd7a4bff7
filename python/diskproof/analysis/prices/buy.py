"""Which storage to buy."""

from diskproof.analysis.answers import Analysis
from diskproof.analysis.asked import asked


def best_buy(analysis: Analysis) -> tuple[str, float] | None:
    """Return the storage that is faster under all conditions, and its price over the slower one's."""
    amounts = {row.storage: row.amount for row in analysis.prices.storages} if analysis.prices else {}
    sides = {
        (one.level, one.baseline) if one.outcome == "faster" else (one.baseline, one.level)
        for one in asked(analysis)
        if one.factor == "storage" and one.outcome in ("faster", "slower")
    }
    if len(sides) != 1 or not amounts.keys() >= {*(pair := next(iter(sides)))} or not amounts[pair[1]]:
        return None
    return pair[0], amounts[pair[0]] / amounts[pair[1]]
