"""The shapes of what speed costs to buy: storages and cells with their prices."""

from typing import Literal

from pydantic import Field

from diskproof.results.plan import Cell
from diskproof.results.prices import Price
from diskproof.results.record import Record
from diskproof.stats.intervals import Interval
from diskproof.wording import Message

Basis = Literal["purchase", "month"]
"""What an amount is for: ``purchase``, to own it; ``month``, to have it for a month."""


class StoragePrice(Record):
    """What a storage costs, and what it holds."""

    storage: str
    bought: list[str]
    """Its devices, by the study's names."""
    amount: float
    usable_bytes: int
    """Size as sold of the devices that hold the data: of the one named first, and those alike."""
    amount_per_gb: float
    """Of 10**9 of those bytes."""


class CellPrice(Record):
    """What the speed of one cell costs: its storage, and nothing else of the machine."""

    cell: Cell
    amount: float
    """Price of the storage."""
    speed: Interval
    """Transactions a second."""
    per_1000_per_s: Interval | None
    """Price over thousands of transactions a second; None: `bars`."""
    bars: list[Message] = Field(default_factory=list)
    """Why it must not be compared, as for verdicts."""


class Prices(Record):
    """What the storages of a run cost, and what their speed does; all amounts in one currency."""

    currency: str
    basis: Basis
    devices: list[Price]
    """Every device that was bought, once."""
    storages: list[StoragePrice]
    unpriced: list[str]
    """The storages that the study gives no price for."""
    cells: list[CellPrice]
