"""What was published, beside what was measured: a table of ratios and one of figures a published table."""

from collections.abc import Sequence

from diskproof.report import words
from diskproof.report.beside import MEASURES, Group, compared, figure_rows
from diskproof.report.tables.table import Column, Table, factor_column


def published_ratios(group: Group, *, compact: bool = False) -> Table:
    """Return a row a ratio: published, measured, one over the other, what holds both back, and the mark."""
    parts = any(row.published.part is not None for row in group.ratios)
    several = len(group.measures) > 1
    limits = group.tells_limits
    columns = [
        Column("Ratio of"),
        *([Column("Test")] if parts else []),
        *map(factor_column, group.ratio_factors),
        *([Column("In")] if several else []),
        Column("Published", figures=True),
        Column("Measured", figures=True),
        *([] if compact else [Column("Measured / published", figures=True)]),
        *([Column("Held back by")] if limits else []),
        Column("Mark"),
    ]
    rows = []
    for row in group.ratios:
        held = group.held(row)
        plus = words.extrapolated(row.extrapolated)
        rows.append(
            (
                compared(row),
                *([row.published.part or ""] if parts else []),
                *(held.get(factor, "") for factor in group.ratio_factors),
                *([MEASURES[row.published.measure]] if several else []),
                words.number(row.published.ratio),
                words.with_bounds(row.measured) + plus,
                *([] if compact else [words.with_bounds(row.of_published)]),
                *([group.held_back(row)] if limits else []),
                row.mark,
            )
        )
    return Table(tuple(columns), tuple(rows))


def published_figures(group: Group) -> Table:
    """Return a row a cell and test: every measure as published and as measured."""
    measures = [
        measure for measure in MEASURES if any(row.published.measure == measure for row in group.figures)
    ]
    parts = any(row.published.part is not None for row in group.figures)
    columns = [
        *map(factor_column, group.figure_factors),
        *([Column("Test")] if parts else []),
        *(
            column
            for measure in measures
            for column in (
                Column(f"{MEASURES[measure]} published", figures=True),
                Column("Measured", figures=True),
            )
        ),
    ]
    rows = []
    for first, by_measure in figure_rows(group):
        levels = group.levels(first)
        entries: list[str] = []
        for measure in measures:
            row = by_measure.get(measure)
            entries += [words.as_printed(row.published.value) if row else words.NOT_OBSERVED]
            entries += [
                words.with_bounds(row.measured) + words.extrapolated(row.extrapolated)
                if row
                else words.NOT_OBSERVED
            ]
        part: Sequence[str] = [first.published.part or ""] if parts else []
        rows.append((*(levels.get(factor, "") for factor in group.figure_factors), *part, *entries))
    return Table(tuple(columns), tuple(rows))
