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
    """Return a figure as printed, with a point or a decimal comma; ImportRefusedError where it is none."""
    try:
        value = float(told.replace(",", ".")) if len(told) <= LONGEST else math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value <= MOST:
        raise broken(text, line, f"{what} is {told[:LONGEST]!r}, which is no figure")
    return value


def count(text: Text, line: int, told: str, what: str) -> int:
    """Return a whole number as printed; ImportRefusedError where it is none."""
    value = number(text, line, told, what)
    if value != int(value):
        raise broken(text, line, f"{what} is {told[:LONGEST]!r}, which is no whole number")
    return int(told) if told.isdecimal() else int(value)
