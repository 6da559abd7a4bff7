"""What storage costs."""

from typing import Literal

from diskproof.results.record import Record


class Price(Record):
    """The price of one device of a storage."""

    device: str
    """As the study calls it."""
    currency: str
    amount: float
    per: Literal["device", "month"]
    """``device``: bought once, and used for `years`; ``month``: rented."""
    size_bytes: int
    """What one gets for it, in bytes."""
    years: float
    """How long a device that was bought is used; without meaning for one that is rented."""
    source: str
