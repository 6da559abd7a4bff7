"""The limit of a trial's cell as columns."""

from diskproof.analysis.limits.records import CellLimit, Limits
from diskproof.report.compose import limits_words as words
from diskproof.report.cuts_csv import Row
from diskproof.results.plan import Cell


def columns(limits: Limits | None, cell: Cell) -> Row:
    """Return what holds a trial's cell back, over all its trials; no columns if nothing was counted.

    The time of a mean transaction is split as in the other reports, in µs; what is not known is empty.
    """
    if limits is None:
        return {}
    found = next((one for one in limits.cells if one.cell.id == cell.id), None)
    return {
        "limit": (found.limit or words.NOT_ESTABLISHED) if found else None,
        "limit_where": found.where if found else None,
        "limit_bound_per_s": found.bound_per_s if found else None,
        **_split(limits, found),
    }


def _split(limits: Limits, found: CellLimit | None) -> Row:
    split = found.split if found else None
    of_parts: Row = {}
    for name in words.part_names(limits.cells):
        part = words.part(split, name) if split else None
        of_parts[f"time_{name.lower().replace(' ', '_')}_us"] = part.mean_us if part else None
    unexplained = {"time_unexplained_us": words.unexplained_us(split) if split else None}
    return {**of_parts, **unexplained} if of_parts else {}
