"""A detector's conditions database."""

from typing import ClassVar, Literal

from pydantic import Field

from diskproof.study.loads.base import FIXED_BYTES, Steady
from diskproof.study.loads.described import OF_PROGRAM, described

OVERHEAD_BYTES = 150
"""An entry's own columns and its index beside the payload."""


@described("conditions")
class Conditions(Steady):
    """A detector's conditions database: the latest entry not after a time, from many tables at once."""

    does: ClassVar[str] = "visits to a detector's conditions database"
    sized_by: ClassVar[tuple[str, ...]] = ("tables", "rows")
    kind: Literal["conditions"] = Field(description="Kind of workload")
    tables: int = OF_PROGRAM
    rows: int = OF_PROGRAM
    payload_bytes: int = OF_PROGRAM
    hot_percent: float = OF_PROGRAM
    appends: float = OF_PROGRAM

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
