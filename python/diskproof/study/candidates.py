"""A recorded cell's study on another disk: the same load, settings and lengths, and nothing else."""

import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit

from diskproof.results.plan import Cell, Phases
from diskproof.study.part import LEVELS_KEYS
from diskproof.study.scales import scaled

KEPT_OF_A_PLACE = ("size", "filesystem", "mount_options")

ENDS = ("until", "precision", "at_most_s")
"""Keys of the design that compare levels or lengthen a run: a prediction needs neither."""


ADVISED = "advised"
"""The name of the study's only storage."""


def on_disk(text: str, scale: str | None, cell: Cell, phases: Phases, device: str) -> str:
    """Return the text of a study of one cell of another study, on a virtual disk.

    `device` is a name or a file; `phases` are the recorded cell's.
    """
    content = tomllib.loads(text)
    content = scaled(content, content["scales"][scale] if scale else {})
    place = content["storages"][cell.storage]
    place = place.get("data", place)
    kept = {key: place[key] for key in KEPT_OF_A_PLACE if key in place}
    if "ram" in place:
        kept["size"] = place["ram"]
    load = _free(content["workloads"][cell.workload])
    load.pop("clients", None)
    server = _free(content["servers"][cell.server])
    server.pop("optional", None)
    design = {key: value for key, value in content.get("design", {}).items() if key not in ENDS}
    return tomlkit.dumps(
        {
            "question": f"Does `{cell.workload}` do on this disk what `diskproof advise` predicted?",
            "design": design
            | {
                "clients": [cell.clients],
                "memory": [cell.memory_bytes],
                "warm_up_s": phases.warm_up_s,
                "measure_s": phases.measure_s,
            },
            "servers": {cell.server: server},
            "storages": {ADVISED: {"virtual": device, **kept}},
            "tunings": {cell.tuning: _free(content.get("tunings", {}).get(cell.tuning, {}))},
            "workloads": {cell.workload: load},
        }
    )


def _free(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a study without the levels that it is limited to."""
    return {key: value for key, value in part.items() if key not in LEVELS_KEYS}
