"""What a table is: plain rows of text, and the columns that all tables of cells begin with."""

from dataclasses import dataclass

from diskproof.analysis.answers import Analysis
from diskproof.results.factor import Factor


@dataclass(frozen=True)
class Column:
    """A column's heading, and whether its entries are figures (to be set flush right)."""

    title: str
    figures: bool = False


@dataclass(frozen=True)
class Table:
    """Headings and rows; every row has as many entries as there are columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    def without(self, title: str) -> "Table":
        """Return the table with one column less."""
        kept = [index for index, column in enumerate(self.columns) if column.title != title]
        return Table(
            tuple(self.columns[index] for index in kept),
            tuple(tuple(row[index] for index in kept) for row in self.rows),
        )

    def renamed(self, title: str, new_title: str) -> "Table":
        """Return the table with another heading over one column."""
        columns = (
            Column(new_title, column.figures) if column.title == title else column for column in self.columns
        )
        return Table(tuple(columns), self.rows)


def factor_column(factor: Factor) -> Column:
    """Return the column of a factor's levels."""
    return Column(factor.capitalize(), figures=factor in {"clients", "memory"})


def shown_factors(analysis: Analysis) -> tuple[Factor, ...]:
    """Return the factors that tell the cells apart; storage alone where there is a single cell."""
    return tuple(analysis.varying) or ("storage",)
