"""What an answer holds for: loads, storages and clients; and what was not measured."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.decisions import in_memory
from diskproof.report.compose import verdict_words
from diskproof.report.compose.head import has_speed
from diskproof.report.compose.verdicts import has_verdict
from diskproof.results.factor import FACTORS, Factor, Levelled
from diskproof.results.plan import NO_LEVEL
from diskproof.wording import numbers

MOST_NAMED = 4
"""Levels of a factor that are named; of more, the others are counted."""

ALWAYS: tuple[Factor, ...] = ("workload", "storage", "clients")
"""Factors that are said although they do not vary. Tuning levels are never said: the answer compares them."""


def sentence(analysis: Analysis) -> str:
    """Return what the answer holds for, and what was not measured; empty if nothing was measured at all.

    ``For `complex` on dram and disk with 1 and 8 clients; not measured: what a power cut takes.``
    """
    plan = analysis.plan
    parts = []
    if has_speed(plan) and has_verdict(analysis):
        parts.append(f"{'speed ' if plan.crash else ''}{_conditions(plan.cells)}")
    if plan.crash and analysis.safety and analysis.safety.made:
        parts.append(f"cuts during transfers {_conditions(plan.crash.cells, ('storage', 'clients'))}")
    if parts and (missing := list(_not_measured(analysis))):
        parts.append(f"not measured: {numbers.listed(missing)}")
    return f"{numbers.sentence_case('; '.join(parts))}." if parts else ""


def of_limits(analysis: Analysis) -> str:
    """Return the beginning of the answer to what holds cells back."""
    return f"What holds a database back {_conditions(analysis.plan.cells)}:"


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
        yield "what a power cut takes"


def _conditions(cells: Sequence[Levelled], always: Sequence[Factor] = ALWAYS) -> str:
    """Return the levels of cells: ``for `complex` on dram and disk with 1 and 8 clients``."""
    levels: dict[Factor, list[str]] = {factor: _levels(cells, factor) for factor in FACTORS}
    shown = {
        factor: found
        for factor, found in levels.items()
        if factor in always or (len(found) > 1 and factor not in ("tuning", "workload"))
    }
    if len(counts := shown.get("clients", [])) > MOST_NAMED:
        shown["clients"] = [f"{counts[0]} to {counts[-1]}"]
    return verdict_words.at_levels(shown, MOST_NAMED).strip()


def _levels(cells: Sequence[Levelled], factor: Factor) -> list[str]:
    found = dict.fromkeys(level for one in cells if (level := one.level(factor)) != NO_LEVEL)
    return sorted(found, key=int) if factor == "clients" else list(found)
