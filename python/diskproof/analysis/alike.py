"""Messages that differ in figures alone, told together: each figure stays that of the one it was found in."""

import re
from collections.abc import Sequence

_FIGURE = re.compile(r"(?<![\w.,])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?![\d.]*\d)")
"""A figure by itself: the 95 of ``p95`` and the 8 of ``mysql-8`` are part of a name."""


def shape(message: str) -> str:
    """Return what messages share that differ in figures alone."""
    return re.sub(r"[\d.,]+", "#", message)


def together(messages: Sequence[str]) -> str | None:
    """Return one message for several of a shape; None where more than one figure in them differs.

    One figure is told as its range, ``0.037 to 0.68``. Of several, which belongs to which would be lost.
    """
    first = messages[0]
    if all(message == first for message in messages):
        return first
    figures = [_FIGURE.findall(message) for message in messages]
    if len({_FIGURE.sub("#", message) for message in messages}) > 1:
        return None
    differing = [at for at in range(len(figures[0])) if len({told[at] for told in figures}) > 1]
    if len(differing) != 1:
        return None
    (at,) = differing
    low, *_, high = sorted((told[at] for told in figures), key=_value)
    place = list(_FIGURE.finditer(first))[at]
    # Of a figure with its sign or unit at it both ends are told with it: 12% to 30%.
    unit = "%" if first[place.end() :].startswith("%") else ""
    return f"{first[: place.start()]}{low}{unit} to {high}{first[place.end() :]}"


def told(messages: Sequence[str]) -> str:
    """Return one message for several of a shape: with the range of a figure, or the first, said to be so."""
    one = together(messages)
    if one is not None:
        return one
    others = len(dict.fromkeys(messages)) - 1
    return f"{messages[0]} (the first of them; {others} more with other figures)"


def kind(message: str, remedy: str) -> tuple[str, str]:
    """Return what findings must share to be told as one: what they say and what to do, but for figures."""
    return shape(message), shape(remedy)


def _value(figure: str) -> float:
    return float(figure.replace(",", ""))
