"""Whether a server's answer means what was asked for: ``128M`` and ``134217728``, ``on`` and ``1``."""

import re

_TRUE = {"on", "1", "true", "yes"}
_FALSE = {"off", "0", "false", "no"}

_BYTES = {
    "b": 1,
    "k": 2**10,
    "kb": 2**10,
    "m": 2**20,
    "mb": 2**20,
    "g": 2**30,
    "gb": 2**30,
    "t": 2**40,
    "tb": 2**40,
}
"""Size suffixes of the MySQL family (K, M, G, T) and of PostgreSQL (B, kB, MB, GB, TB)."""

_MICROSECONDS = {
    "us": 1.0,
    "ms": 1e3,
    "s": 1e6,
    "min": 60e6,
    "h": 3600e6,
    "d": 86400e6,
}
"""Duration suffixes of PostgreSQL."""

_QUANTITY = re.compile(r"(-?\d+(?:\.\d+)?)\s*([a-z]*)")


def same(requested: str, observed: str, *, unit: str = "") -> bool:
    """Tell whether two spellings name one value.

    `unit` is what a bare number counts in, as PostgreSQL names it (``8kB``, ``ms``); it applies to
    both sides.
    """
    left, right = _plain(requested), _plain(observed)
    if left == right:
        return True
    if (left in _TRUE and right in _TRUE) or (left in _FALSE and right in _FALSE):
        return True
    quantities = (_quantity(left, unit.lower()), _quantity(right, unit.lower()))
    if None not in quantities:
        return quantities[0] == quantities[1]
    return "," in left and sorted(left.split(",")) == sorted(right.split(","))


def as_bytes(value: str) -> float | None:
    """Return a size or a plain number (``128M``, ``131072kB``, ``50``); None for anything else."""
    quantity = _quantity(_plain(value), "")
    return quantity[1] if quantity and quantity[0] == "number" else None


def _plain(text: str) -> str:
    """Drop what never matters: case, outer space and quotes, the last slash of a path."""
    return text.strip().strip("'\"").rstrip("/").casefold()


def _quantity(text: str, unit: str) -> tuple[str, float] | None:
    """Return (dimension, amount) of a number with or without a suffix; None for anything else."""
    found = _QUANTITY.fullmatch(text)
    if not found:
        return None
    amount, suffix = float(found[1]), found[2]
    if not suffix:
        base = _QUANTITY.fullmatch(unit) or re.fullmatch(r"()([a-z]*)", unit)
        if base is None:
            return None
        amount, suffix = amount * float(base[1] or 1), base[2]
    if suffix in _BYTES:
        return "number", amount * _BYTES[suffix]
    if suffix in _MICROSECONDS:
        return "duration", amount * _MICROSECONDS[suffix]
    return ("number", amount) if not suffix else None
