"""Whether another tool was asked for a rate of its own: its clients rest, and Little's law has no force."""

from diskproof.results.imported import ImportedResult

RATES = ("rate", "tx-rate", "max-tx-rate", "rate limit", "rate_iops", "rate_limit")
"""Options by which tools are asked for one."""

UNPACED = frozenset({"", "0", "unlimited", "disabled"})


def is_paced(result: ImportedResult | None) -> bool:
    """Tell whether the output says that a rate was asked for."""
    if result is None:
        return False
    asked = any(result.asked.get(name, "0") not in UNPACED for name in RATES)
    remarked = any("rate limit" in remark for remark in result.remarks)  # pgbench tells of its lag
    return result.load.rate is not None or asked or remarked
