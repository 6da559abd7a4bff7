"""A layout gives every role its place, fresh for every trial."""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from diskproof.disk import Facts
from diskproof.refusal import RefusalError
from diskproof.results.machine import BlockDevice, Place, VirtualFacts
from diskproof.results.record import ROLES, Role
from diskproof.results.trial import RestoredBy
from diskproof.storage.kinds.base import Prepared, StorageError
from diskproof.storage.places import Places, check
from diskproof.storage.poolwatch import PoolWatch
from diskproof.storage.throttle import check_throttle
from diskproof.storage.virtual import PowerCut, ServedDisk, Slowness, Tracking, cut_at_once
from diskproof.study.places import PlaceChoice
from diskproof.study.storages import StorageChoice
from diskproof.system.mounts import Mount, block_device, device_number, mount_of
from diskproof.system.processes import Starter

LOG_BYTES = 150 * 2**20
"""Room for a log role that does not lie with the data."""

THROTTLE_LOOKS = 20
"""How often a server's processes are asked for: it does not go on forking before it has clients."""


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
        if choice.throttle is not None:
            check_throttle(f"storage `{name}`")


class Layout:
    """One storage of a study, ready for its trials."""

    def __init__(self, name: str, storage: StorageChoice, places: Places) -> None:
        """Make ready every place that the storage names."""
        self.name = name
        self._choices = storage.places()
        try:
            self._at: dict[Role, Prepared] = {
                role: places.ready(choice) for role, choice in self._choices.items()
            }
        except RefusalError as error:
            raise StorageError(f"storage `{name}`: {error}") from error
        limits = _limits_by_disk(self.places())
        self._throttled = places.throttled(limits) if limits else None

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
        """Remove all that lies in the roles' directories."""
        for place, roles in self._roles_by_place():
            place.clear(roles)

    def disks(self) -> list[ServedDisk]:
        """Return the virtual disks that take part in the layout."""
        return [disk for place, _ in self._roles_by_place() for disk in place.disks]

    def disks_of(self, role: Role) -> list[ServedDisk]:
        """Return the virtual disks with a role's files; of a pool all of them."""
        return list(self._at[role].disks)

    def slow(self, slowness: Mapping[str, Slowness]) -> None:
        """Let virtual disks, by their names in this run, answer later than their models say."""
        for disk in self.disks():
            if disk.facts.name in slowness:
                disk.slow(slowness[disk.facts.name])

    def slow_no_longer(self) -> None:
        """Let every virtual disk answer as its model says again."""
        for disk in self.disks():
            if disk.can_be_slowed:
                disk.slow(None)

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
                    asked_options=self._choices[role].mount_options or "",
                    device_number=device_number(prepared.folder),
                    device=_device(mount, prepared.virtual),
                    virtual=prepared.virtual,
                    pool=prepared.pool,
                    throttle=_limits(self._choices[role]),
                )
            )
        return described

    def draw_anew(self, seed: int, block: int) -> None:
        """Let the virtual disks draw what is a block's own from the next restore on.

        Blocks would otherwise repeat one sequence of draws, and be no measurements of their own. Within a
        block equal disks draw alike in all layouts, as the cells' clients do; two in one layout do not.
        """
        before: Counter[str] = Counter()
        for disk in self.disks():
            device = Path(disk.facts.device).name
            disk.seed = seed_of(seed, block, device, before[device])
            before[device] += 1

    def suit(self, page_bytes: int) -> None:
        """Suit the places to a server that reads and writes pages of this size, before a restore."""
        for place, _ in self._roles_by_place():
            place.suit(page_bytes)

    def notes(self) -> list[str]:
        """Say in words what the places chose for the server at hand."""
        notes = [note for place, _ in self._roles_by_place() for note in place.notes]
        return [*notes, self._throttled.note] if self._throttled else notes

    def throttle(self, processes: Callable[[], list[int]]) -> None:
        """Hold processes to the rates of the places; nothing where no place has any.

        They are asked for again until all are held: a server may fork between question and answer.
        """
        if self._throttled is None:
            return
        for _ in range(THROTTLE_LOOKS):
            missing = set(processes()) - self._throttled.holds()
            self._throttled.enter(missing)
            if not missing:
                break

    def watch_pools(self, log_folder: Path, starter: Starter) -> list[PoolWatch]:
        """Begin to watch what the pools say of their disks."""
        pools = {pool.name: pool for place, _ in self._roles_by_place() if (pool := place.pool)}
        return [
            PoolWatch(name, {member.device.name: member.part for member in pool.members}, log_folder, starter)
            for name, pool in pools.items()
        ]

    # ------------------------------------------------------------ the power cut

    def keeps_as(self, data_set: str) -> str:
        """Return the name under which places keep a data set of that name."""
        return f"{self.name}-{data_set}"

    def cut_disks(self) -> list[ServedDisk]:
        """Return the disks whose power can be cut."""
        return [disk for place in self._cut_places() for disk in place.disks]

    def cut_disks_of(self, role: Role) -> list[ServedDisk]:
        """Return the disks with a role's files whose power can be cut."""
        place = self._at[role]
        return list(place.disks) if place.loses_power else []

    def keeps(self, data_set: str) -> bool:
        """Tell whether every disk keeps a data set of that name."""
        return all(place.keeps(self.keeps_as(data_set)) for place in self._cut_places())

    def track(self, log_of: Callable[[ServedDisk], Path] | None) -> None:
        """Have the disks keep account, from the next restore on, of what a power cut can take.

        `log_of` names the file that each writes its requests to; without it they write none.
        """
        for disk in self.cut_disks():
            disk.tracking = Tracking(None if log_of is None else log_of(disk))

    def track_no_longer(self) -> None:
        """End all accounts."""
        for disk in self.cut_disks():
            disk.track_no_longer()

    def cut(self, how: PowerCut) -> list[tuple[ServedDisk, Facts]]:
        """Cut the power of all disks at once, and return what each was doing, the first one cut first.

        The requests go out one right after the other, in an order of this cut's own. Each disk's answer has
        its own moment (`at_monotonic_us`): what a later one still took was asked for by a server that could
        not know of the first. The longer that lasts, the likelier it is that an acknowledged commit was
        flushed meanwhile, which the cut would else have taken.
        """
        disks = self.cut_disks()
        random.Random(how.seed).shuffle(disks)  # noqa: S311 - an order
        cuts = [(disk, replace(how, seed=seed_of(how.seed, number))) for number, disk in enumerate(disks)]
        answers = list(zip(disks, cut_at_once(cuts), strict=True))
        return sorted(answers, key=lambda one: one[1]["at_monotonic_us"])

    def power_returns(self) -> None:
        """Let the power return to all disks, with nothing left of what the kernel held; none is mounted."""
        for place in self._cut_places():
            place.power_returns()

    def mount_again(self) -> None:
        """Mount what was cut; NotMountedError where a file system does not come up again."""
        for place in self._cut_places():
            place.mount_again()

    def export(self, data_set: str, to: Callable[[ServedDisk], Path]) -> None:
        """Copy each disk as it is kept with a data set to a sparse file; what lay there is given up."""
        for place in self._cut_places():
            for disk in place.disks:
                place.export(self.keeps_as(data_set), to(disk))

    def replay(self, files: Sequence[tuple[Path, Path]]) -> None:
        """Bring each disk to what a cut left of it, by its bytes before and its log; none is mounted then.

        DiskError where that is not what the log says.
        """
        disks = iter(files)
        for place in self._cut_places():
            for _ in place.disks:
                place.replay(*next(disks))

    def _cut_places(self) -> list[Prepared]:
        return [place for place, _ in self._roles_by_place() if place.loses_power]

    def _roles_by_place(self) -> list[tuple[Prepared, list[Role]]]:
        """Return every place once, with the roles that lie there."""
        once = {id(place): place for place in self._at.values()}
        return [(place, [role for role in ROLES if self._at[role] is place]) for place in once.values()]


def seed_of(*parts: object) -> int:
    """Return a seed of 53 bits, which every reader of JSON keeps, from what shall tell it from others."""
    digest = hashlib.sha256(json.dumps(parts).encode()).digest()
    return int.from_bytes(digest[:8]) >> 11


def _limits(choice: PlaceChoice) -> dict[str, int]:
    return choice.throttle.limits() if choice.throttle else {}


def _limits_by_disk(places: list[Place]) -> dict[str, dict[str, int]]:
    """Return the rates of every throttled disk; StorageError where a disk would have two."""
    limits: dict[str, dict[str, int]] = {}
    for place in places:
        if place.throttle and place.device is None:
            raise StorageError(
                f"storage `{place.storage}`: there is not exactly one disk below {place.path} "
                f"({place.filesystem}), so there is nothing to throttle; leave `throttle` out"
            )
        if place.device and limits.setdefault(place.device.name, place.throttle) != place.throttle:
            raise StorageError(
                f"storage `{place.storage}`: two of its places lie on {place.device.name}, and the server is "
                "held to rates of a whole disk; give both the same `throttle`"
            )
    return {disk: rates for disk, rates in limits.items() if rates}


def _device(mount: Mount, virtual: VirtualFacts | None) -> BlockDevice | None:
    """Describe the device below a mount; a loop device has no model but that of the disk it stands for."""
    device = block_device(mount)
    if device is None or virtual is None:
        return device
    return device.model_copy(update={"model": f"virtual: {virtual.title}"})
