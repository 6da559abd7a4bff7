"""What the names of storages and tuning levels stand for, in a few words each."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.families.facts import LEVELS, Level
from diskproof.results.factor import Factor, Levelled
from diskproof.results.machine import Machine, Place
from diskproof.wording import numbers

TUNINGS: dict[Level, str] = {
    "safest": "each commit waits until it is on the disk",
    "fast": "no commit waits, so a crash of the machine may lose the last ones",
    "unsafe": "a crash of the machine may destroy the database",
}


def names(analysis: Analysis) -> str:
    """Return what the storages and tuning levels are; of one alone, nothing needs to be told apart."""
    crash = analysis.plan.crash
    cells: list[Levelled] = [*analysis.plan.cells, *(crash.cells if crash else [])]

    def levels(factor: Factor) -> Sequence[str]:
        found = list(dict.fromkeys(one.level(factor) for one in cells))
        return found if len(found) > 1 else ()

    storages = list(_storages(analysis.machine, levels("storage")))
    tunings = [f"{name} = {TUNINGS[name]}" for name in LEVELS if name in levels("tuning")]
    said = "; ".join([*storages, *tunings])
    return f"{said}." if said else ""


def _storages(machine: Machine | None, names: Sequence[str]) -> Iterator[str]:
    data = {one.storage: one for one in (machine.places if machine else []) if one.role == "data"}
    for name in names:
        if name in data:
            yield f"{name} = {_place(data[name])}"


def _place(place: Place) -> str:
    on = f" on {place.device.name}" if place.device else ""
    if place.in_memory:
        return "main memory"
    if place.virtual:
        ignored = ", which answers flushes without doing them" if place.virtual.flushes_ignored else ""
        return f"a virtual disk, `{place.virtual.device}`{ignored}"
    if place.pool:
        return f"a ZFS pool of {numbers.count(len(place.pool.members), 'disk')}"
    return f"a directory{on}" if place.kind == "directory" else f"{place.filesystem}{on}"
