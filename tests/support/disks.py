"""Disks made for a test: loop devices over files, and a journal that takes all away again."""

import os
from pathlib import Path

import pytest

from diskproof.results.record import Role
from diskproof.storage import loops
from diskproof.study.storages import StorageChoice
from diskproof.system.journal import Journal

MIB = 2**20

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has loop devices and mounts")


def storage(**fields: object) -> StorageChoice:
    """Return a layout as a study file declares it."""
    return StorageChoice.model_validate(fields)


def needs(data_bytes: int) -> dict[Role, int]:
    """Return what the roles need, in bytes."""
    return {"data": data_bytes, "redo": MIB, "binlog": MIB, "tmp": MIB}


def loop_device(folder: Path, journal: Journal, size_bytes: int = 128 * MIB, name: str = "disk") -> Path:
    """Make a block device of zeroes; it goes with the journal."""
    file = folder / name
    file.touch()
    os.truncate(file, size_bytes)
    return loops.attach(file, journal)
