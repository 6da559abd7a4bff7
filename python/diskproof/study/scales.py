"""Scales: the same study in another size, as changes to its file."""

import shlex
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from pydantic import Field

from diskproof.study.mistakes import toml
from diskproof.study.part import DEFAULT_TUNINGS, Part

CHANGED = ("design", "servers", "storages", "tunings", "workloads", "crash")
"""The parts of a study that a scale may change: never its question, nor what was published."""

DEFAULTS: dict[str, dict[str, Any]] = {"tunings": {name: {} for name in DEFAULT_TUNINGS}}
"""What the study has if its file says nothing."""

Changes = dict[str, dict[str, Any]]


class ScaleChoice(Part):
    """The study in another size: the keys that differ, in tables as the file has them. The rest stays.

    Tables are merged key by key; a list replaces the whole list. A scale adds no level: it changes those
    that the file names, and `clients`, `storages` … of a workload leave some out.
    """

    shrinks: str = Field(min_length=1, description="What it makes smaller than the study as written")
    carries: str = Field(min_length=1, description="Which conclusions it still supports, and which not")
    design: dict[str, Any] = Field({}, description="Keys of `[design]`, as there")
    servers: Changes = Field({}, description="Keys of `[servers.NAME]`, for names that are there")
    storages: Changes = Field({}, description="Keys of `[storages.NAME]`, for names that are there")
    tunings: Changes = Field({}, description="Keys of `[tunings.NAME]`, for names that are there")
    workloads: Changes = Field({}, description="Keys of `[workloads.NAME]`, for names that are there")
    crash: dict[str, Any] = Field({}, description="Keys of `[crash]`, as there")


def scaled(content: dict[str, Any], scale: object) -> dict[str, Any]:
    """Return the content of a study file with a scale's keys in place of its own.

    Tables are merged, key by key; all else replaces what stood there. A scale that is no table is left to
    the check of the file to refuse.
    """
    changed = deepcopy(content)
    if isinstance(scale, dict):
        for part in CHANGED:
            if part in scale:
                changed[part] = _merged(changed.get(part, DEFAULTS.get(part)), scale[part])
    return changed


def unknown_names(content: dict[str, Any], scale: object) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each name that a scale changes and the study does not have: the part, the name, those it has.

    A misspelt name must not make a new level.
    """
    for part in ("servers", "storages", "tunings", "workloads"):
        there = content.get(part, DEFAULTS.get(part, {}))
        changed = scale.get(part) if isinstance(scale, dict) else None
        for name in changed if isinstance(changed, dict) else ():
            if name not in there:
                yield part, name, list(there)


def whole_by(text: str) -> str | None:
    """Return the option that runs a study as its file has it: ``--scale full``, empty if it needs none.

    None if no scale is without changes. ValueError if the text is no TOML.
    """
    content = toml(text)
    if content.get("scale") is None:
        return ""
    scales = content.get("scales")
    for name, made in scales.items() if isinstance(scales, dict) else ():
        if isinstance(made, dict) and not {*CHANGED} & made.keys():
            return shlex.join(["--scale", name])
    return None


def _merged(below: object, above: object) -> object:
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return deepcopy(above)
    return below | {key: _merged(below.get(key), value) for key, value in above.items()}
