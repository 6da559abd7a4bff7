"""What is recorded of TPC-C: the inputs that a run drew, and what a check of its tables found.

Clauses are those of the TPC-C Standard Specification, revision 5.11 (2010).
"""

from typing import Literal

from diskproof.results.record import Record
from diskproof.wording.numbers import count

Kind = Literal["new_order", "payment", "order_status", "delivery", "stock_level"]

KINDS: tuple[Kind, ...] = ("new_order", "payment", "order_status", "delivery", "stock_level")
"""The five transactions, in the order of the specification."""

DEFERRED = "deferred_delivery"
"""A delivery that is executed after its terminal has gone on."""


class Constants(Record):
    """The constants C of NURand in a run (clause 2.1.6.1)."""

    last_name: int
    customer: int
    item: int


class Deferred(Record):
    """Deliveries that were queued, and executed apart (clause 2.7.2)."""

    queued: int
    done: int
    done_in_time: int
    """Within 80 s of being queued."""
    longest_s: float

    @property
    def keeps_limit(self) -> bool:
        """Whether nine of ten were done in time (clause 2.7.2.2)."""
        return self.done_in_time >= 0.9 * self.done


class Inputs(Record):
    """What the terminals entered since they began, the warm-up included: draws do not depend on the phase."""

    warehouses: int
    terminals: int
    think_times: bool
    constants: Constants
    load_constant: int
    """The constant C for last names while the tables were loaded."""
    begun: list[int]
    """Transactions of each of `KINDS`; one that is run again counts once."""
    rolled_back: int
    """New orders with an unused item."""
    lines: int
    remote_lines: int
    line_counts: list[int]
    """Orders with 5, 6, … 15 lines."""
    items: list[int]
    """Lines in bins of 1,000 items."""
    remote_payments: int
    by_last_name: int
    """Of payments and order statuses."""
    customers: list[int]
    """Customer numbers in bins of 100."""
    last_names: list[int]
    """Numbers of last names in bins of 10."""
    districts: list[int]
    deferred: Deferred | None = None
    """None if terminals execute their deliveries themselves."""

    def drawn(self, kind: Kind) -> int:
        """Return how many transactions of a kind were begun."""
        return self.begun[KINDS.index(kind)]


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
    first_warehouse: int | None = None
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
