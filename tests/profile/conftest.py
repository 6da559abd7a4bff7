"""A profile of a real directory, made once with fio; and one made up, for what a real one cannot show."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from diskproof.profile.measure import Order, profile
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


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Profile, Ear, Path]:
    """Return a profile of a directory with all kinds of cell, who watched it, and the directory."""
    folder = tmp_path_factory.mktemp("place")
    ear = Ear()
    patch = pytest.MonkeyPatch()
    patch.setenv("DISKPROOF_STATE", str(tmp_path_factory.mktemp("state")))
    try:
        made = profile(Order(Wanted(str(folder), SIZE_BYTES), EFFORT), ear)
    finally:
        patch.undo()
    return made, ear, folder
