"""A layout gives every role its place, fresh for every trial."""

from collections.abc import Callable, Mapping
from pathlib import Path

from diskproof.results.records import ROLES, Place, RestoredBy, Role
from diskproof.storage.kinds.base import Prepared
from diskproof.storage.places import Places, check
from diskproof.study.model import StorageChoice
from diskproof.study.places import PlaceChoice
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
        before = needs.get(choice.key, (choice, 0))[1]
        needs[choice.key] = (choice, max(before, needs_bytes[role]))
    for choice, bytes_here in needs.values():
        check(name, choice, bytes_here)


class Layout:
    """One storage of a study, ready for its trials."""

    def __init__(self, name: str, storage: StorageChoice, places: Places) -> None:
        """Make ready every place that the storage names."""
        self.name = name
        self._at: dict[Role, Prepared] = {
            role: places.ready(choice) for role, choice in storage.places().items()
        }

    def folders(self) -> dict[Role, Path]:
        """Return the directory of every role."""
        return {role: place.folder / role for role, place in self._at.items()}

    def fresh(self) -> dict[Role, Path]:
        """Make an empty directory for every role; what an earlier trial left is gone."""
        for place, roles in self._roles_by_place():
            place.fresh(roles)
        return self.folders()

    def restore(self, data_set: str, copy: Callable[[set[Role]], RestoredBy]) -> RestoredBy:
        """Put a data set into the roles' directories, empty where it holds nothing of a role.

        `copy` fills the empty directories of some roles. Places that can keep the outcome are filled
        once and put back from then on; `data_set` names it among all that the layout ever holds.
        """
        kept_as = f"{self.name}-{data_set}"
        to_fill = [(place, roles) for place, roles in self._roles_by_place() if not place.put_back(kept_as)]
        if not to_fill:
            return "snapshot"
        for place, roles in to_fill:
            place.fresh(roles)
        how = copy({role for _, roles in to_fill for role in roles})
        for place, _ in to_fill:
            place.keep(kept_as)
        return how

    def clear(self) -> None:
        """Remove all that lies in the roles' directories."""
        for place, roles in self._roles_by_place():
            place.clear(roles)

    def places(self) -> list[Place]:
        """Describe where each role lies, as the kernel tells it."""
        described = []
        for role in ROLES:
            prepared = self._at[role]
            mount = mount_of(prepared.folder)
            described.append(
                Place(
                    storage=self.name,
                    role=role,
                    kind=prepared.kind,
                    path=str(prepared.folder),
                    filesystem=mount.filesystem,
                    mount_point=mount.mount_point,
                    mount_options=mount.options,
                    device_number=device_number(prepared.folder),
                    device=block_device(mount),
                    virtual=prepared.virtual,
                )
            )
        return described

    def _roles_by_place(self) -> list[tuple[Prepared, list[Role]]]:
        """Return every place once, with the roles that lie there."""
        once = {id(place): place for place in self._at.values()}
        return [(place, [role for role in ROLES if self._at[role] is place]) for place in once.values()]
