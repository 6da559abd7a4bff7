"""Checks over a whole run of its places: that storages are not one and the same, and that each took part."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Problem, Run, Said, Untold, check
from diskproof.audit.run import compared_cells
from diskproof.results.machine import Machine, Place
from diskproof.results.record import Role, recorded

HELD_OPEN: tuple[Role, ...] = ("redo", "binlog")
"""Roles whose files a server holds open for as long as it writes them; temporary files come and go."""


@check(
    "same-storage",
    reason="Two storages on one and the same file system cannot differ: "
    "what is found between them is chance.",
    remedy="mount the disk that one of them was to lie on, see `findmnt --target DIRECTORY`, "
    "and run again; `places` in the run's machine.json says where each role really lay",
    source="the device number of each place (stat(2)), read before the first trial",
    bars_from="warning",
)
def same_storage(run: Run) -> Iterator[Said]:
    """Find compared storages whose roles all lie on the same file systems, or all in memory."""
    pairs = [pair for factor, *pair in compared_cells(run.plan.cells) if factor == "storage"]
    if not pairs:
        yield Apart("no two storages are compared")
        return
    machine = recorded(run.machine, "where the storages lay")
    for cell, other in pairs:
        one, two = _places(machine, cell.storage), _places(machine, other.storage)
        if one and one.keys() == two.keys() and all(_alike(one[role], two[role]) for role in one):
            yield Problem(
                "warning",
                f"storages `{cell.storage}` and `{other.storage}` are one and the same: "
                f"every role of both lies {_where(one)}",
                cells=(cell.id, other.id),
            )


@check(
    "unused-place",
    reason="A place that the server never wrote to has no part in the figures, whatever disk it lies on.",
    remedy="leave the role out of `[storages.NAME]`, or take a server and a tuning that use it "
    "(`binlog` is written by the MySQL family alone, with `log_bin` on)",
    source="the kernel's list of the server's open files (/proc/PID/fd)",
)
def unused_place(run: Run) -> Iterator[Said]:
    """Find roles with a place of their own in which no trial of a cell ever held a file open."""
    unused: dict[tuple[Role, str, str], list[str]] = {}
    served = [cell for cell in run.plan.cells if cell.has_server]
    if not served:
        yield Apart("no server: bare files lie with the data, and nowhere else")
    elif run.machine is None:
        yield Untold("where the storages lay")
    elif not any(trial.open_files for cell in served for trial in run.trials_of(cell)):
        yield Untold("the server's open files")
    for cell in served:
        held = {file.role for trial in run.trials_of(cell) for file in trial.open_files}
        if run.machine is None or not held - {None}:
            continue
        for role, place in _own_places(_places(run.machine, cell.storage)):
            if role not in held:
                unused.setdefault((role, place.path, cell.server), []).append(cell.id)
    for (role, path, server), cells in unused.items():
        yield Problem(
            "warning",
            f"nothing was ever written to the place of `{role}` ({path}) by `{server}`",
            cells=tuple(cells),
        )


def _places(machine: Machine, storage: str) -> dict[Role, Place]:
    return {place.role: place for place in machine.places if place.storage == storage}


def _alike(one: Place, two: Place) -> bool:
    return one.device_number == two.device_number or (one.in_memory and two.in_memory)


def _where(places: dict[Role, Place]) -> str:
    """Say where the roles lie: ``on device 254:1 (ext4 on vda, mounted at /)``, or ``in memory``."""
    said = dict.fromkeys(
        "in memory"
        if place.in_memory
        else f"on device {place.device_number} ({place.filesystem}"
        f"{f' on {place.device.name}' if place.device else ''}, mounted at {place.mount_point})"
        for place in places.values()
    )
    return " or ".join(said)


def _own_places(places: dict[Role, Place]) -> Iterator[tuple[Role, Place]]:
    """Yield the roles that must show an open file, where they do not lie with the data."""
    data = places.get("data")
    for role in HELD_OPEN:
        place = places.get(role)
        if data is not None and place is not None and place.path != data.path:
            yield role, place
