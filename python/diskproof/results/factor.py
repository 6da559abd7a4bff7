"""The factors that a study varies."""

from typing import Literal, Protocol

Factor = Literal["server", "storage", "tuning", "workload", "memory", "clients", "host"]

FACTORS: tuple[Factor, ...] = ("server", "storage", "tuning", "workload", "memory", "clients", "host")


class Levelled(Protocol):
    """A cell that is measured, or cut."""

    def level(self, factor: Factor) -> str:
        """Return the level of one factor, as a person reads it."""
