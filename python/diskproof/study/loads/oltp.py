"""sysbench's OLTP family."""

from typing import Annotated, Literal

from pydantic import Field

from diskproof.study.loads.base import (
    BOTH,
    FIXED_BYTES,
    MAX_ROWS,
    MAX_TABLES,
    PREPARE,
    RUN,
    Option,
    Preloaded,
)
from diskproof.wording import Message, say

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


TRANSACTIONS: dict[Mix, str] = {
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


Distribution = Literal["special", "special-1.0.20", "uniform", "zipfian", "pareto", "gaussian"]

Count = Annotated[int, Field(ge=0, le=10_000)]


class Oltp(Preloaded):
    """sysbench's OLTP transactions."""

    kind: Literal["oltp"] = Field("oltp", description="Kind of workload")
    schema_: Annotated[Literal["sbtestN", "sbtest"] | None, Option(("prepare", "run"), "schema")] = Field(
        None,
        alias="schema",
        description="Generation of the tables: `sbtestN` as in sysbench 0.5 and 1.0, or `sbtest`, the single "
        "table of 0.4. Default: `sbtestN`",
    )
    tables: Annotated[int, BOTH] = Field(1, ge=1, le=MAX_TABLES, description="Number of tables")
    rows: Annotated[int, BOTH] = Field(10_000, ge=1, le=MAX_ROWS, description="Rows in each table")
    mix: Annotated[Mix, BOTH] = Field(
        "complex", description="Statements of a transaction; `complex` is sysbench's legacy oltp.lua"
    )
    distribution: Annotated[Distribution, BOTH] = Field(
        "special",
        description="How row ids are drawn; `special`: three quarters fall on 1 % of the rows, "
        "`special-1.0.20`: as that version draws them",
    )
    special_window: Annotated[int | None, BOTH] = Field(
        None, ge=1, le=100, description="`special`: the hot rows' share of the table in percent; default: 1"
    )
    special_hot: Annotated[int | None, BOTH] = Field(
        None,
        ge=0,
        le=99,
        description="`special`: the hot rows' share of the accesses in percent; default: 75",
    )
    bell_draws: Annotated[int | None, BOTH] = Field(
        None, ge=1, le=1_000, description="`special`, `gaussian`: uniform draws in a mean; default: 12"
    )
    pareto_h: Annotated[float | None, BOTH] = Field(
        None,
        gt=0,
        lt=1,
        description="`pareto`: share of the rows that takes 1 - h of the accesses; default: 0.2",
    )
    zipfian_exponent: Annotated[float | None, BOTH] = Field(
        None, ge=0, description="`zipfian`: the exponent; default: 0.8"
    )
    engine: Annotated[str | None, PREPARE] = Field(
        None, description="Storage engine of the tables (MySQL family), such as `InnoDB`"
    )
    protocol: Annotated[Literal["text", "prepared"] | None, RUN] = Field(
        None, description="Text or prepared statements; default: as sysbench does for the mix"
    )
    table_per: Annotated[Literal["transaction", "group"] | None, RUN] = Field(
        None, description="How long a client keeps the table that it drew; default: as sysbench does"
    )
    skip_trx: Annotated[bool, RUN] = Field(
        False, description="No BEGIN and no COMMIT: every statement commits itself"
    )
    engine_trx: Annotated[Literal["auto", "yes", "no"] | None, RUN] = Field(
        None,
        description="Whether the tables' engine has transactions; if not, LOCK TABLES replaces BEGIN. "
        "Default: `auto`",
    )
    reconnect: Annotated[int | None, RUN] = Field(
        None,
        ge=1,
        description="Transactions after which a client reconnects; default: never",
    )
    point_selects: Annotated[Count | None, RUN] = Field(
        None, description="SELECTs by primary key; default: 10"
    )
    simple_ranges: Annotated[Count | None, RUN] = Field(None, description="SELECTs of a range; default: 1")
    sum_ranges: Annotated[Count | None, RUN] = Field(
        None, description="SELECTs of SUM(k) over a range; default: 1"
    )
    order_ranges: Annotated[Count | None, RUN] = Field(
        None, description="SELECTs of a range in the order of c; default: 1"
    )
    distinct_ranges: Annotated[Count | None, RUN] = Field(
        None, description="SELECTs of a range's different c; default: 1"
    )
    index_updates: Annotated[Count | None, RUN] = Field(
        None, description="UPDATEs of the indexed column; default: 1"
    )
    non_index_updates: Annotated[Count | None, RUN] = Field(
        None, description="UPDATEs of a column without index; default: 1"
    )
    delete_inserts: Annotated[Count | None, RUN] = Field(
        None, description="DELETEs, each with the INSERT that puts the row back; default: 1"
    )
    range_size: Annotated[int | None, RUN] = Field(
        None, ge=1, le=1_000_000, description="Rows of a range; default: 100"
    )
    update_before_delete: Annotated[bool, RUN] = Field(
        False,
        description='One more UPDATE: the 21 statements of sysbench 0.4.12 and older (`schema = "sbtest"`)',
    )

    @property
    def in_short(self) -> Message:
        """What a transaction is."""
        return say("{what} (sysbench's `{mix}`)", mix=self.mix, what=TRANSACTIONS[self.mix])

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
