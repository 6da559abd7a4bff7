"""The check of a whole run's places: that storages are not one and the same."""

from collections.abc import Iterator

from diskproof.audit.check import NothingToCheckError, Run, Said, check, warning
from diskproof.audit.run import compared_cells
from diskproof.results.machine import Machine, Place
from diskproof.results.record import Role
from diskproof.wording import Message, say


@check(
    "same-storage",
    reason="Two storages on the same file system cannot differ: any difference between them is chance.",
    remedy="mount the disk that one of them should lie on (`findmnt --target DIRECTORY` shows what is "
    "there), and run again; `places` in the run's machine.json says where each role lay",
    source="the device number of each place (stat(2)), read before the first trial",
    bars_from="warning",
)
def same_storage(run: Run) -> Iterator[Said]:
    """Find compared storages whose roles all lie on the same file systems, or all in memory."""
    pairs = [pair for factor, *pair in compared_cells(run.plan.cells) if factor == "storage"]
    if not pairs:
        raise NothingToCheckError("no two storages are compared")
    for cell, other in pairs:
        for machine in run.machines_of(cell):
            one, two = _places(machine, cell.storage), _places(machine, other.storage)
            if one and one.keys() == two.keys() and all(_alike(one[role], two[role]) for role in one):
                yield warning(
                    "storages `{one}` and `{other}` are one and the same: every role of both lies "
                    "{where:/ or }",
                    cells=(cell.id, other.id),
                    one=cell.storage,
                    other=other.storage,
                    where=_where(one),
                )


def _places(machine: Machine, storage: str) -> dict[Role, Place]:
    return {place.role: place for place in machine.places if place.storage == storage}


def _alike(one: Place, two: Place) -> bool:
    return one.device_number == two.device_number or (one.in_memory and two.in_memory)


def _where(places: dict[Role, Place]) -> list[Message]:
    """Return where the roles lie: ``on device 254:1 (ext4 on vda, mounted at /)``, ``in memory``."""
    return list(
        dict.fromkeys(
            say("in memory")
            if place.in_memory
            else say(
                "on device {number} ({filesystem}, mounted at {mount})",
                number=place.device_number,
                filesystem=f"{place.filesystem} on {place.device.name}" if place.device else place.filesystem,
                mount=str(place.mount_point),
            )
            for place in places.values()
        )
    )
