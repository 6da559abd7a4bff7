"""Putting things of a kind together."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Thing = TypeVar("Thing")
Key = TypeVar("Key", bound=Hashable)


def grouped(things: Iterable[Thing], key: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    """Return things by their key; keys and things in the order in which they came."""
    groups: dict[Key, list[Thing]] = {}
    for one in things:
        groups.setdefault(key(one), []).append(one)
    return groups
