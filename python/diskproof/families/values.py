"""Values of a server's variables: whether two spellings mean one value, and what is set."""

import re
from collections.abc import Mapping

Values = Mapping[str, str | None]
"""A server's variables; None of one without a value, or of one that was not read."""

ON = frozenset({"on", "1", "true", "yes"})
OFF = frozenset({"off", "0", "false", "no"})

_BYTES = {f"{prefix}{b}": 2 ** (10 * power) for power, prefix in enumerate("kmgt", 1) for b in ("", "b")}
"""Size suffixes of the MySQL family (K, M, G, T) and of PostgreSQL (kB, MB, GB, TB)."""

_MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6, "min": 60e6, "h": 3600e6, "d": 86400e6}
"""Duration suffixes of PostgreSQL."""

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([a-z]*)")


def same(requested: str, observed: str, *, unit: str = "") -> bool:
    """Return whether two spellings mean one value: ``128M`` and ``134217728``, ``on`` and ``1``.

    `unit` is what a bare number on either side counts in, as PostgreSQL names it (``8kB``, ``ms``).
    """
    left, right = _plain(requested), _plain(observed)
    if left == right or {left, right} <= ON or {left, right} <= OFF:
        return True
    quantities = (_quantity(left, unit.lower()), _quantity(right, unit.lower()))
    if None not in quantities:
        return quantities[0] == quantities[1]
    ours, theirs = _parts(left), _parts(right)
    # A variable of switches reads back whole, and an option sets some of them.
    return ours == theirs or (all("=" in one for one in ours) and ours <= theirs)


def as_bytes(value: str | None) -> float | None:
    """Return a size or a plain number (``128M``, ``131072kB``, ``50``); None for anything else."""
    quantity = _quantity(_plain(value), "") if value else None
    return quantity[1] if quantity and quantity[0] == "number" else None


def is_set(values: Values, name: str, *wanted: str) -> bool:
    """Return whether a variable is set to one of some values."""
    value = values.get(name)
    return value is not None and any(same(one, value) for one in wanted)


def is_off(values: Values, name: str) -> bool:
    """Return whether a variable is set to off."""
    return is_set(values, name, "OFF")


def as_switch(value: str | None) -> str:
    """Return a switch as servers report it; an option without a value is on."""
    if value is None or same(value, "on"):
        return "on"
    return "off" if same(value, "off") else value


def lower(values: Values, name: str) -> str:
    """Return a value in lower case; empty if it is not known."""
    return (values.get(name) or "").casefold()


def _plain(text: str) -> str:
    """Drop what never matters: case, outer space and quotes, the last slash of a path, utf8's other name."""
    plain = text.strip().strip("'\"").rstrip("/").casefold()
    return re.sub(r"^utf8mb3(?=_|$)", "utf8", plain)


def _parts(text: str) -> set[str]:
    return {one.strip() for one in text.split(",")}


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
    if suffix in _MICROSECONDS:
        return "duration", amount * _MICROSECONDS[suffix]
    size_bytes = {"": 1, "b": 1, **_BYTES}.get(suffix)
    return None if size_bytes is None else ("number", amount * size_bytes)
