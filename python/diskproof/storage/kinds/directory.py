"""A directory on the storage under test."""

import os
from pathlib import Path

from diskproof.storage.kinds.base import (
    PlainPlace,
    StorageError,
    check_free,
    nearest,
    resolved,
    strangers_in,
    unused,
)
from diskproof.study.places import PlaceChoice, PlaceKind
from diskproof.system.journal import Journal


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a directory that holds other files, or has too little space."""
    assert choice.directory is not None
    directory = resolved(f"storage `{name}`", choice.directory)
    existing = nearest(directory)
    if not os.access(existing, os.W_OK | os.X_OK):
        raise StorageError(
            f"storage `{name}`: you may not write to {existing}; choose another or change its owner"
        )
    if stranger := strangers_in(directory):
        raise StorageError(
            f"storage `{name}`: {directory} is not empty (it holds `{stranger}`); "
            "name an empty or new directory"
        )
    check_free(f"storage `{name}`", directory, need_bytes)


def prepare(choice: PlaceChoice, journal: Journal) -> PlainPlace:
    """Make the run's own folder in the directory."""
    assert choice.directory is not None
    return make("directory", choice.directory, journal)


def make(kind: PlaceKind, directory: Path, journal: Journal) -> PlainPlace:
    """Make the run's own folder in a directory that was checked a while ago."""
    folder = unused(resolved("its directory", directory) / f"diskproof-{journal.mark}")
    journal.parents(folder)
    return PlainPlace(kind, journal.own_folder(folder))
