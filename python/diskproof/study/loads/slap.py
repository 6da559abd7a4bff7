"""mysqlslap's generated load."""

from typing import ClassVar, Literal, Self

from pydantic import Field

from diskproof.study.loads.base import FIXED_BYTES, Load
from diskproof.study.loads.described import OF_PROGRAM, described

ROW_BYTES = 200
"""One row of the default columns on disk."""

USUAL_CLIENTS = 100
"""For an estimate, if only the design says how many clients there are."""

STATEMENT_S = 1e-3
"""A statement on a small table, a scan of it included, on a small machine."""


@described("slap")
class Slap(Load):
    """mysqlslap's `--auto-generate-sql`: clients that share a number of statements. A job."""

    is_job: ClassVar[bool] = True
    does: ClassVar[str] = "mysqlslap's generated statements"
    kind: Literal["slap"] = Field(description="Kind of workload")
    load_type: str = OF_PROGRAM
    iterations: int = OF_PROGRAM
    queries_per_client: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Instead of `queries`: statements of a client in one iteration",
    )

    def _check_whole(self) -> None:
        if (self.queries is None) == (self.queries_per_client is None):
            raise ValueError("give either `queries` or `queries_per_client`")

    def for_clients(self, clients: int) -> Self:
        """Return the load with the statements of all clients counted."""
        if self.queries_per_client is None:
            return self
        counted = {"queries": self.queries_per_client * clients, "queries_per_client": None}
        return self.model_copy(update=counted)

    @property
    def _most_queries(self) -> int:
        """Statements of an iteration, at its most clients."""
        return self.queries or (self.queries_per_client or 1) * max(self.clients or [USUAL_CLIENTS])

    @property
    def data_bytes(self) -> int:
        """Size of the table at the end of an iteration, were every statement an INSERT."""
        return (self._most_queries + (self.write_number or 100)) * ROW_BYTES + FIXED_BYTES

    @property
    def writes(self) -> bool:
        """Whether the clients change data; the load before them always does."""
        return self.load_type in {"mixed", "write", "update"}

    @property
    def expected_s(self) -> float:
        """Seconds of all iterations, roughly."""
        return self.iterations * self._most_queries * STATEMENT_S
