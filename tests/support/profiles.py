"""A real directory profiled with a real fio, as short as can be."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from diskproof.profile.measure import profile
from diskproof.profile.place import Wanted
from diskproof.profile.plan import QUICK
from diskproof.results.profile import Probe, Profile, ProfileCell
from diskproof.system.undoing import Undone

SIZE_BYTES = 32 * 2**20
EFFORT = replace(QUICK, seconds=0.05, ramp_s=0.01, depths=(1, 8), size_bytes=SIZE_BYTES)


class Ear:
    """Remembers what a watcher hears."""

    def __init__(self) -> None:
        self.planned: list[Probe] = []
        self.begun: list[Probe] = []
        self.ended: list[ProfileCell] = []
        self.lefts: list[float] = []
        self.stuck: list[Undone] = []

    def begins(self, probes: Sequence[Probe], left_s: float) -> None:
        self.planned = list(probes)
        self.lefts.append(left_s)

    def cell_begins(self, probe: Probe, left_s: float) -> None:
        self.begun.append(probe)
        self.lefts.append(left_s)

    def cell_ends(self, cell: ProfileCell) -> None:
        self.ended.append(cell)

    def left_behind(self, undone: Undone) -> None:
        self.stuck.append(undone)


def make_profile(place: Path, *only: str, ear: Ear | None = None, write: Path | None = None) -> Profile:
    """Measure a place, briefly; the state directory is the environment's."""
    wanted = Wanted(str(place), SIZE_BYTES, str(write) if write else None)
    return profile(wanted, EFFORT, only, ear or Ear())
