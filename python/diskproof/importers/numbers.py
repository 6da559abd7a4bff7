"""Figures out of a text: finite, not negative, and with the line that they stand in."""

import math

from diskproof.importers.base import ImportRefusedError, Text

MOST = 1e18
"""No tool's figure is larger: in bytes an exabyte, in nanoseconds thirty years."""

LONGEST = 40
"""Characters of a figure; what is longer is none."""


def broken(text: Text, line: int, why: str) -> ImportRefusedError:
    """Return the refusal of a text, with file and line (from 1)."""
    return ImportRefusedError(f"{text.file}, line {line}: {why}; give the tool's output as it was printed")


def number(text: Text, line: int, told: str, what: str) -> float:
    """Return a figure as printed; ImportRefusedError if it is not one.

    A comma makes it none, for it may part thousands or decimals.
    """
    try:
        # Python itself would take `1_000`, and the digits of other scripts.
        value = float(told) if len(told) <= LONGEST and told.isascii() and "_" not in told else math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value <= MOST:
        raise broken(text, line, f"{what} is {told[:LONGEST]!r}, not a figure")
    return value


def count(text: Text, line: int, told: str, what: str) -> int:
    """Return a whole number as printed; ImportRefusedError if it is not one."""
    value = number(text, line, told, what)
    if value != int(value):
        raise broken(text, line, f"{what} is {told[:LONGEST]!r}, not a whole number")
    return int(told) if told.isdecimal() else int(value)


def whole(told: str | None) -> int | None:
    """Return a whole number of a bounded length; None of anything else."""
    return int(told) if told and told.isascii() and told.isdecimal() and len(told) < 16 else None
