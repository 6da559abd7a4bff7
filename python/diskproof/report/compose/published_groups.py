"""Published figures beside the measured ones: a group a published table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import get_args

from diskproof.analysis.answers import Analysis
from diskproof.analysis.published.shapes import BesideFigure, BesideRatio, Mark
from diskproof.report.compose.limits_words import NOT_ESTABLISHED
from diskproof.report.compose.verdict_words import subject
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.limit import Limit
from diskproof.results.plan import Cell, Plan
from diskproof.results.published import PublishedFigure, PublishedMeasure, PublishedRatio
from diskproof.stats.grouping import grouped
from diskproof.wording import forms
from diskproof.wording.numbers import NOT_OBSERVED, count, listed

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

MOST_NAMED = 3
"""Rows that a reason names before it counts the rest."""


@dataclass(frozen=True)
class Group:
    """What is compared with one published table."""

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
        """The factors in which the figures' rows differ; storage alone if none does."""
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

    @property
    def has_limits(self) -> bool:
        """Whether anything is said of what holds the cells of its ratios back."""
        return any(cell in self.limits for row in self.ratios for cell in (row.cell, row.baseline_cell))

    def held_back(self, row: BesideRatio) -> str:
        """Return what holds the sides of a ratio back, in its order: ``CPU / log flush``; ``CPU, both``."""
        first, second = self._held_back(row.cell), self._held_back(row.baseline_cell)
        if first != second:
            return f"{first} / {second}"
        return first if first in (NOT_ESTABLISHED, NOT_OBSERVED) else f"{first}, both"

    def _held_back(self, cell: str | None) -> str:
        """Return a cell's limit; n/a if no valid trial of it counted anything."""
        if cell is None or cell not in self.limits:
            return NOT_OBSERVED
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
    """Return a group for each published table, in their order; none if nothing was published."""
    if analysis.beside is None:
        return []
    ratios, figures = analysis.beside.ratios, analysis.beside.figures
    all_of: list[PublishedFigure | PublishedRatio] = [
        *(row.published for row in figures),
        *(row.published for row in ratios),
    ]
    places = {published.table: published.place for published in reversed(all_of)}
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
        for title in dict.fromkeys(published.table for published in all_of)
    ]


def compared(row: BesideRatio) -> str:
    """Return what a ratio compares: ``ssd / disk``."""
    published = row.published
    return f"{subject(published.factor, published.level)} / {subject(published.factor, published.baseline)}"


def summary(analysis: Analysis) -> str:
    """Return how many ratios have which mark: ``9 published ratios: agrees 7, not measured 2``.

    Several measures of one comparison count once: they are of the same trials.
    """
    rows = [row for group in groups(analysis) for row in group.in_short().ratios]
    counts = Counter(row.mark for row in rows)
    if not rows:
        return "no ratio was published"
    said = ", ".join(f"{mark} {counts[mark]}" for mark in get_args(Mark) if counts[mark])
    return f"{count(len(rows), 'published ratio')}: {said}"


def source(analysis: Analysis) -> str:
    """Return what was published and by whom."""
    published = analysis.plan.published
    return f"“{published.title}”, {published.by}" if published else ""


def reasons(group: Group) -> list[tuple[str, str]]:
    """Return why ratios are not measured or decided, each reason once with the ratios that it is about.

    Reasons that differ only in their figures and levels are one, in the words of the first.
    """
    found = grouped(
        [(reason, row) for row in group.ratios for reason in row.reasons], lambda one: forms(one[0])
    )
    return [
        (alike[0][0].text, listed(list(dict.fromkeys(group.name(row) for _, row in alike)), MOST_NAMED))
        for alike in found.values()
    ]


def _levels(at: Mapping[Factor, str], cell: Cell | None, but: Factor | None = None) -> dict[Factor, str]:
    known = {factor: cell.level(factor) for factor in FACTORS} if cell else {}
    return {factor: level for factor, level in (known | dict(at)).items() if factor != but}


def _differing(rows: Sequence[Mapping[Factor, str]]) -> list[Factor]:
    return [factor for factor in FACTORS if len({row[factor] for row in rows if factor in row}) > 1]
