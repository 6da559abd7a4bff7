"""What faults of the disks did: first what is wrong and unnoticed, then what was lost, then time."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.safety.shapes import CutAnswer, Faulted, Safety
from diskproof.report.compose import cut_words
from diskproof.report.document import Tone
from diskproof.report.one_screen import Block, Row
from diskproof.results.factor import CutFactor
from diskproof.results.fault import NO_FAULT
from diskproof.results.plan import Cell
from diskproof.stats.grouping import grouped
from diskproof.wording import numbers

FACTORS: tuple[CutFactor, ...] = ("server", "storage", "tuning", "fault", "clients")

MOST_NAMED = 3
"""Cells in a sentence."""

ONLY_TIME = ("stall", "slow")
"""Kinds that take time and nothing else."""

Met = tuple[CutAnswer, Faulted]
"""What became of a cell, and what its tries met."""


def varying(safety: Safety) -> list[CutFactor]:
    """Return what tells the cells apart, as far as what stands before does not; the fault always does."""
    cells = [one.cell for one in safety.answers]
    found: list[CutFactor] = []
    for factor in FACTORS:
        alike = grouped(cells, lambda cell: tuple(cell.level(one) for one in found)).values()
        if factor == "fault" or any(len({cell.level(factor) for cell in some}) > 1 for some in alike):
            found.append(factor)
    return found


def name(safety: Safety, cell: Cell) -> str:
    """Return a cell's name: ``sqlite with write``, ``postgresql with stalls, 8 clients``."""
    factors = varying(safety)
    words = " ".join(cell.level(one) for one in factors if one not in ("fault", "clients"))
    many = f", {numbers.count(cell.clients, 'client')}" if "clients" in factors else ""
    return f"{words} with {cell.fault}".strip() + many


def worst_of_cells(safety: Safety) -> list[Met]:
    """Return of each cell the way of dying with most that was unnoticed, then with most harm, then hits."""
    met = [(one, one.faulted) for one in safety.answers if one.faulted]
    return [
        max(ways, key=lambda one: (one[1].unnoticed, one[0].gone, one[0].harmed, one[1].hit or 0))
        for ways in grouped(met, lambda one: one[0].cell.id).values()
    ]


def answer(safety: Safety) -> str:
    """Return what came of the faults in a few sentences."""
    # A fault that hit nothing proves nothing; a loss beside it counts all the same.
    told = [one for one in worst_of_cells(safety) if one[1].hit != 0 or one[0].harmed]
    faulty = [one for one in told if one[0].cell.fault != NO_FAULT]
    if not faulty:
        return "No try with a fault tells anything yet."
    quiet = sorted((one for one in faulty if one[1].unnoticed), key=lambda one: -one[1].unnoticed)
    loud = [one for one in faulty if one[0].harmed and not one[1].unnoticed]
    kept = len(faulty) - len(quiet) - len(loud)
    settings = numbers.count(len(faulty), "setting")
    said = {
        f"Lost or wrong, and unnoticed: {_named(safety, quiet)}.": quiet,
        f"Lost or damaged, and reported: {_named(safety, loud)}.": loud,
        f"{kept} of {settings} with a fault kept every commit.": kept,
        _time(safety, faulty): only_time(safety),
    }
    return " ".join(text for text, applies in said.items() if applies)


def _named(safety: Safety, some: Sequence[Met]) -> str:
    named = [
        f"{name(safety, one.cell)} ({met.unnoticed or one.harmed} of {one.telling})" for one, met in some
    ]
    return numbers.listed(named, MOST_NAMED)


def _time(safety: Safety, faulty: Sequence[Met]) -> str:
    """Return the longest silence, and the least that is left of the throughput."""
    slowest, most = max(faulty, key=lambda one: one[1].silent_s.worst)
    left = [(share, one) for one, met in faulty if (share := _left(safety, one.cell, met)) is not None]
    silence = f"{cut_words.seconds(most.silent_s.worst)} ({name(safety, slowest.cell)})"
    said = f"The longest silence was {silence}."
    if left:
        least, cut = min(left, key=lambda one: one[0])
        said += f" Commits fell to {least:.0%} ({name(safety, cut.cell)}) of those without a fault."
    return said


def only_time(safety: Safety) -> bool:
    """Whether the study's faults take time and nothing else."""
    return all(one.kind in ONLY_TIME for one in safety.faults.values())


def _left(safety: Safety, cell: Cell, met: Faulted) -> float | None:
    """Return the share of the commits that a fault leaves; None if it is not known."""
    base = without(safety, cell)
    return met.commits_per_s / base.commits_per_s if base and base.commits_per_s else None


def without(safety: Safety, cell: Cell) -> Faulted | None:
    """Return what the same cell without a fault met."""
    wanted = cell.model_copy(update={"id": "", "fault": NO_FAULT})
    met = worst_of_cells(safety)
    return next((found for one, found in met if one.cell.model_copy(update={"id": ""}) == wanted), None)


def rows(safety: Safety) -> Iterator[Block]:
    """Yield a row a cell for the screen."""
    every = worst_of_cells(safety)
    if not every:
        return
    shown = [one for one in every if one[0].cell.fault != NO_FAULT] if only_time(safety) else every
    factors = varying(safety)
    in_time = ("of the commits", "commits/s", "silent", "lost or wrong")
    columns = in_time if only_time(safety) else ("lost or wrong", "silent", "reported by", "commits/s")
    made = []
    for one, met in shown:
        left = _left(safety, one.cell, met)
        figures = {
            "of the commits": numbers.NOT_OBSERVED if left is None else f"{left:.0%}",
            "lost or wrong": _harm(one, met),
            "silent": _silent(met),
            "reported by": _told(one, met),
            "commits/s": f"{met.commits_per_s:,.0f}",
        }
        levels = tuple(one.cell.level(factor) for factor in factors)
        tone: Tone = "alarm" if met.unnoticed else "worse" if one.harmed else "plain"
        made.append(Row(levels, tone=tone, figures=tuple(figures[column] for column in columns)))
    yield Block("after the fault", tuple(made), columns)


def _harm(one: CutAnswer, faulted: Faulted) -> str:
    """Return how many tries did harm: ``3 of 30, 2 unnoticed``, or ``0 of 30, hit nothing``."""
    unnoticed = f", {faulted.unnoticed} unnoticed" if faulted.unnoticed else ""
    missed = ", hit nothing" if faulted.hit == 0 else ""
    return f"{one.harmed} of {one.telling}{unnoticed}{missed}"


def _told(one: CutAnswer, faulted: Faulted) -> str:
    """Return who reported something, with the number of tries if it was not all: ``clients, log 2``."""
    told = {
        "clients": faulted.told,
        "log": faulted.logged,
        "end": faulted.stopped,
        "read-only": faulted.read_only,
        "no start": one.damage.refused,
    }
    every = one.telling
    return ", ".join(f"{what}{'' if n == every else f' {n}'}" for what, n in told.items() if n) or "nobody"


def _silent(faulted: Faulted) -> str:
    if faulted.ended_serving:
        return f"for good in {faulted.ended_serving}"
    return cut_words.seconds(faulted.silent_s.worst)
