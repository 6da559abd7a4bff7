"""The factors that a study varies."""

from typing import Literal

Factor = Literal["server", "storage", "tuning", "workload", "memory", "clients"]

FACTORS: tuple[Factor, ...] = ("server", "storage", "tuning", "workload", "memory", "clients")
