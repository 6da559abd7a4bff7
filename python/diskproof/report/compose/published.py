"""What was published beside what was measured: a table of ratios and one of figures a published table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from diskproof.analysis.answers import Analysis
from diskproof.analysis.published.marks import SIZE_BAND, TIE
from diskproof.analysis.published.shapes import BesideFigure, BesideRatio
from diskproof.report.compose import published_groups
from diskproof.report.compose.published_groups import MEASURES, Group
from diskproof.report.compose.tables import factor_column, figures, table
from diskproof.report.document import Block, Column, Figure, Item, Items, Line, Paragraph, Section, Table
from diskproof.report.intervals import extrapolated, with_bounds
from diskproof.results.published import PublishedMeasure
from diskproof.wording.numbers import NOT_OBSERVED, number, printed

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
    groups = published_groups.groups(analysis)
    blocks: list[Block | Section] = [
        Paragraph(
            f"{published_groups.source(analysis)}. {published_groups.summary(analysis)}.", style="lead"
        ),
        Paragraph(NOTE),
        *drawn,
    ]
    blocks += [replace(group_section(one)) for one in groups]
    return Section("Beside the published figures", tuple(blocks), anchor="published", contents="Published")


def group_section(group: Group) -> Section:
    """Return a published table: its ratios with their reasons, and its figures."""
    place: Block = Paragraph(group.place, style="note")
    return Section(group.title, (place, *_ratios(group), *_figures(group)))


def _ratios(group: Group) -> Iterator[Block]:
    if group.ratios:
        yield ratios_table(group)
    yield _reasons(published_groups.reasons(group))


def _figures(group: Group) -> Iterator[Block | Section]:
    if group.figures:
        content: tuple[Block, ...] = (
            figures_table(group),
            *(Paragraph(f"n/a: {why}.") for why in published_groups.missing(group)),
        )
        yield Section(f"Figures of {group.title}", content, folded=bool(group.ratios))


def _reasons(found: Sequence[tuple[str, Sequence[str]]]) -> Items:
    items = [Item(whom, tone="warning", lines=tuple(map(Line, why))) for whom, why in found]
    return Items(tuple(items))


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
    """Return a row a cell and test: every measure as published and as measured."""
    measures = [one for one in MEASURES if any(row.published.measure == one for row in group.figures)]
    parts = any(row.published.part is not None for row in group.figures)
    return table(
        published_groups.figure_rows(group),
        *(
            (factor_column(factor), lambda row, factor=factor: group.levels(row[0]).get(factor, ""))
            for factor in group.figure_factors
        ),
        *([("Test", lambda row: _part(row[0]))] if parts else []),
        *(
            column
            for one in measures
            for column in (
                (figures(f"{MEASURES[one]} published"), lambda row, one=one: _published(row[1], one)),
                (figures("Measured"), lambda row, one=one: _measured(row[1], one)),
            )
        ),
        label=f"Figures of {group.title}",
        heads=len(group.figure_factors),
    )


ByMeasure = dict[PublishedMeasure, BesideFigure]


def _published(row: ByMeasure, measure: PublishedMeasure) -> str:
    return printed(row[measure].published.value) if measure in row else NOT_OBSERVED


def _measured(row: ByMeasure, measure: PublishedMeasure) -> str:
    if measure not in row:
        return NOT_OBSERVED
    return with_bounds(row[measure].measured) + extrapolated(row[measure].extrapolated)
