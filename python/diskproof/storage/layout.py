"""A layout gives every role its place, fresh for every trial."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from diskproof.results.records import ROLES, Place, Role
from diskproof.storage.places import Prepared, check, prepare
from diskproof.study.model import PlaceChoice, StorageChoice
from diskproof.system.journal import Journal
from diskproof.system.mounts import block_device, device_number, mount_of

LOG_BYTES = 150 * 2**20
"""Room for a log role that does not lie with the data."""


def check_layout(name: str, storage: StorageChoice, needs_bytes: Mapping[Role, int]) -> None:
    """Refuse a layout before anything is written: each place, for what its roles need.

    The data's own need covers the logs that lie beside it; a place of logs alone is checked for the
    largest of them.
    """
    needs: dict[str, tuple[PlaceChoice, int]] = {}
    for role, choice in storage.places().items():
        key = choice.model_dump_json()
        before = needs.get(key, (choice, 0))[1]
        needs[key] = (choice, max(before, needs_bytes[role]))
    for choice, bytes_here in needs.values():
        check(name, choice, bytes_here)


class Layout:
    """One storage of a study, ready for its trials."""

    def __init__(self, name: str, storage: StorageChoice, journal: Journal) -> None:
        """Prepare every place that the storage names, each once."""
        self.name = name
        self._choices = storage.places()
        prepared: dict[str, Prepared] = {}
        for choice in self._choices.values():
            key = choice.model_dump_json()
            if key not in prepared:
                prepared[key] = prepare(choice, journal)
        self._folders: dict[Role, Path] = {
            role: prepared[choice.model_dump_json()].folder / role for role, choice in self._choices.items()
        }

    def folders(self) -> dict[Role, Path]:
        """Return the directory of every role."""
        return dict(self._folders)

    def fresh(self) -> dict[Role, Path]:
        """Make an empty directory for every role; what an earlier trial left is gone."""
        self.clear()
        for folder in self._folders.values():
            folder.mkdir()
        return self.folders()

    def clear(self) -> None:
        """Remove all that lies in the roles' directories."""
        for folder in self._folders.values():
            if folder.exists():
                shutil.rmtree(folder)

    def places(self) -> list[Place]:
        """Describe where each role lies, as the kernel tells it."""
        described = []
        for role in ROLES:
            folder = self._folders[role].parent
            mount = mount_of(folder)
            described.append(
                Place(
                    storage=self.name,
                    role=role,
                    kind="ram" if self._choices[role].ram is not None else "directory",
                    path=str(folder),
                    filesystem=mount.filesystem,
                    mount_point=mount.mount_point,
                    mount_options=mount.options,
                    device_number=device_number(folder),
                    device=block_device(mount),
                )
            )
        return described
