"""What was published beside what was measured: a table of ratios and one of figures a published table."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.published.marks import SIZE_BAND, TIE
from diskproof.analysis.published.shapes import BesideFigure, BesideRatio
from diskproof.report.compose import published_groups
from diskproof.report.compose.published_groups import MEASURES, Group
from diskproof.report.compose.tables import factor_column, figures, table
from diskproof.report.document import Column, Figure, Item, Items, Paragraph, Section, Table
from diskproof.report.intervals import extrapolated, with_bounds
from diskproof.wording.numbers import number, printed

BAND = f"{1 / SIZE_BAND:g} to {SIZE_BAND:g}"

NOTE = (
    "A ratio is one of speeds; seconds are inverted. agrees: the order is as published (faster, slower, or "
    f"the same: within a factor of {TIE:.3g}), and the size is {BAND} times the published one. order agrees: "
    "the size is not decided. size differs, order differs: the whole interval lies beyond. inconclusive: it "
    "allows more than one order. The intervals are not adjusted for their number; the published figures have "
    "none. Held back by: what the first and the second of the two wait for here, over the whole job if it is "
    "one. n/a: not measured."
)


def section(analysis: Analysis, drawn: Sequence[Figure] = ()) -> Section:
    """Return the section about what was published; an empty one if nothing was."""
    if not analysis.beside:
        return Section("", ())
    source, summary = published_groups.source(analysis), published_groups.summary(analysis)
    return Section(
        "Beside the published figures",
        (
            Paragraph(f"{source}. {summary}."),
            Paragraph(NOTE),
            *drawn,
            *map(group_section, published_groups.groups(analysis)),
        ),
        anchor="published",
        contents="Published",
    )


def group_section(group: Group) -> Section:
    """Return a published table: its ratios with their reasons, and its figures."""
    why = tuple(Item(reason, name=whom, tone="warning") for reason, whom in published_groups.reasons(group))
    return Section(
        group.title,
        (
            Paragraph(group.place),
            ratios_table(group),
            Items(why),
            Section(f"Figures of {group.title}", (figures_table(group),), folded=bool(group.ratios)),
        ),
    )


# ---------------------------------------------------------------- tables


def ratios_table(group: Group) -> Table:
    """Return a row a ratio: published, measured, one over the other, what holds both back, and the mark."""
    parts = any(row.published.part is not None for row in group.ratios)
    several = len(group.measures) > 1
    return table(
        group.ratios,
        ("Ratio of", published_groups.compared),
        *([("Test", _part)] if parts else []),
        *(
            (factor_column(factor), lambda row, factor=factor: group.held(row).get(factor, ""))
            for factor in group.ratio_factors
        ),
        *([("In", lambda row: MEASURES[row.published.measure])] if several else []),
        (figures("Published"), lambda row: number(row.published.ratio)),
        (figures("Measured"), lambda row: with_bounds(row.measured) + extrapolated(row.extrapolated)),
        (figures("Measured / published"), lambda row: with_bounds(row.of_published)),
        *([(Column("Held back by"), group.held_back)] if group.has_limits else []),
        ("Mark", lambda row: row.mark),
        label=f"Ratios of {group.title}",
    )


def _part(row: BesideRatio | BesideFigure) -> str:
    return row.published.part or ""


def figures_table(group: Group) -> Table:
    """Return a row a figure: as published and as measured."""
    parts = any(row.published.part is not None for row in group.figures)
    return table(
        group.figures,
        *(
            (factor_column(factor), lambda row, factor=factor: group.levels(row).get(factor, ""))
            for factor in group.figure_factors
        ),
        *([("Test", _part)] if parts else []),
        ("In", lambda row: MEASURES[row.published.measure]),
        (figures("Published"), lambda row: printed(row.published.value)),
        (figures("Measured"), lambda row: with_bounds(row.measured) + extrapolated(row.extrapolated)),
        label=f"Figures of {group.title}",
        heads=len(group.figure_factors),
    )
