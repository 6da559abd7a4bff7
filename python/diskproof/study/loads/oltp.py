"""sysbench's OLTP family."""

from typing import Annotated, Literal

from pydantic import Field

from diskproof.study.loads.base import BOTH, FIXED_BYTES, MAX_ROWS, MAX_TABLES, PREPARE, RUN, Steady

ROW_BYTES = 230
"""One row on disk with its indexes: 5 million rows are 1.15 GB in InnoDB."""

Mix = Literal[
    "complex",
    "read-only",
    "read-write",
    "write-only",
    "point-select",
    "update-index",
    "update-non-index",
    "insert",
    "delete",
]


class Oltp(Steady):
    """sysbench's OLTP transactions."""

    kind: Literal["oltp"] = Field("oltp", description="Kind of workload")
    tables: Annotated[int, BOTH] = Field(1, ge=1, le=MAX_TABLES, description="Number of tables")
    rows: Annotated[int, BOTH] = Field(10_000, ge=1, le=MAX_ROWS, description="Rows in each table")
    mix: Annotated[Mix, BOTH] = Field(
        "complex", description="Statements of a transaction; `complex` is sysbench's legacy oltp.lua"
    )
    distribution: Annotated[Literal["special", "uniform", "zipfian"], BOTH] = Field(
        "special", description="How row ids are drawn; `special`: three quarters fall on 1 % of the rows"
    )
    engine: Annotated[str | None, PREPARE] = Field(
        None, description="Storage engine of the tables (MySQL family), such as `InnoDB`"
    )
    protocol: Annotated[Literal["text", "prepared"] | None, RUN] = Field(
        None, description="Text or prepared statements; without it as sysbench does for the mix"
    )

    @property
    def data_name(self) -> str:
        """A few words for the data set in file names."""
        return f"{self.kind}-{self.tables}x{self.rows}"

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

    @property
    def declared_engine(self) -> str | None:
        """Storage engine that the tables must have."""
        return self.engine
