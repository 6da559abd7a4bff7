"""Published figures beside the measured ones, as every report words them: a group a published table."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import get_args

from diskproof.analysis.answers import Analysis
from diskproof.analysis.published.marks import SIZE_BAND, TIE
from diskproof.analysis.published.shapes import BesideFigure, BesideRatio, Mark
from diskproof.analysis.words import subject
from diskproof.report import words
from diskproof.report.limits.words import NOT_ESTABLISHED
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.limit import Limit
from diskproof.results.plan import Cell, Plan
from diskproof.results.published import PublishedFigure, PublishedMeasure, PublishedRatio

MEASURES: dict[PublishedMeasure, str] = {
    "transactions_per_s": "Transactions/s",
    "statements_per_s": "Statements/s",
    "requests_per_s": "Requests/s",
    "megabytes_per_s": "MB/s",
    "seconds": "Seconds",
    "latency_mean_ms": "Mean ms",
    "latency_min_ms": "Min ms",
    "latency_max_ms": "Max ms",
    "latency_p95_ms": "p95 ms",
}

MARKS: tuple[Mark, ...] = get_args(Mark)

_WITHOUT_FIGURES = re.compile(r"`[^`]*`|\S*/\S*|\d[\d.,e+-]*")
"""Levels, which stand in backticks, names of cells and paths, and numbers."""

MOST_NAMED = 3
"""Rows that a reason names before it counts the rest."""


@dataclass(frozen=True)
class Group:
    """What stands beside one published table."""

    title: str
    place: str
    plan: Plan
    ratios: Sequence[BesideRatio]
    figures: Sequence[BesideFigure]
    limits: Mapping[str, Limit | None] = field(default_factory=dict)
    """What holds cells back, by their ids; None: not established."""

    @cached_property
    def ratio_factors(self) -> list[Factor]:
        """The factors, besides the compared one, in which the ratios' rows differ.

        A factor that other rows compare differs too.
        """
        differing = _differing([self.held(row) for row in self.ratios])
        compared = {row.published.factor for row in self.ratios}
        return [
            factor for factor in FACTORS if factor in differing or (factor in compared and len(compared) > 1)
        ]

    @cached_property
    def figure_factors(self) -> list[Factor]:
        """The factors in which the figures' rows differ; storage alone where none does."""
        return _differing([self.levels(row) for row in self.figures]) or ["storage"]

    @cached_property
    def measures(self) -> list[PublishedMeasure]:
        """What the ratios are of."""
        return list(dict.fromkeys(row.published.measure for row in self.ratios))

    def in_short(self) -> "Group":
        """Return the group with one ratio a comparison: other measures are of the same trials."""
        first: dict[str, BesideRatio] = {}
        for row in self.ratios:
            what = row.published.model_copy(update={"measure": self.measures[0], "ratio": 1.0})
            first.setdefault(f"{what!r} {row.cell} {row.baseline_cell}", row)
        return replace(self, ratios=list(first.values()))

    def with_cells(self) -> "Group":
        """Return the group without the ratios that no cell of the run has the levels of."""
        return replace(self, ratios=[row for row in self.ratios if row.cell is not None])

    @property
    def tells_limits(self) -> bool:
        """Whether anything is said of what holds the cells of its ratios back."""
        return any(cell in self.limits for row in self.ratios for cell in (row.cell, row.baseline_cell))

    def held_back(self, row: BesideRatio) -> str:
        """Return what holds the sides of a ratio back, in its order: ``CPU / log flush``; ``CPU, both``."""
        first, second = self._held_back(row.cell), self._held_back(row.baseline_cell)
        if first != second:
            return f"{first} / {second}"
        return first if first in (NOT_ESTABLISHED, words.NOT_OBSERVED) else f"{first}, both"

    def _held_back(self, cell: str | None) -> str:
        """Return a cell's limit; n/a where no valid trial of it counted anything."""
        if cell is None or cell not in self.limits:
            return words.NOT_OBSERVED
        return self.limits[cell] or NOT_ESTABLISHED

    def held(self, row: BesideRatio) -> dict[Factor, str]:
        """Return the levels that both sides of a ratio have, as published or else as measured."""
        return _levels(row.published.at, self._cell(row.cell), but=row.published.factor)

    def levels(self, row: BesideFigure) -> dict[Factor, str]:
        """Return the levels of a figure, as published or else as measured."""
        return _levels(row.published.at, self._cell(row.cell))

    def name(self, row: BesideRatio) -> str:
        """Return a ratio in words: ``ssd / disk, insert, 8 clients``."""
        held, published = self.held(row), row.published
        parts = [compared(row)]
        if published.part is not None:
            parts.append(published.part)
        parts += [subject(factor, held[factor]) for factor in self.ratio_factors if factor in held]
        return ", ".join(parts)

    def _cell(self, cell_id: str | None) -> Cell | None:
        return self.plan.cell(cell_id) if cell_id else None


def groups(analysis: Analysis) -> list[Group]:
    """Return a group for each published table, in their order; none where nothing was published."""
    if analysis.beside is None:
        return []
    ratios, figures = analysis.beside.ratios, analysis.beside.figures
    told: list[PublishedFigure | PublishedRatio] = [
        *(row.published for row in figures),
        *(row.published for row in ratios),
    ]
    places = {published.table: published.place for published in reversed(told)}
    limits = {one.cell.id: one.limit for one in analysis.limits.cells} if analysis.limits else {}
    return [
        Group(
            title,
            places[title],
            analysis.plan,
            [row for row in ratios if row.published.table == title],
            [row for row in figures if row.published.table == title],
            limits,
        )
        for title in dict.fromkeys(published.table for published in told)
    ]


def compared(row: BesideRatio) -> str:
    """Return what a ratio compares: ``ssd / disk``."""
    published = row.published
    return f"{subject(published.factor, published.level)} / {subject(published.factor, published.baseline)}"


def summary(analysis: Analysis) -> str:
    """Return how many ratios have which mark: ``9 published ratios: 7 agree, 2 not measured``.

    Several measures of one comparison count once: they are of the same trials.
    """
    rows = [row for group in groups(analysis) for row in group.in_short().ratios]
    counts = Counter(row.mark for row in rows)
    if not rows:
        return "no ratio was published"
    said = ", ".join(f"{counts[mark]} {_counted(mark, counts[mark])}" for mark in MARKS if counts[mark])
    return f"{words.count(len(rows), 'published ratio')}: {said}"


def _counted(mark: Mark, count: int) -> str:
    """Return a mark as said of so many: ``1 agrees``, ``2 differ in size``."""
    what, _, verb = mark.rpartition(" ")
    if verb not in {"agrees", "differs"}:
        return mark
    return (verb if count == 1 else verb.removesuffix("s")) + (f" in {what}" if what else "")


def source(analysis: Analysis) -> str:
    """Return what was published and by whom."""
    published = analysis.plan.published
    return f"“{published.title}”, {published.by}" if published else ""


def note() -> str:
    """Say what the marks mean."""
    band = f"{1 / SIZE_BAND:g} to {SIZE_BAND:g}"
    return (
        "A ratio is that of speeds, seconds turned over. agrees: the order is as published (faster, slower, "
        f"or the same: within a factor of {TIE:.3g}), and the size {band} times the published one; order "
        "agrees: the size is not decided; size differs, order differs: the whole interval lies beyond; "
        "inconclusive: it allows more than one order. The intervals are not adjusted for their number; the "
        "published figures have none. Held back: what the first and the second of the two wait for here, "
        "over the whole job where it is one. n/a: not measured."
    )


def short_note() -> str:
    """Say in a line or two what the marks mean."""
    band = f"{1 / SIZE_BAND:g} to {SIZE_BAND:g}"
    return (
        f"Order: faster, slower or the same, as published; size: {band} times the published ratio. "
        "The marks are not adjusted for their number."
    )


def unlisted(all_groups: Sequence[Group]) -> list[str]:
    """Return how many ratios no two cells stand beside, and why; what differs in levels alone is one line."""
    alike: dict[str, list[str]] = {}
    for row in (row for group in all_groups for row in group.ratios if row.cell is None):
        reason = row.reasons[0]
        alike.setdefault(_WITHOUT_FIGURES.sub("#", reason), []).append(reason)
    return [
        f"{words.count(len(said), 'published ratio')} not listed: {said[0]}"
        + (" (said of the first)" if len(set(said)) > 1 else "")
        for said in alike.values()
    ]


def reasons(group: Group) -> list[tuple[str, Sequence[str]]]:
    """Return why ratios do not agree: whom it concerns, and the reasons; those of all come first.

    Ratios whose reasons differ only in their figures and levels stand together, as it is said of the first;
    several measures of one comparison, which mostly do, are named once.
    """
    parted = [row for row in group.ratios if row.reasons]
    common = _common(group, parted)
    alike: dict[tuple[str, ...], list[BesideRatio]] = {}
    for row in parted:
        own = tuple(_WITHOUT_FIGURES.sub("#", reason) for reason in row.reasons if reason not in common)
        if own:
            alike.setdefault((row.mark, *own), []).append(row)
    everyone: list[tuple[str, Sequence[str]]] = [("All that do not agree", common)] if common else []
    return everyone + [_explained(group, rows, common) for rows in alike.values()]


def _common(group: Group, parted: Sequence[BesideRatio]) -> list[str]:
    """Return the reasons that all share, where they are several."""
    if len({group.name(row) for row in parted}) < 2:
        return []
    return [reason for reason in parted[0].reasons if all(reason in row.reasons for row in parted)]


def _explained(group: Group, rows: Sequence[BesideRatio], common: Sequence[str]) -> tuple[str, Sequence[str]]:
    first = rows[0]
    names = list(dict.fromkeys(map(group.name, rows)))
    rest = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    whom = f"{'; '.join(names[:MOST_NAMED])}{rest}: {first.mark}"
    if any(row.reasons != first.reasons for row in rows if group.name(row) != group.name(first)):
        whom += " (said of the first)"
    return whom, [reason for reason in first.reasons if reason not in common]


def missing(group: Group) -> list[str]:
    """Return why figures were not measured; what differs only in its levels is said once."""
    alike: dict[str, dict[str, None]] = {}
    for row in group.figures:
        if row.missing:
            alike.setdefault(_WITHOUT_FIGURES.sub("#", row.missing), {})[row.missing] = None
    return [
        first + (f" (and {words.count(len(rest), 'more like it', 'more like it')})" if rest else "")
        for first, *rest in alike.values()
    ]


def _levels(at: Mapping[Factor, str], cell: Cell | None, but: Factor | None = None) -> dict[Factor, str]:
    known = {factor: cell.level(factor) for factor in FACTORS} if cell else {}
    return {factor: level for factor, level in (known | dict(at)).items() if factor != but}


def _differing(rows: Sequence[Mapping[Factor, str]]) -> list[Factor]:
    return [factor for factor in FACTORS if len({row[factor] for row in rows if factor in row}) > 1]


def figure_rows(group: Group) -> Iterator[tuple[BesideFigure, dict[PublishedMeasure, BesideFigure]]]:
    """Yield the figures by row: those of the same levels, test and cell, by measure."""
    rows: dict[object, dict[PublishedMeasure, BesideFigure]] = {}
    for row in group.figures:
        key = tuple(sorted(row.published.at.items())), row.published.part, row.cell
        rows.setdefault(key, {})[row.published.measure] = row
    for by_measure in rows.values():
        yield next(iter(by_measure.values())), by_measure
