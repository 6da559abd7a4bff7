"""What tables of cells share: each column beside the function that fills it."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from diskproof.analysis.answers import Analysis
from diskproof.report.document import Column, Paragraph, Section, Table
from diskproof.results.factor import CutFactor
from diskproof.results.plan import Cell

Row = TypeVar("Row")


class OfCell(Protocol):
    """Something that is said of a cell."""

    @property
    def cell(self) -> Cell:
        """The cell."""


CellRow = TypeVar("CellRow", bound=OfCell)


def table(
    rows: Iterable[Row], *columns: tuple[Column | str, Callable[[Row], str]], label: str = "", heads: int = 1
) -> Table:
    """Return a table of columns, each with the function that fills it."""
    return Table(
        tuple(Column(column) if isinstance(column, str) else column for column, _ in columns),
        tuple(tuple(entry(row) for _, entry in columns) for row in rows),
        label,
        heads,
    )


def cells_table(
    analysis: Analysis,
    rows: Iterable[CellRow],
    *columns: tuple[Column | str, Callable[[CellRow], str]],
    label: str = "",
) -> Table:
    """Return a table of what is said of cells, with the levels that tell the cells apart before it.

    Storage alone is before it if there is a single cell.
    """
    heads = levels(analysis.varying or ["storage"])
    return table(rows, *heads, *columns, label=label, heads=len(heads))


def noted(heading: str, note: str, content: Table, *, anchor: str = "") -> Section:
    """Return a table below a note, under a heading; an empty section if it has no rows.

    One with an anchor is listed among the contents.
    """
    blocks = (Paragraph(note), content) if content.rows else ()
    return Section(heading, blocks, anchor, heading if anchor else "")


def figures(title: str) -> Column:
    """Return a column of figures."""
    return Column(title, figures=True)


def levels(factors: Sequence[CutFactor]) -> list[tuple[Column, Callable[[OfCell], str]]]:
    """Return a column for each of the factors that tell cells apart."""
    return [(factor_column(factor), partial(_level, factor)) for factor in factors]


def _level(factor: CutFactor, row: OfCell) -> str:
    return row.cell.level(factor)


def factor_column(factor: CutFactor) -> Column:
    """Return the column of a factor's levels."""
    return Column(factor.capitalize(), figures=factor in {"clients", "memory"})
