"""mysqlslap's generated load."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from diskproof.study.loads.base import FIXED_BYTES, RUN, Load
from diskproof.wording import Message, say

ROW_BYTES = 200
"""One row of the default columns on disk."""

USUAL_CLIENTS = 100
"""For an estimate, if only the design says how many clients there are."""

STATEMENT_S = 1e-3
"""A statement on a small table, a scan of it included, on a small machine."""


class Slap(Load):
    """mysqlslap's `--auto-generate-sql`: clients that share a number of statements. A job."""

    is_job: ClassVar[bool] = True
    kind: Literal["slap"] = Field(description="Kind of workload")
    load_type: Annotated[Literal["mixed", "read", "key", "write", "update"], RUN] = Field(
        "mixed", description="What the statements are; `mixed`: INSERT and a full scan in turn"
    )
    queries: Annotated[int | None, RUN] = Field(
        None, ge=1, le=1_000_000_000, description="Statements of one iteration, shared among the clients"
    )
    queries_per_client: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Instead of `queries`: statements of a client in one iteration",
    )
    iterations: Annotated[int, RUN] = Field(
        1, ge=1, le=1_000, description="How often a trial makes the table and runs the load"
    )
    int_columns: Annotated[int | None, RUN] = Field(
        None, ge=0, le=500, description="Integer columns; default: 1"
    )
    char_columns: Annotated[int | None, RUN] = Field(
        None, ge=0, le=500, description="Character columns; default: 1"
    )
    write_number: Annotated[int | None, RUN] = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Statements that make and fill the table before the clients come, CREATE TABLE "
        "included; default: 100",
    )
    unique_queries: Annotated[int | None, RUN] = Field(
        None,
        ge=1,
        le=100_000,
        description="Different statements that a client goes through, less one; default: 10",
    )
    unique_write: Annotated[int | None, RUN] = Field(
        None, ge=1, le=100_000, description="Different INSERTs among those that fill the table; default: 10"
    )
    commit: Annotated[int | None, RUN] = Field(
        None, ge=1, le=1_000_000, description="Statements between two commits; default: each commits itself"
    )
    detach: Annotated[int | None, RUN] = Field(
        None, ge=1, le=1_000_000, description="Statements after which a client reconnects; default: never"
    )
    auto_increment: Annotated[bool, RUN] = Field(False, description="A primary key that counts up")
    guid_primary: Annotated[bool, RUN] = Field(False, description="A primary key of GUIDs")
    secondary_indexes: Annotated[int | None, RUN] = Field(None, ge=0, le=60, description="Secondary indexes")
    engine: Annotated[str | None, RUN] = Field(
        None, description="Storage engine of the table (MySQL family), such as `InnoDB`"
    )

    @model_validator(mode="after")
    def _statements_are_said_once(self) -> Self:
        if (self.queries is None) == (self.queries_per_client is None):
            raise ValueError("give either `queries` or `queries_per_client`")
        return self

    def for_clients(self, clients: int) -> Self:
        """Return the load with the statements of all clients counted."""
        if self.queries_per_client is None:
            return self
        counted = {"queries": self.queries_per_client * clients, "queries_per_client": None}
        return self.model_copy(update=counted)

    @property
    def in_short(self) -> Message:
        """What its statements are."""
        return say("mysqlslap's generated statements")

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
