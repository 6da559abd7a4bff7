"""Checks of a whole run's places: that storages are not one and the same, and that each was used."""

from collections.abc import Iterator

from diskproof.audit.check import NothingToCheckError, Run, Said, check, warning
from diskproof.audit.run import compared_cells
from diskproof.results.machine import Machine, Place
from diskproof.results.plan import Cell
from diskproof.results.record import NotRecordedError, Role
from diskproof.wording import Message, say

HELD_OPEN: tuple[Role, ...] = ("redo", "binlog")
"""Roles whose files a server holds open while it writes them; temporary files come and go."""


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


@check(
    "unused-place",
    reason="A place that the server never wrote to has no effect on the figures, whatever disk it lies on.",
    remedy="leave the role out of `[storages.NAME]`, or choose a server and a tuning that use it "
    "(`binlog` is written by the MySQL family alone, with `log_bin` on)",
    source="the kernel's list of the server's open files (/proc/PID/fd)",
)
def unused_place(run: Run) -> Iterator[Said]:
    """Find roles with a place of their own in which no trial of a cell held a file open."""
    unused: dict[tuple[Role, str, str], list[str]] = {}
    served = [cell for cell in run.plan.cells if cell.has_server]
    if not served:
        raise NothingToCheckError("no server: bare files lie with the data, and nowhere else")
    own = {cell.id: _own_places(run, cell) for cell in served}
    if not any(trial.open_files for cell in served for trial in run.trials_of(cell)):
        raise NotRecordedError("the server's open files")
    for cell in served:
        held = {file.role for trial in run.trials_of(cell) for file in trial.open_files}
        for role, path in own[cell.id] if held - {None} else ():
            if role not in held:
                unused.setdefault((role, path, cell.server), []).append(cell.id)
    for (role, path, server), cells in unused.items():
        yield warning(
            "`{server}` never wrote to the place of `{role}` ({path})",
            cells=cells,
            server=server,
            role=role,
            path=str(path),
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


def _own_places(run: Run, cell: Cell) -> dict[tuple[Role, str], None]:
    """Return the roles that must show an open file, as they do not lie with the data, and their paths."""
    found: dict[tuple[Role, str], None] = {}
    for machine in run.machines_of(cell):
        places = _places(machine, cell.storage)
        data = places.get("data")
        for role in HELD_OPEN:
            place = places.get(role)
            if data is not None and place is not None and place.path != data.path:
                found[role, place.path] = None
    return found
