"""pgbench's own transactions, after TPC-B."""

from typing import ClassVar, Literal

from pydantic import Field

from diskproof.study.loads.base import FIXED_BYTES, Preloaded
from diskproof.study.loads.described import OF_PROGRAM, described, options_of
from diskproof.wording import Message, say

BRANCH_BYTES = 16 * 2**20
"""A branch with its 100,000 accounts and their index, on PostgreSQL 15 (MariaDB: 13 MiB)."""

ACCOUNTS, TELLERS = 100_000, 10
"""Of a branch."""


@described("pgbench")
class Pgbench(Preloaded):
    """pgbench's own transactions, after TPC-B, on tables by its rules."""

    sized_by: ClassVar[tuple[str, ...]] = ("scale",)
    kind: Literal["pgbench"] = Field(description="Kind of workload")
    scale: int = OF_PROGRAM

    @property
    def in_short(self) -> Message:
        """What a transaction is."""
        return say("pgbench's {names}", names=", ".join(self._transactions))

    @property
    def total_rows(self) -> int:
        """Accounts, tellers and branches; the history comes with the load."""
        return self.scale * (ACCOUNTS + TELLERS + 1)

    @property
    def data_bytes(self) -> int:
        """Size of the tables with their indexes and of the logs."""
        return self.scale * BRANCH_BYTES + FIXED_BYTES

    @property
    def writes(self) -> bool:
        """Whether it changes balances."""
        return any(name.partition("@")[0] != "select-only" for name in self._transactions)

    @property
    def _transactions(self) -> list[str]:
        """Return what clients run; of a study without any, what the program runs by itself."""
        return self.builtin or [options_of("pgbench")["builtin"]["default"]]
