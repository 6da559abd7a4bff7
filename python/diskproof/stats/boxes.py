"""Which conditions tell some combinations of levels from the others: a description of any set of cells."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from diskproof.stats.grouping import grouped

Key = TypeVar("Key")

Box = dict[Key, tuple[str, ...]]
"""By factor the levels that it is held to; a factor that is missing has any level."""


def boxes(some: Sequence[Mapping[Key, str]], every: Sequence[Mapping[Key, str]]) -> list[Box[Key]]:
    """Return few conditions of which each of `some` meets one, and none of the others of `every` does.

    If the levels of `some` do not describe it as one, it is split by the factor that leaves the fewest.
    """
    if not some:
        return []
    levels = {key: tuple(dict.fromkeys(one[key] for one in some)) for key in some[0]}
    if sum(all(one[key] in levels[key] for key in levels) for one in every) == len(some):
        return [_least(levels, len(some), every)]
    return min((_split(key, some, every) for key in levels if len(levels[key]) > 1), key=len)


def _least(levels: Box[Key], number: int, every: Sequence[Mapping[Key, str]]) -> Box[Key]:
    """Return a box without the conditions that tell nothing apart."""
    box = dict(levels)
    for key in levels:
        without = {other: box[other] for other in box if other != key}
        if sum(all(one[other] in without[other] for other in without) for one in every) == number:
            box = without
    return box


def _split(key: Key, some: Sequence[Mapping[Key, str]], every: Sequence[Mapping[Key, str]]) -> list[Box[Key]]:
    """Return the boxes of each level of a factor, as one where levels have the same."""
    of_every = grouped(every, lambda one: one[key])
    found = {level: boxes(few, of_every[level]) for level, few in grouped(some, lambda one: one[key]).items()}
    alike = grouped(found, lambda level: tuple(tuple(box.items()) for box in found[level]))
    return [{key: tuple(levels), **box} for levels in alike.values() for box in found[levels[0]]]
