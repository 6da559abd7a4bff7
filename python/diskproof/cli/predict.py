"""`diskproof predict`: what a recorded load would do on another disk."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from diskproof import disk
from diskproof.analysis.other_disk.predict import MEMORY, answer
from diskproof.analysis.other_disk.records import Predictions
from diskproof.cli.exits import DONE
from diskproof.cli.forms import Form, put_in_form
from diskproof.cli.values.run import gathered
from diskproof.refusal import RefusalError
from diskproof.report.compose.predicted import compose
from diskproof.run.dials import simulate


def predict(
    run: Path,
    /,
    *,
    on: Annotated[list[str], Parameter(consume_multiple=True)],
    was: list[str] | None = None,
    format: Form = "text",  # noqa: A002
) -> int:
    """Predict what the loads of a run would do on other disks.

    Parameters
    ----------
    run
        Folder of a finished run; one on two different storages predicts better.
    on
        Disks: names that `diskproof disk list` shows, paths of device files that end in .toml, or `ram`.
    was
        Device file of a storage of the run that is no virtual disk: `STORAGE=FILE.toml`; can be repeated.
    format
        Format of the output.

    """
    for device in on:
        _check(device)
    known = storages_were(was)
    found = answer(gathered(run), list(dict.fromkeys(on)), simulate, known, model_of)
    if not found.cells:
        raise RefusalError(nothing(run, found))
    if all(one.per_s is None for one in found.cells):
        why = "; ".join(dict.fromkeys(one.missing.text for one in found.cells if one.missing))
        raise RefusalError(f"{run}: nothing could be predicted for these disks: {why}")
    put_in_form(format, compose(found), found)
    return DONE


def model_of(device: str) -> str:
    """Return what two names or files of one disk share: the model's values, without where they are from."""
    try:
        shown = disk.show(device)["device"]
    except RefusalError:
        return device
    for kind in shown.values():
        if "fixed" in kind.get("iops", {}):
            kind.pop("capacity_bytes", None)  # a rate that is bought does not depend on the size
    return json.dumps(_without_sources(shown), sort_keys=True)


def _without_sources(part: object) -> object:
    if isinstance(part, dict):
        return {name: _without_sources(value) for name, value in part.items() if name != "source"}
    return [_without_sources(one) for one in part] if isinstance(part, list) else part


def _check(device: str) -> None:
    """Refuse a device that is none, before a run is read."""
    if device != MEMORY:
        disk.show(device)


def storages_were(texts: Sequence[str] | None) -> dict[str, str]:
    """Return the device files of storages that are no virtual disks, by storage."""
    return dict(_was(text) for text in texts or [])


def _was(text: str) -> tuple[str, str]:
    storage, _, device = text.partition("=")
    if not storage or not device:
        raise RefusalError(f"--was takes STORAGE=DEVICE, such as `ssd=mine.toml`, not `{text}`")
    _check(device)
    return storage, device


def nothing(run: Path, found: Predictions) -> str:
    """Say why nothing of a run can be predicted."""
    why = "; ".join(one.text for one in found.left_out) or "it has no cells"
    return f"{run} has no record from which this can be predicted: {why}"
