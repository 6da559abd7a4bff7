"""What holds each side of a study back, in a sentence or in a line a side."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.limits.records import CellLimit
from diskproof.report.compose import limits_words, verdict_words
from diskproof.report.document import Line
from diskproof.results.factor import Factor
from diskproof.results.plan import Cell
from diskproof.stats.boxes import boxes
from diskproof.stats.groups import grouped
from diskproof.wording import numbers

SIDES: tuple[Factor, ...] = ("storage", "server", "tuning", "memory", "host")
"""The first of these that a study varies has the sides: what holds each back has a line."""

MOST_SIDES = 4
"""Of more, each limit has a line."""


def in_short(analysis: Analysis, found: Sequence[CellLimit]) -> str:
    """Return the limits of all cells in a sentence: ``The database is held back by … on disk; …``."""
    every = [_levels(analysis, one.cell) for one in found]
    groups = grouped(found, lambda one: one.limit)
    held, without = [], ""
    for limit, cells in sorted(groups.items(), key=lambda one: -len(one[1])):
        where = verdict_words.where(boxes([_levels(analysis, one.cell) for one in cells], every))
        if limit is None:
            without = f"{limits_words.NOT_ESTABLISHED}{where}"
        else:
            held.append(f"by {limits_words.bound_by(cells)}{where}")
    if not held:
        return f"What holds the database back is {limits_words.NOT_ESTABLISHED}."
    return f"The database is held back {', and '.join(held)}{f'; {without}' if without else ''}."


def by_side(analysis: Analysis, found: Sequence[CellLimit]) -> Iterator[str | Line]:
    """Yield what holds each side back: ``disk: the redo log's flush (80% of a transaction).``."""
    side = next((one for one in SIDES if len({cell.cell.level(one) for cell in found}) > 1), None)
    if side is None or len({one.cell.level(side) for one in found}) > MOST_SIDES:
        yield from (f"{numbers.sentence_case(one)}." for one in _held_back(analysis, found))
        return
    sides = grouped(found, lambda one: one.cell.level(side))
    said, is_first = {}, True
    for name, cells in sides.items():
        said[name] = "; ".join(_held_back(analysis, cells, of_what=is_first))
        is_first = is_first and not any(one.limit for one in cells)
    for text, names in grouped(said, lambda one: said[one]).items():
        lead = numbers.listed([verdict_words.subject(side, one) for one in names])
        yield Line(f"{text}.", lead=lead, style="plain")


def _held_back(analysis: Analysis, found: Sequence[CellLimit], *, of_what: bool = True) -> Iterator[str]:
    """Yield each limit with the cells that it holds back, those without one last, by their reason.

    `of_what`: the first says what the shares are of.
    """
    every = [_levels(analysis, one.cell) for one in found]

    def where(some: Sequence[CellLimit]) -> str:
        return verdict_words.places([_levels(analysis, one.cell) for one in some], every, "cells")

    groups = list(grouped(found, lambda one: (one.limit, limits_words.kind(one))).values())
    groups.sort(key=len, reverse=True)
    named = [cells for cells in groups if cells[0].limit]
    open_ones = [cells for cells in groups if not cells[0].limit]
    for index, cells in enumerate(named):
        share = limits_words.evidence(cells, of_what=of_what and not index)
        yield f"{limits_words.bound_by(cells)}{where(cells)}{share}"
    if len(open_ones) == 1:
        [cells] = open_ones
        yield f"{limits_words.NOT_ESTABLISHED}{where(cells)}{limits_words.evidence(cells)}"
    elif open_ones:
        each = [f"{where(cells).strip()}, {limits_words.why_open(cells)}" for cells in open_ones]
        yield f"{limits_words.NOT_ESTABLISHED}: {'; '.join(each)}"


def _levels(analysis: Analysis, cell: Cell) -> dict[Factor, str]:
    return {factor: cell.level(factor) for factor in analysis.varying}
