"""What a study like it might measure, and this run did not."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.decisions import in_memory
from diskproof.report.compose.head import has_speed
from diskproof.report.compose.verdicts import has_verdict
from diskproof.results.factor import Factor, Levelled
from diskproof.results.plan import NO_LEVEL
from diskproof.wording import numbers


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
    storages = _levels(plan.cells, "storage")
    if plan.crash:
        if without := [one for one in _levels(plan.crash.cells, "storage") if one not in storages]:
            yield f"speed on {numbers.listed(without)}"
        return
    disks = set(storages) - in_memory(analysis)
    on_disks = [one for one in analysis.cells if one.cell.storage in disks]
    if on_disks and all(one.data and one.data.data_bytes <= one.cell.memory_bytes for one in on_disks):
        yield "reads from a disk (the data fit in memory)"
    if len(_levels(plan.cells, "tuning")) > 1:
        yield "power cuts"


def _levels(cells: Sequence[Levelled], factor: Factor) -> list[str]:
    return list(dict.fromkeys(level for one in cells if (level := one.level(factor)) != NO_LEVEL))
