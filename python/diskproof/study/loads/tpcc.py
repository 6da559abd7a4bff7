"""TPC-C: the five transactions of a wholesale supplier."""

from typing import ClassVar, Literal

from pydantic import Field

from diskproof.study.loads.base import FIXED_BYTES, Preloaded
from diskproof.study.loads.described import OF_PROGRAM, described

WAREHOUSE_ROWS = 1 + 10 + 3 * 30_000 + 9_000 + 300_000 + 100_000
"""Of all tables, on average: an order has ten lines."""

ITEM_ROWS = 100_000

WAREHOUSE_BYTES = 110 * 2**20
"""On disk with indexes, at its largest: PostgreSQL's and MariaDB's files of one warehouse."""

ITEM_BYTES = 14 * 2**20


@described("tpcc")
class Tpcc(Preloaded):
    """TPC-C's five transactions, with proof that it was TPC-C: see [tpcc.md](tpcc.md)."""

    does: ClassVar[str] = "TPC-C-like, no think time"
    sized_by: ClassVar[tuple[str, ...]] = ("warehouses",)
    kind: Literal["tpcc"] = Field(description="Kind of workload")
    warehouses: int = OF_PROGRAM

    @property
    def checked_by(self) -> list[str]:
        """The arguments of `check`: the size that the tables must have."""
        return ["--warehouses", str(self.warehouses)]

    @property
    def total_rows(self) -> int:
        """Rows of all tables, within a thousandth: orders have 5 to 15 lines."""
        return self.warehouses * WAREHOUSE_ROWS + ITEM_ROWS

    @property
    def data_bytes(self) -> int:
        """Size of the tables with their indexes and of the logs."""
        return self.warehouses * WAREHOUSE_BYTES + ITEM_BYTES + FIXED_BYTES
