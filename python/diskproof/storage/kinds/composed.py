"""A virtual disk that is made of two: its device file is written here, the rest is any virtual disk's."""

import hashlib
import json
from pathlib import Path

from diskproof.storage.kinds import virtual
from diskproof.storage.kinds.base import Prepared
from diskproof.study.places import Composed, PlaceChoice
from diskproof.system.journal import Journal, state_folder

FOLDER = "composed"
"""Folder of the device files in the state directory: a name stays the same from run to run."""

LABEL_LENGTH = 40
"""The longest name that a study file takes."""

BLOCK_CACHE: dict[str, tuple[int | float | str, str]] = {
    "policy": ("write-back", "the placement's own meaning"),
    "line_bytes": (16 * 2**10, "chosen: a page of InnoDB; bcache keeps extents of any length"),
    "promote_after_reads": (1, "bcache: whatever was read is inserted"),
    "sequential_bypass_bytes": (4 * 2**20, "bcache: sequential_cutoff is 4 MB by default"),
    "destage_above_share": (0.1, "bcache: writeback_percent is 10 by default"),
    "bypass_above_share": (0.7, "bcache: above 70 % dirty, even synced writes go past"),
    "destage_after_idle_ms": (100.0, "assumed: bcache adapts its rate of writing back instead"),
}
"""The rules of a block cache, each with its source: as in devices/ssd-cache-over-disk.toml."""


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse disks that are not known or cannot be composed, as any virtual disk."""
    virtual.check(name, _as_virtual(choice), need_bytes)


def prepare(choice: PlaceChoice, journal: Journal) -> Prepared:
    """Attach the composed disk, make its file system and mount it."""
    place = virtual.prepare(_as_virtual(choice), journal)
    place.kind = "composed"
    return place


def device_file(composed: Composed) -> str:
    """Return the device file of a composed disk, in which every choice of ours is called assumed."""
    front, back = _named(composed.front), _named(composed.back)
    if composed.how == "write-cache":
        kind = "log"
        title = f"{composed.front} as a log-structured write cache of {composed.back}"
        keys = [_figure("log_bytes", int(composed.log_size), "the study's `log_size`, or its default")]
    else:
        kind = "cache"
        title = f"{composed.front} as a write-back cache of {composed.back}"
        keys = [_figure(key, value, source) for key, (value, source) in BLOCK_CACHE.items()]
    return "\n".join(
        [
            f"title = {json.dumps(title)}",
            f"description = {json.dumps(f'{title}: made by diskproof for a study.')}",
            f"[device.{kind}]",
            *keys,
            f"front = {{ named = {json.dumps(front)} }}",
            f"back = {{ named = {json.dumps(back)} }}",
            "",
        ]
    )


def _as_virtual(choice: PlaceChoice) -> PlaceChoice:
    """Return the same place as a virtual disk, whose device file has been written."""
    composed = choice.composed
    assert composed is not None
    name = choice.label or composed.name[:LABEL_LENGTH]
    folder = state_folder() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    text = device_file(composed)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    path = folder / f"{composed.how}-{composed.name}-{digest}.toml"
    path.write_text(text)
    keys = {key: getattr(choice, key) for key in choice.model_fields_set - {"composed", "label"}}
    return PlaceChoice(virtual=str(path), label=name, **keys)


def _named(device: str) -> str:
    """Return a device's name, or the whole path of its file: it is looked up from another folder."""
    return str(Path(device).expanduser().absolute()) if device.endswith(".toml") else device


def _figure(key: str, value: int | float | str, source: str) -> str:
    return f"{key} = {{ value = {json.dumps(value)}, source = {json.dumps(source)} }}"
