"""A virtual disk made of two: its device file is written here, the rest is as for any virtual disk."""

import hashlib
import json
import os
from pathlib import Path

from diskproof.storage.kinds import virtual
from diskproof.storage.kinds.base import NO_LIMITS, MemoryLimits, Prepared
from diskproof.study.places import Composed, PlaceChoice
from diskproof.system.journal import Journal, state_folder
from diskproof.system.own_folder import expanded
from diskproof.system.temporary import temporary_folder

FOLDER = "composed"
"""Folder of the device files in the state directory: a name stays the same from run to run."""

CACHES: dict[str, dict[str, tuple[int | float | bool, str]]] = {
    "block-cache": {
        "line_bytes": (16 * 2**10, "chosen: a page of InnoDB; bcache keeps extents of any length"),
        "sequential_bypass_bytes": (4 * 2**20, "bcache: sequential_cutoff is 4 MB by default"),
        "destage_above_share": (0.1, "bcache: writeback_percent is 10 by default"),
        "bypass_above_share": (0.7, "bcache: above 70 % dirty, even synced writes go past"),
        "destage_after_idle_ms": (100.0, "assumed: bcache adapts its rate of writing back instead"),
    },
    "write-cache": {
        "line_bytes": (16 * 2**10, "chosen: a page of InnoDB"),
        "writes_only": (True, "chosen: the front takes writes, the back answers reads"),
        "destage_above_share": (0.5, "assumed"),
        "destage_after_idle_ms": (1000.0, "assumed"),
    },
}
"""Each kind's rules, with sources: as in devices/ssd-cache-over-disk.toml and disk-cache-over-ssd.toml."""


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse disks that are unknown or cannot be composed, as for any virtual disk."""
    with temporary_folder() as folder:
        path = folder / f"{_composed(choice).name}.toml"
        path.write_text(device_file(_composed(choice)))
        virtual.check(name, _as_virtual(choice, path), need_bytes)


def prepare(
    choice: PlaceChoice, journal: Journal, limits: MemoryLimits = NO_LIMITS, dilation: int = 1
) -> Prepared:
    """Attach the composed disk, make its file system and mount it."""
    composed = _composed(choice)
    made = _as_virtual(choice, _write(composed, journal))
    own = {made.key: limits[choice.key]} if choice.key in limits else NO_LIMITS
    place = virtual.prepare(made, journal, own, dilation, called=composed.name)
    place.kind = "composed"
    return place


def device_file(composed: Composed) -> str:
    """Return the device file of a composed disk; each choice of ours is marked as assumed."""
    front, back = _named(composed.front), _named(composed.back)
    title = f"{composed.front} as a {composed.how.replace('-', ' ')} of {composed.back}"
    return "\n".join(
        [
            f"title = {json.dumps(title)}",
            f"description = {json.dumps(f'{title}: made by diskproof for a study.')}",
            "[device.cache]",
            *(_figure(key, value, source) for key, (value, source) in CACHES[composed.how].items()),
            f"front = {{ named = {json.dumps(front)} }}",
            f"back = {{ named = {json.dumps(back)} }}",
            "",
        ]
    )


def _composed(choice: PlaceChoice) -> Composed:
    assert choice.composed is not None
    return choice.composed


def _as_virtual(choice: PlaceChoice, device: Path) -> PlaceChoice:
    """Return the same place as a virtual disk with a given device file."""
    keys = {key: getattr(choice, key) for key in choice.model_fields_set - {"composed"}}
    return PlaceChoice(virtual=str(device), **keys)


def _write(composed: Composed, journal: Journal) -> Path:
    """Write the device file for as long as the run lasts; places that differ in other keys share it."""
    folder = state_folder() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    text = device_file(composed)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    path = folder / f"{composed.name}-{digest}.toml"
    if not path.exists():
        os.close(journal.file(path, len(text.encode())))
    path.write_text(text)
    return path


def _named(device: str) -> str:
    """Return a device's name, or the absolute path of its file: it is looked up from another folder."""
    return str(expanded(Path(device)).absolute()) if device.endswith(".toml") else device


def _figure(key: str, value: int | float | bool, source: str) -> str:
    return f"{key} = {{ value = {json.dumps(value)}, source = {json.dumps(source)} }}"
