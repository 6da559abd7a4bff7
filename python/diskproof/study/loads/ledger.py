"""Numbered transfers between accounts: each commit can be searched for afterwards."""

from typing import ClassVar, Literal

from pydantic import Field

from diskproof.study.loads.base import FIXED_BYTES, Steady
from diskproof.study.loads.described import OF_PROGRAM, described

ROW_BYTES = 110
"""An account on disk without its filler: what MariaDB's file of 200,000 accounts takes (SQLite's: 17)."""


@described("ledger")
class Ledger(Steady):
    """Each transaction moves an amount from one account to another, and writes a numbered entry."""

    does: ClassVar[str] = "a transfer between two accounts and a commit"
    sized_by: ClassVar[tuple[str, ...]] = ("accounts",)
    kind: Literal["ledger"] = Field(description="Kind of workload")
    accounts: int = OF_PROGRAM
    filler_bytes: int = OF_PROGRAM

    @property
    def total_rows(self) -> int:
        """Accounts; entries come with the load."""
        return self.accounts

    @property
    def data_bytes(self) -> int:
        """Size of the accounts on disk, logs included."""
        return self.accounts * (ROW_BYTES + self.filler_bytes) + FIXED_BYTES
