"""sql-bench's nine tests."""

from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from diskproof.study.loads.base import FIXED_BYTES, Load
from diskproof.study.loads.described import OF_PROGRAM, described

BYTES_AT_SCALE_1 = 2 * 2**30
"""Tables and logs of the largest test, with room to spare."""


class Span(NamedTuple):
    """How long a test takes, roughly: MariaDB at `fast` on a disk, with two cores."""

    operations: int
    """Each has the limit to itself."""
    least_s: float
    """At the smallest scale: some tables are made at any scale."""
    at_scale_1_s: float


SPANS: dict[str, Span] = {
    "alter-table": Span(5, 1.0, 100.0),
    "ATIS": Span(8, 2.0, 60.0),
    "big-tables": Span(2, 0.1, 10.0),
    "connect": Span(10, 0.5, 200.0),
    "create": Span(5, 1.0, 2_000.0),
    "insert": Span(49, 0.5, 600.0),
    "select": Span(15, 0.2, 80.0),
    "transactions": Span(9, 0.2, 60.0),
    "wisconsin": Span(4, 0.1, 10.0),
}


@described("sqlbench", called={"limit-seconds": "limit_s"})
class SqlBench(Load):
    """sql-bench's operations, one after the other. A job."""

    is_job: ClassVar[bool] = True
    takes_seed: ClassVar[bool] = False
    rehearses: ClassVar[bool] = False
    does: ClassVar[str] = "sql-bench's operations"
    kind: Literal["sqlbench"] = Field(description="Kind of workload")
    scale: float = OF_PROGRAM
    limit_s: float = OF_PROGRAM

    @property
    def data_bytes(self) -> int:
        """Size of the largest test's tables and logs."""
        return round(self.scale * BYTES_AT_SCALE_1) + FIXED_BYTES

    @property
    def expected_s(self) -> float:
        """Seconds of the chosen tests' operations, roughly, none beyond the limit."""
        spans = [SPANS[test] for test in self.tests or SPANS]
        return sum(
            min(max(span.least_s, self.scale * span.at_scale_1_s), span.operations * self.limit_s)
            for span in spans
        )
