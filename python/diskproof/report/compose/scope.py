"""What a study like it might measure, and this run did not."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.decisions import in_memory
from diskproof.report.compose.answer import has_verdict
from diskproof.report.compose.head import has_speed
from diskproof.results.factor import Factor
from diskproof.results.plan import NO_LEVEL, Cell
from diskproof.wording import numbers

FEW_READS = 0.1
"""A disk with fewer reads a transaction in every cell says little of reads. Other programs and the start of a
server cause some: a quickstart whose data fit in memory had up to 0.04."""


def not_measured(analysis: Analysis) -> str:
    """Return what was not measured: ``Not measured: what a power cut takes.``; empty without an answer."""
    is_cut = analysis.safety is not None and analysis.safety.made > 0
    if not is_cut and not has_verdict(analysis):
        return ""
    missing = list(_not_measured(analysis))
    return f"Not measured: {numbers.listed(missing)}." if missing else ""


def _not_measured(analysis: Analysis) -> Iterator[str]:
    plan = analysis.plan
    if plan.imported:
        return
    if not has_speed(plan):
        yield "speed"
        return
    measured = [one for one in analysis.cells if one.valid]
    storages = _levels([one.cell for one in measured], "storage")
    planned = _levels(plan.every_cell, "storage")
    if without := [one for one in planned if one not in storages]:
        yield f"speed on {numbers.listed(without)}"
    on_disks = [one.cost.get("reads") for one in measured if not in_memory(analysis, one.cell)]
    if on_disks and all(reads is not None and reads < FEW_READS for reads in on_disks):
        yield "reads from a disk (there were few)"
    if not plan.crash and len(_levels([one.cell for one in measured], "tuning")) > 1:
        yield "power cuts"


def _levels(cells: Sequence[Cell], factor: Factor) -> list[str]:
    return list(dict.fromkeys(level for one in cells if (level := one.level(factor)) != NO_LEVEL))
