"""What is recorded of TPC-C: the inputs that a run drew, and what a check of its tables found.

Clauses are those of the TPC-C Standard Specification, revision 5.11 (2010).
"""

from typing import Literal

from pydantic import ConfigDict

from diskproof.results.record import Record
from diskproof.wording.numbers import count

Kind = Literal["new_order", "payment", "order_status", "delivery", "stock_level"]

KINDS: tuple[Kind, ...] = ("new_order", "payment", "order_status", "delivery", "stock_level")
"""The five transactions, in the order of the specification."""


class Inputs(Record):
    """What the terminals entered: the counts that prove it are kept as they came."""

    model_config = ConfigDict(extra="allow")

    warehouses: int
    think_times: bool = False
    """A version that made users think wrote this."""


class RowCount(Record):
    """The rows of a table."""

    table: str
    rows: int
    expected: int | None
    """What clause 1.2.1 has; None if the table grows."""

    @property
    def is_wrong(self) -> bool:
        """Whether rows are missing or too many."""
        return self.expected is not None and self.rows != self.expected


class Condition(Record):
    """One of the twelve consistency conditions (clause 3.3.2)."""

    number: int
    says: str
    places: str
    """What is counted: districts, orders and so on."""
    broken: int
    """Places that break it."""
    seconds: float


class Checked(Record):
    """The tables held to the specification."""

    warehouses: int
    rows: list[RowCount]
    conditions: list[Condition]

    @property
    def broken(self) -> list[Condition]:
        """The conditions that do not hold."""
        return [one for one in self.conditions if one.broken]

    @property
    def wrong_rows(self) -> list[RowCount]:
        """The tables that do not have their rows."""
        return [one for one in self.rows if one.is_wrong]

    @property
    def holds(self) -> bool:
        """Whether the tables are those of TPC-C, and consistent."""
        return not (self.broken or self.wrong_rows)

    @property
    def complaints(self) -> list[str]:
        """What is wrong, a line each."""
        rows = [f"{one.table} has {one.rows:,} rows, not {one.expected:,}" for one in self.wrong_rows]
        return [
            *rows,
            *(
                f"consistency condition {one.number} ({one.says}) is broken in "
                f"{count(one.broken, one.places.removesuffix('s'))}"
                for one in self.broken
            ),
        ]
