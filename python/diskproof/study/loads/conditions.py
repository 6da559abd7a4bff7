"""A detector's conditions database."""

from typing import Annotated, Literal

from pydantic import Field

from diskproof.study.loads.base import BOTH, FIXED_BYTES, MAX_ROWS, MAX_TABLES, PREPARE, RUN, Steady
from diskproof.wording import Message, say

OVERHEAD_BYTES = 150
"""An entry's own columns and its index beside the payload."""


class Conditions(Steady):
    """A detector's conditions database: the latest entry not after a time, from many tables at once."""

    kind: Literal["conditions"] = Field(description="Kind of workload")
    tables: Annotated[int, BOTH] = Field(100, ge=1, le=MAX_TABLES, description="Number of tables")
    rows: Annotated[int, BOTH] = Field(10_000, ge=1, le=MAX_ROWS, description="Entries in each table")
    payload_bytes: Annotated[int, BOTH] = Field(
        200, ge=1, le=60_000, description="Bytes of an entry's payload"
    )
    elements: Annotated[int | None, BOTH] = Field(
        None, ge=1, le=32_767, description="Parts of the detector with entries of their own; default: 1"
    )
    days: Annotated[int | None, BOTH] = Field(
        None, ge=1, le=100_000, description="Days over which the entries begin; default: 3650"
    )
    tables_per_visit: Annotated[int | None, RUN] = Field(
        None,
        ge=1,
        le=MAX_TABLES,
        description="Tables that a client queries in one visit, which is a transaction; default: 20",
    )
    hot_percent: Annotated[float, RUN] = Field(
        90, ge=0, le=100, description="Percentage of the visits that query the last hours"
    )
    hot_hours: Annotated[int | None, RUN] = Field(
        None, ge=1, le=876_000, description="Length of the hot period in hours; default: 24"
    )
    appends: Annotated[float, RUN] = Field(
        0.001, ge=0, le=1, description="Share of the questions that append an entry instead"
    )
    stay: Annotated[bool, RUN] = Field(
        False, description="Clients stay connected; default: every visit begins with a new connection"
    )
    protocol: Annotated[Literal["text", "prepared"] | None, RUN] = Field(
        None, description="Text or prepared statements; default: text"
    )
    engine: Annotated[str | None, PREPARE] = Field(
        None, description="Storage engine of the tables (MySQL family), such as `InnoDB`"
    )

    @property
    def in_short(self) -> Message:
        """What a transaction is."""
        return say("visits to a detector's conditions database")

    @property
    def data_name(self) -> str:
        """A few words for the data set in file names."""
        return f"{self.kind}-{self.tables}x{self.rows}"

    @property
    def total_rows(self) -> int:
        """Entries of all tables together."""
        return self.tables * self.rows

    @property
    def data_bytes(self) -> int:
        """Size of the tables with their indexes and of the logs."""
        return self.total_rows * (self.payload_bytes + OVERHEAD_BYTES) + FIXED_BYTES

    @property
    def writes(self) -> bool:
        """Whether entries are appended."""
        return self.appends > 0
