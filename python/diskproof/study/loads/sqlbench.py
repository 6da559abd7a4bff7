"""sql-bench's nine tests."""

from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, field_validator

from diskproof.study.loads.base import FIXED_BYTES, RUN, Load, Option
from diskproof.wording import Message, say

BYTES_AT_SCALE_1 = 2 * 2**30
"""Tables and logs of the largest test, with room to spare."""

LIMIT_S = 600.0
"""sql-bench's own limit of a loop."""

Test = Literal[
    "alter-table",
    "ATIS",
    "big-tables",
    "connect",
    "create",
    "insert",
    "select",
    "transactions",
    "wisconsin",
]


class Span(NamedTuple):
    """How long a test takes, roughly: MariaDB at `fast` on a disk, with two cores."""

    operations: int
    """Each has the limit to itself."""
    least_s: float
    """At the smallest scale: some tables are made at any scale."""
    at_scale_1_s: float


SPANS: dict[Test, Span] = {
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


class SqlBench(Load):
    """sql-bench's operations, one after the other. A job."""

    is_job: ClassVar[bool] = True
    takes_seed: ClassVar[bool] = False
    rehearses: ClassVar[bool] = False
    kind: Literal["sqlbench"] = Field(description="Kind of workload")
    tests: Annotated[list[Test] | None, RUN] = Field(
        None, min_length=1, description="Tests to run, in sql-bench's order; default: all nine"
    )
    scale: Annotated[float, RUN] = Field(
        1.0, ge=0.001, le=1, description="Shrinks loops and tables; 1: sql-bench's own counts"
    )
    limit_s: Annotated[float, Option(("run",), "limit-seconds")] = Field(
        LIMIT_S,
        gt=0,
        le=86_400,
        description="Seconds after which a loop is cut short and its time extrapolated, with a mark",
    )
    engine: Annotated[str | None, RUN] = Field(
        None, description="Storage engine of the tables (MySQL family), such as `MyISAM`"
    )

    @field_validator("tests")
    @classmethod
    def _each_once(cls, tests: list[Test] | None) -> list[Test] | None:
        if tests and len(set(tests)) != len(tests):
            raise ValueError("a test is here twice")
        return tests

    @property
    def in_short(self) -> Message:
        """What its statements are."""
        return say("sql-bench's operations")

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
