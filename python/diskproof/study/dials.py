"""A property of a virtual disk as a factor: one storage of the file stands for several that differ in it."""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from diskproof.results.dial import DialPoint
from diskproof.study.condition import TIMES
from diskproof.study.part import changed, mistake

MOST_PROPERTIES = 2
"""A curve has one; with two, each value of the second has a curve of its own."""

PROPERTY = re.compile(r"[a-z][a-z0-9_.]*")

UNITS_US = TIMES | {"µs": 1.0}

OF_STORAGES = ("tunings", "workloads", "faults", "crash")
"""Parts of a study that name storages."""


def expanded(study: object) -> object:
    """Return the content of a study with a storage for each value that one of its storages varies.

    Each is called after the storage and its value: ``dial-300us``. What names the storage means all of them.
    """
    if not isinstance(study, dict) or not isinstance(study.get("storages"), dict):
        return study
    made = {
        name: dict(_points(name, storage))
        for name, storage in study["storages"].items()
        if isinstance(storage, dict) and "vary" in storage
    }
    if not made:
        return study
    if len(made) > 1:
        raise mistake("one storage of a study varies: make a second study", "storages", list(made)[1], "vary")
    storages: dict[str, Any] = {}
    for name, storage in study["storages"].items():
        points = made.get(name, {name: storage})
        if clash := sorted(storages.keys() & points.keys()):
            raise mistake(f"two storages would be called `{clash[0]}`: rename one", "storages", name)
        storages |= points
    names = {name: list(points) for name, points in made.items()}
    return {key: _renamed(part, names) if key in OF_STORAGES else part for key, part in study.items()} | {
        "storages": storages
    }


def device_of(virtual: str, vary: Mapping[str, list[float]] | None) -> str:
    """Return a disk as diskproof-disk names it, with the values of one point."""
    return changed(virtual, [f"{key}={values[0]:.12g}" for key, values in (vary or {}).items()])


def point_of(name: str, virtual: str, vary: Mapping[str, list[float]]) -> DialPoint:
    """Return what an expanded storage is a point of."""
    values = {key: values[0] for key, values in vary.items()}
    suffix = "".join(f"-{_short(key, value)}" for key, value in values.items())
    return DialPoint(dial=name.removesuffix(suffix), device=virtual, values=values)


def _points(name: str, storage: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    vary = storage["vary"]
    keys = ("storages", name, "vary")
    if not isinstance(storage.get("virtual"), str):
        raise mistake("only a storage that is `virtual` can be varied", *keys)
    if not isinstance(vary, dict) or not 0 < len(vary) <= MOST_PROPERTIES:
        raise mistake("give one or two properties with their values: `{ flush_us = [100, 1000] }`", *keys)
    values = {}
    for key, given in vary.items():
        if not PROPERTY.fullmatch(key):
            raise mistake("write a property as `diskproof disk show` does", *keys, key)
        if not isinstance(given, list) or not given:
            raise mistake("give the values as a list: `[100, 1000]`", *keys, key)
        values[key] = sorted(_value(key, one, keys) for one in given)
        if len(set(values[key])) < len(given):
            raise mistake("a value stands in it twice", *keys, key)
    for point in product(*values.values()):
        named = dict(zip(values, point, strict=True))
        label = "-".join([name, *(_short(key, value) for key, value in named.items())])
        yield label, storage | {"vary": {key: [value] for key, value in named.items()}}


def _value(key: str, given: object, keys: tuple[str, ...]) -> float:
    """Read a number; of a time also one with its unit."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        if not 0 < given < math.inf:
            raise mistake(f"the axis is logarithmic: give values above 0, not {given}", *keys, key)
        return float(given)
    timed = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(us|µs|ms|s)\s*", given) if isinstance(given, str) else None
    if timed is None or not key.endswith("_us"):
        raise mistake(f'give numbers; a time may have its unit, such as "1 ms", not {given!r}', *keys, key)
    return float(timed[1]) * UNITS_US[timed[2]]


def _short(key: str, value: float) -> str:
    if not key.endswith("_us"):
        return f"{value:.12g}"
    unit = next((unit for unit in ("s", "ms") if value >= UNITS_US[unit]), "us")
    return f"{value / UNITS_US[unit]:.12g}{unit}"


def _renamed(part: object, names: Mapping[str, list[str]], *, of_storages: bool = False) -> object:
    """Return a part of a study with all storages in the place of the one that stands for them.

    `of_storages`: its lists are names of storages, as below ``storages``, and below each way of ``ways``.
    """
    if isinstance(part, dict):
        return {
            key: _renamed(
                value,
                names,
                of_storages=of_storages or key == "storages" or (key == "ways" and isinstance(value, dict)),
            )
            for key, value in part.items()
        }
    if not isinstance(part, list):
        return part
    if not of_storages:
        return [_renamed(one, names) for one in part]
    return [one for name in part for one in (names.get(name, [name]) if isinstance(name, str) else [name])]
