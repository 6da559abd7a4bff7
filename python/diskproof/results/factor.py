"""The factors that a study varies."""

from typing import Literal

Factor = Literal["server", "storage", "tuning", "workload", "memory", "clients", "host"]

FACTORS: tuple[Factor, ...] = ("server", "storage", "tuning", "workload", "memory", "clients", "host")

CutFactor = Factor | Literal["fault"]
"""Cuts have one more: what befalls the disks."""
