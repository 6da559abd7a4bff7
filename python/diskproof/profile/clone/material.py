"""What a clone is made from: figures, and what the kernel reports of the disk."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diskproof import __version__
from diskproof.profile.clone.cells import is_too_short, observed, plan, wide_plan
from diskproof.profile.clone.kinds.spinning import FASTEST_US
from diskproof.profile.clone.sight import SMALL_BLOCK, Sight
from diskproof.profile.measure import Watcher, profile_of
from diskproof.profile.notes import first
from diskproof.profile.place import Wanted
from diskproof.profile.plan import Effort
from diskproof.results.profile import Profile, ProfilePlace
from diskproof.wording import Message, counted, say

WHOLE_DISK = 1 << 62
"""More bytes than any disk has: a block device is then taken as a whole."""


@dataclass(frozen=True)
class Material(Sight):
    """What a clone is made from."""

    name: str = ""
    how: str = ""
    """Who measured it, when and how: the description of the device file begins with it."""
    whole_disk: bool = False
    """Whether reads went over all of the disk."""
    notes: Sequence[Message] = ()
    profile: Profile | None = None
    longest_s: float = 0.0
    """Longest time for which one kind of request was measured; 0: not known."""

    def with_notes(self, notes: Sequence[Message]) -> "Material":
        """Return the same with these remarks before its own."""
        return replace(self, notes=[*notes, *self.notes])


def measure(wanted: Wanted, effort: Effort, watcher: Watcher) -> Material:
    """Measure a place with fio, and over the whole disk if an arm may move there."""
    found = profile_of(wanted, effort, lambda place: plan(place, effort), watcher)
    place, wide = found.place, False
    if place.mount_point is None and _may_have_an_arm(found):
        more = profile_of(wanted, effort, wide_plan, watcher)
        found, wide = found.model_copy(update={"cells": [*found.cells, *more.cells]}), True
    return material_of(found, whole_disk=wide)


def material_of(profile: Profile, *, whole_disk: bool) -> Material:
    """Return what a profile holds for a clone."""
    place = profile.place
    cells = profile.cells
    version, day = profile.fio_version, profile.started_at[:10]
    capacity_bytes, capacity_source = _capacity(place)
    notes = list(profile.notes)
    if short := [cell.probe.name for cell in cells if is_too_short(cell)]:
        notes.append(
            say(
                "{number} of {cells} do not count: the disk did not answer their queue a few times in the "
                "time; measure longer, with --seconds: {short:/, }",
                number=len(short),
                cells=counted(len(cells), "cell"),
                short=first(short),
            )
        )
    return Material(
        name=place.name,
        how=f"Measured with fio {version} by `diskproof disk clone` {__version__} on {day}.",
        observations=observed(cells, f"measured with fio {version}, {day}", profile.seconds_per_cell),
        capacity_bytes=capacity_bytes,
        capacity_source=capacity_source,
        sector_bytes=(place.device.logical_block_bytes if place.device else None) or 512,
        whole_disk=whole_disk,
        notes=notes,
        profile=profile,
        longest_s=profile.seconds_per_cell,
    )


def _may_have_an_arm(profile: Profile) -> bool:
    cell = next(iter(profile.measured("random-read", SMALL_BLOCK)), None)
    if cell is None or cell.requests is None:
        return False
    return cell.requests.percentiles_us.get("50", cell.requests.mean_us) > FASTEST_US


def _capacity(place: ProfilePlace) -> tuple[int, str]:
    if place.mount_point is None:
        return place.size_bytes, "measured: the size of the block device"
    if place.device and place.device.size_bytes:
        return place.device.size_bytes, "measured: the size of the device below the file system"
    return place.size_bytes, "measured: the bytes that were used; the device below is not known"
