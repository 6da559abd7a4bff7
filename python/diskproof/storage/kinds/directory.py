"""A directory on the storage under test."""

import os
from pathlib import Path

from diskproof.storage.kinds.base import SCRATCH, Prepared, StorageError, check_free, nearest, unused
from diskproof.study.places import PlaceChoice
from diskproof.system.journal import Journal


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a directory that holds other files, or has too little space."""
    directory = _path(choice)
    existing = nearest(directory)
    if not existing.is_dir():
        raise StorageError(f"storage `{name}`: {existing} is not a directory; name one, or a new path")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise StorageError(
            f"storage `{name}`: you may not write to {existing}; choose another or change its owner"
        )
    if existing == directory.absolute():
        strangers = [entry.name for entry in directory.iterdir() if not SCRATCH.fullmatch(entry.name)]
        if strangers:
            raise StorageError(
                f"storage `{name}`: {directory} is not empty (it holds `{min(strangers)}`); "
                "name an empty or new directory"
            )
    check_free(f"storage `{name}`", directory, need_bytes)


def prepare(choice: PlaceChoice, journal: Journal) -> Prepared:
    """Make the run's own folder in the directory."""
    folder = unused(_path(choice).absolute() / f"diskproof-{journal.mark}")
    journal.parents(folder)
    return Prepared("directory", journal.directory(folder))


def _path(choice: PlaceChoice) -> Path:
    assert choice.directory is not None
    return choice.directory.expanduser()
