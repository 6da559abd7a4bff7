"""sysbench's OLTP family."""

from typing import ClassVar, Literal

from pydantic import Field

from diskproof.study.loads.base import FIXED_BYTES, Preloaded
from diskproof.study.loads.described import OF_PROGRAM, described
from diskproof.wording import Message, say

ROW_BYTES = 230
"""One row on disk with its indexes: 5 million rows are 1.15 GB in InnoDB."""

TRANSACTIONS = {
    "complex": "reads, writes and a commit",
    "read-only": "reads alone",
    "read-write": "reads, writes and a commit",
    "write-only": "writes and a commit",
    "point-select": "one read of a row by its key",
    "update-index": "one UPDATE of an indexed column",
    "update-non-index": "one UPDATE",
    "insert": "one INSERT",
    "delete": "one DELETE",
}
"""What a transaction of each mix is."""


@described("oltp")
class Oltp(Preloaded):
    """sysbench's OLTP transactions."""

    sized_by: ClassVar[tuple[str, ...]] = ("tables", "rows")
    kind: Literal["oltp"] = Field("oltp", description="Kind of workload")
    tables: int = OF_PROGRAM
    rows: int = OF_PROGRAM
    mix: str = "complex"
    distribution: str = OF_PROGRAM

    @property
    def in_short(self) -> Message:
        """What a transaction is."""
        return say("{what} (sysbench's `{mix}`)", mix=self.mix, what=TRANSACTIONS[self.mix])

    @property
    def total_rows(self) -> int:
        """Rows of all tables together."""
        return self.tables * self.rows

    @property
    def data_bytes(self) -> int:
        """Size of the tables with their indexes and of the logs."""
        return self.total_rows * ROW_BYTES + FIXED_BYTES

    @property
    def writes(self) -> bool:
        """Whether the mix changes data."""
        return self.mix not in ("read-only", "point-select")
