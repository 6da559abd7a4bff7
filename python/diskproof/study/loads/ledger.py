"""Numbered transfers between accounts: each commit can be searched for afterwards."""

from typing import Annotated, Literal

from pydantic import Field

from diskproof.study.loads.base import BOTH, FIXED_BYTES, RUN, Steady
from diskproof.wording import Message, say

ROW_BYTES = 110
"""An account on disk without its filler: what MariaDB's file of 200,000 accounts takes (SQLite's: 17)."""


class Ledger(Steady):
    """Each transaction moves an amount from one account to another, and writes a numbered entry."""

    kind: Literal["ledger"] = Field(description="Kind of workload")
    accounts: Annotated[int, BOTH] = Field(1_000, ge=2, le=10_000_000, description="Accounts")
    filler_bytes: Annotated[int, BOTH] = Field(
        100, ge=0, le=4_000, description="Further bytes in each account and each entry"
    )
    protocol: Annotated[Literal["text", "prepared"] | None, RUN] = Field(
        None, description="Text or prepared statements; default: prepared"
    )

    @property
    def in_short(self) -> Message:
        """What a transaction is."""
        return say("a transfer between two accounts and a commit")

    @property
    def data_name(self) -> str:
        """A few words for the data set in file names."""
        return f"ledger-{self.accounts}"

    @property
    def total_rows(self) -> int:
        """Accounts; entries come with the load."""
        return self.accounts

    @property
    def data_bytes(self) -> int:
        """Size of the accounts on disk, logs included."""
        return self.accounts * (ROW_BYTES + self.filler_bytes) + FIXED_BYTES
