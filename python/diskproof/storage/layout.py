"""A layout gives every role its place, fresh for every trial."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from diskproof.disk import Facts
from diskproof.refusal import RefusalError
from diskproof.results.fault import Fault
from diskproof.results.machine import BlockDevice, Place, VirtualFacts
from diskproof.results.record import ROLES, Role
from diskproof.results.trial import RestoredBy
from diskproof.storage.extents import Owners
from diskproof.storage.faults import fill_up, schedule_of
from diskproof.storage.kinds.base import Prepared, StorageError
from diskproof.storage.kinds.virtual import VirtualDiskPlace, VirtualPlace
from diskproof.storage.places import Places, check
from diskproof.storage.virtual import PowerCut, ServedDisk, Slowness, cut_at_once
from diskproof.study.cuts import seed_of
from diskproof.study.places import PlaceChoice
from diskproof.study.storages import StorageChoice
from diskproof.system.mounts import Mount, block_device, device_number, mount_of
from diskproof.wording import Message

LOG_BYTES = 150 * 2**20
"""Space for a log role that does not lie with the data."""

READ_ONLY = {"ro", "emergency_ro", "shutdown"}
"""Mount options of a file system that has given up: ext4 before and since Linux 6.15, xfs."""


def check_layout(name: str, storage: StorageChoice, needs_bytes: Mapping[Role, int]) -> None:
    """Refuse a layout before anything is written: each place, for what its roles need.

    The data's need includes the logs beside it; a place with only logs is checked for the largest of them.
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
        """Prepare every place that the storage names."""
        self.name = name
        self._choices: Mapping[Role, PlaceChoice] = storage.places()
        try:
            self._at: dict[Role, Prepared] = {
                role: places.ready(choice) for role, choice in self._choices.items()
            }
        except RefusalError as error:
            raise StorageError(f"storage `{name}`: {error}") from error

    def beside(self, storage: StorageChoice, places: Places) -> "Layout":
        """Return another layout of the same storage; its disks have the same names in records."""
        other = Layout(self.name, storage, places)
        for own, equal in zip(self.disks(), other.disks(), strict=True):
            equal.facts = equal.facts.model_copy(update={"name": own.facts.name})
        return other

    @classmethod
    def nowhere(cls, name: str) -> "Layout":
        """Return the storage of a server that is there already: no place of it is ours."""
        layout = cls.__new__(cls)
        layout.name, layout._choices, layout._at = name, {}, {}
        return layout

    def folders(self) -> dict[Role, Path]:
        """Return the directory of every role."""
        return {role: place.folder / role for role, place in self._at.items()}

    def fresh(self) -> dict[Role, Path]:
        """Make an empty directory for every role; the files of earlier trials are removed."""
        for place, roles in self._roles_by_place():
            place.fresh(roles)
        return self.folders()

    def restore(self, data_set: str, copy: Callable[[set[Role]], RestoredBy]) -> RestoredBy:
        """Put a data set into the roles' directories; roles without data stay empty.

        `copy` fills the empty directories of some roles. Places that can keep the result are filled once and
        restored from then on. `data_set` names it among all that the layout ever holds.
        """
        kept_as = self.keeps_as(data_set)
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
        """Remove the contents of the roles' directories."""
        for place, roles in self._roles_by_place():
            place.clear(roles)

    def disks(self) -> list[ServedDisk]:
        """Return the virtual disks of the layout."""
        return [disk for place, _ in self._roles_by_place() for disk in place.disks]

    def disks_of(self, role: Role) -> list[ServedDisk]:
        """Return the virtual disks with a role's files; of a pool all of them."""
        return list(self._at[role].disks)

    def slow(self, slowness: Mapping[str, Slowness]) -> None:
        """Let virtual disks, by their names in this run, answer later than their models."""
        for disk in self.disks():
            if disk.facts.name in slowness:
                disk.slow(slowness[disk.facts.name])

    def slow_no_longer(self) -> None:
        """Let every virtual disk answer as its model again."""
        for disk in self.disks():
            disk.slow(None)

    def places(self) -> list[Place]:
        """Describe where each role lies, as the kernel reports it."""
        described = []
        for role, prepared in self._at.items():
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
                    asked_options=self._choices[role].mount_options or "",
                    device_number=device_number(prepared.folder),
                    device=_device(mount, prepared.virtual),
                    virtual=prepared.virtual,
                    pool=prepared.pool,
                )
            )
        return described

    def draw_anew(self, seed: int, block: int) -> None:
        """Seed the virtual disks for one block, from the next restore on.

        Without that, blocks would repeat one sequence of draws, and would not be independent. Within a block,
        equal disks draw alike in all layouts, as the cells' clients do; two in one layout do not.
        """
        before: Counter[str] = Counter()
        for disk in self.disks():
            device = Path(disk.facts.device).name
            disk.seed = seed_of(seed, block, device, before[device])
            before[device] += 1

    def suit(self, page_bytes: int) -> None:
        """Adapt the places to a server with pages of this size, before a restore."""
        for place, _ in self._roles_by_place():
            place.suit(page_bytes)

    def notes(self) -> list[Message]:
        """Return what the places chose for the server."""
        return [note for place, _ in self._roles_by_place() for note in place.notes]

    def keeps_as(self, data_set: str) -> str:
        """Return the name under which places keep a data set."""
        return f"{self.name}-{data_set}"

    def cut_disks(self) -> list[ServedDisk]:
        """Return the disks whose power can be cut."""
        return [disk for place in self._cut_places() for disk in place.disks]

    def cut_disks_of(self, role: Role) -> list[ServedDisk]:
        """Return the disks with a role's files whose power can be cut."""
        place = self._at[role]
        return list(place.disks) if isinstance(place, VirtualPlace) else []

    def keeps(self, data_set: str) -> bool:
        """Return whether every disk keeps a data set of that name."""
        return all(place.keeps(self.keeps_as(data_set)) for place in self._cut_places())

    def track(self, log_of: Callable[[ServedDisk], Path]) -> None:
        """Let the disks account, from the next restore on, for what a power cut can take.

        `log_of` returns the file for each disk's requests.
        """
        for disk in self.cut_disks():
            disk.tracking = log_of(disk)

    def track_no_longer(self) -> None:
        """End all accounts."""
        for disk in self.cut_disks():
            disk.track_no_longer()

    def cut(self, how: PowerCut) -> list[tuple[ServedDisk, Facts]]:
        """Cut the power of all disks at once, and return what each was doing, the first one cut first.

        The requests go out one right after another, in a random order. Each disk's answer has its own time
        (`at_monotonic_us`). The server does not know of the first cut while a later disk still works. The
        longer that lasts, the likelier a flush in that time kept an acknowledged commit, which the cut would
        have taken.
        """
        disks = self.cut_disks()
        random.Random(how.seed).shuffle(disks)  # noqa: S311 - an order
        cuts = [(disk, replace(how, seed=seed_of(how.seed, number))) for number, disk in enumerate(disks)]
        answers = list(zip(disks, cut_at_once(cuts), strict=True))
        return sorted(answers, key=lambda one: one[1]["at_monotonic_us"])

    def befall(self, fault: Fault, seed: int) -> None:
        """Let the disks of a fault's role have it from now on, each with draws of its own."""
        disks = self.disks() if fault.role is None else self.disks_of(fault.role)
        for number, disk in enumerate(disks):
            disk.befall(schedule_of(fault), seed_of(seed, "fault", number))

    def heal(self) -> int:
        """End all faults and return how many requests they hit."""
        hits: int = sum(fault["requests"] for disk in self.disks() for fault in disk.befallen())
        for disk in self.disks():
            disk.befall([])
        return hits

    def struck(self) -> list[str]:
        """Say which requests faults have hit first, by the files as they are now."""
        owners = {disk.facts.name: Owners(one.folder) for one in self._virtual_places() for disk in one.disks}
        return [
            f"{disk.facts.name}, after {request['after_us'] / 1e6:.3f} s: {request['request']}"
            + (f" of {owners[disk.facts.name].in_words(*place)}" if place[1] else "")
            for disk in self.disks()
            for fault in disk.befallen()
            for request in fault["first"]
            for place in [(request["offset_bytes"], request["length_bytes"])]
        ]

    def fill(self, fault: Fault) -> None:
        """Take the room of the file systems with a fault's role, but for what it leaves."""
        for place in self._virtual_places():
            if fault.role is None or place is self._at[fault.role]:
                fill_up(place.filler, fault.leave_bytes)

    def make_room(self) -> None:
        """Give the room back."""
        for place in self._virtual_places():
            place.make_room()

    def is_read_only(self) -> bool:
        """Whether the kernel lets nothing be written to one of the file systems any more."""
        options = [mount_of(place.folder).options.split(",") for place in self._virtual_places()]
        return any(READ_ONLY & set(some) for some in options)

    def remount(self) -> None:
        """Unmount and mount every disk again, as an administrator does after errors."""
        for place in self._virtual_places():
            place.remount()

    def power_returns(self) -> None:
        """Restore the power of all disks, unmounted and with nothing left of what the kernel held."""
        for place in self._cut_places():
            place.power_returns()

    def mount_again(self) -> None:
        """Mount what was cut; NotMountedError if a file system does not come up again."""
        for place in self._cut_places():
            place.mount_again()

    def export(self, data_set: str, to: Callable[[ServedDisk], Path]) -> None:
        """Copy each disk as it is kept with a data set to a sparse file; the present contents are lost."""
        for place in self._cut_places():
            place.export(self.keeps_as(data_set), to(*place.disks))

    def put_state(self, patches: Iterable[tuple[int, bytes]], data_set: str) -> None:
        """Give the only disk the bytes that it keeps with a data set, and others over them; unmounted."""
        [place] = self._cut_places()
        place.write(patches, self.keeps_as(data_set))

    def put_state_over(self, image: Path, patches: Iterable[tuple[int, bytes]]) -> None:
        """Do the same with the bytes of an image."""
        [place] = self._cut_places()
        place.fill(image)
        place.write(patches)

    def owners(self) -> Owners:
        """Return which files have which bytes of the only disk, which is mounted."""
        [place] = self._cut_places()
        return Owners(place.folder)

    def replay(self, files: Sequence[tuple[Path, Path]]) -> None:
        """Bring each disk to its state after a cut, from its bytes before and its log; all stay unmounted.

        DiskError if the result is not what the log says.
        """
        for place, (image, log) in zip(self._cut_places(), files, strict=True):
            place.replay(image, log)

    def _cut_places(self) -> list[VirtualPlace]:
        """Return the places whose power can be cut: a directory, a pool and a real disk keep theirs."""
        return [place for place in self._virtual_places() if isinstance(place, VirtualPlace)]

    def _virtual_places(self) -> list[VirtualDiskPlace]:
        return [place for place, _ in self._roles_by_place() if isinstance(place, VirtualDiskPlace)]

    def _roles_by_place(self) -> list[tuple[Prepared, list[Role]]]:
        """Return every place once, with the roles that lie there."""
        once = {id(place): place for place in self._at.values()}
        return [(place, [role for role in ROLES if self._at[role] is place]) for place in once.values()]


def _device(mount: Mount, virtual: VirtualFacts | None) -> BlockDevice | None:
    """Describe the device below a mount; a loop device gets the model of the disk that it stands for."""
    device = block_device(mount)
    if device is None or virtual is None:
        return device
    return device.model_copy(update={"model": f"virtual: {virtual.title}"})
