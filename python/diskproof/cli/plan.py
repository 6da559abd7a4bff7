"""`diskproof plan`: the cells, their order, the time, the bytes to be written."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from diskproof import disk
from diskproof.cli.runnable import WHOLE_TIMED, TimedChoice
from diskproof.cli.screen import results, say
from diskproof.results.crash import WAYS
from diskproof.results.plan import Cuts, Plan
from diskproof.run.capacity import check_room, disk_limits
from diskproof.run.cut_rights import check_may_cut
from diskproof.run.dataset import IMAGES
from diskproof.run.rehearsal import check
from diskproof.run.slower import check_slower
from diskproof.server.base import ServerKind, ServerNotFoundError
from diskproof.server.choice import find_chosen
from diskproof.storage.kinds.base import nearest
from diskproof.study.loads.own_data import OwnData
from diskproof.study.model import Study
from diskproof.study.plan import loading_seconds, placed
from diskproof.study.read import StudyFile
from diskproof.study.servers import THEIRS
from diskproof.system.cpus import divide
from diskproof.system.dilation import TrialTime
from diskproof.system.mounts import mount_of
from diskproof.wording import numbers
from diskproof.wording.numbers import duration

if TYPE_CHECKING:
    from diskproof.server.given import GivenServer


def plan(
    study: Path,
    /,
    *,
    choice: TimedChoice = WHOLE_TIMED,
) -> None:
    """Show a study's cells, their order, the time it takes and the bytes it writes.

    Parameters
    ----------
    study
        The study file.

    """
    file = choice.read(study)
    made = choice.plan(file)
    whole = made if choice.hosts else check_as_run(file, made, choice.out)
    results.print(made.question)
    if made.scale:
        results.print(f"scale {made.scale.name}: {made.scale.shrinks}")
    said = ""
    if made.cells:
        results.print(_cell_table(made))
        further = ""
        if made.at_most_s is not None:
            further += f", then further blocks of open verdicts, {duration(made.at_most_s)} at most"
        if made.load_hosts:
            further += f"; on host {made.hosts[0]}, with the load on {', '.join(made.load_hosts)}"
        elif made.hosts:
            further += f"; on {numbers.count(len(made.hosts), 'host')} at once"
        if made.dilation > 1:
            further += f", time {made.dilation} times slower"
        said = (
            f"{numbers.count(len(made.cells), 'cell')} x {numbers.count(len(made.blocks()), 'block')} = "
            f"{numbers.count(len(made.trials), 'trial')}; "
            f"about {duration(made.estimated_s)}{further}; "
        )
    if made.crash:
        results.print(_cut_table(made.crash))
        results.print(_cuts_in_words(made.crash))
    if not choice.hosts:
        for line in _where(file.study, whole):
            results.print(line, markup=False)
        for line in _too_fast(file.study, whole):
            say(line)
    if choice.hosts:
        for line in _not_sent(file.study):
            results.print(line, markup=False)
    said += _written(file.study, placed(file.study, whole), given=_loaded(file.study, whole))
    results.print(f"{said} (order from seed {made.seed})")


def _not_sent(study: Study) -> Iterator[str]:
    """Yield which dumps each host must have: no run keeps a copy of one that large."""
    for name, workload in study.workloads.items():
        if isinstance(workload, OwnData) and workload.prepare and not workload.prepare.is_kept:
            yield (
                f"workload `{name}`: {workload.prepare.path} is too large to be sent to the hosts: put it on "
                "each of them at this path, and name it by this path in the study"
            )


def _too_fast(study: Study, made: Plan) -> Iterator[str]:
    """Yield which virtual disks are faster than this machine is now; `run` measures that again."""
    used = dict.fromkeys(cell.storage for cell in made.every_cell)
    places = [place for storage in used for place in study.places(storage).values()]
    devices = dict.fromkeys(one.virtual for one in places if one.virtual and not one.below_floor)
    floor_us = disk.floor_us() if devices else 0.0
    for device in devices:
        if (read := disk.read_us(device)) < floor_us / study.design.slower:
            error = disk.TooFastError(device, read, floor_us)
            yield f"`run` would stop now: {error.saying('`below_floor = true`')}"


def check_as_run(file: StudyFile, made: Plan, out: Path) -> Plan:
    """Refuse what `run` would; return the plan with the cells that are cut among the others."""
    check_may_cut(made)
    study, whole = file.study, made.with_every_cell()
    here = placed(study, whole)
    if whole.cpus:
        divide(whole.cpus)
    servers = _found_servers(study, here)
    check_slower(TrialTime(whole.dilation, whole.cpus_count), servers.values())
    images = out.absolute() / IMAGES
    for note in check(file, whole, servers, _given(study, whole), images):
        say(note)
    check_room(study, here, servers, images)
    disk_limits(study, here)
    return whole


def _cuts_in_words(crash: Cuts) -> str:
    """Say how many cuts there are, how long they take, and where the power is not cut."""
    # They load slowly, and most studies cut nothing.
    from diskproof.analysis.safety.controls import unasked_controls  # noqa: PLC0415
    from diskproof.report.compose.cut_words import unasked  # noqa: PLC0415

    cuts, seconds = len(crash.trials), crash.estimated_s
    at_once = "" if crash.at_once == 1 else f", {crash.at_once} at once"
    said = [f"{crash.cuts} of each in each way = {cuts} cuts{at_once}; about {duration(seconds)}"]
    reasons: dict[str, list[str]] = {}
    for cell in crash.cells:
        if cell.storage in crash.unverified:
            reasons.setdefault(crash.unverified[cell.storage], []).append(cell.id)
    said += [f"only killed: {', '.join(cells)}: {reason}" for reason, cells in reasons.items()]
    if missed := unasked_controls(crash):
        are = "control is" if len(missed) == 1 else "controls are"
        said.append(f"{len(missed)} {are} not tested: {'; '.join(map(unasked, missed))}")
    return "\n".join(said)


def _cut_table(crash: Cuts) -> Table:
    """Return a table of the cells that are cut, and how often in which way."""
    table = Table(box=None, pad_edge=False)
    table.add_column("cell that is cut", overflow="fold")
    ways = [way for way in WAYS if any(way == dying for _, dying in crash.deaths)]
    for way in ways:
        table.add_column(way, justify="right")
    for cell in crash.cells:
        table.add_row(cell.id, *(str(crash.cuts) if (cell, way) in crash.deaths else "-" for way in ways))
    return table


def _loaded(study: Study, made: Plan) -> str:
    """Say what the servers get that are there already; nothing if there are none."""
    cells = {cell.id: cell for cell in made.cells}
    seconds = loading_seconds(study, [cells[trial.cell] for trial in made.trials])
    used = dict.fromkeys(cell.server for cell in made.cells if cell.storage == THEIRS)
    given = [name for name in used if not study.servers[name].read_only]
    return f"loading data into {' and '.join(given)} takes about {duration(seconds)} of that" if given else ""


def _written(study: Study, made: Plan, given: str) -> str:
    """Say what the user's disks get, and what is held in memory instead."""
    if not made.cells:
        return given or "nothing is written"
    used = dict.fromkeys(cell.storage for cell in made.cells)
    choices = [choice for name in used for choice in study.places(name).values()]
    written = made.estimated_bytes + (made.crash.estimated_bytes if made.crash else 0)
    if written or not all(choice.in_memory for choice in choices):
        return f"about {numbers.size(written)} written to storage{given and f'; {given}'}"
    holder = "virtual disks" if any(choice.virtual_disks for choice in choices) else "storage in memory"
    held = sum(_held_bytes(study, made, name) for name in used)
    sets = {(cell.server, cell.workload) for cell in made.cells if cell.has_server}
    # A program of the user's own makes its data itself.
    images = 0 if study.program else sum(study.load(workload).data_bytes for _, workload in sets)
    kept = [f"data sets of about {numbers.size(images)}, once, below --out"] if images else []
    if made.crash and any(cut.way != "kill" for cut in made.crash.trials):
        kept.append("the log of each cut's requests, which is kept only if the cut did harm")
    but = f" but {', and '.join(kept)}" if kept else ""
    return (
        f"nothing is written to your own disks{but}; {holder} will hold about {numbers.size(held)} in memory"
        f"{given and f'; {given}'}"
    )


def _held_bytes(study: Study, made: Plan, storage: str) -> int:
    """Return the data that a storage in memory holds: every set if it keeps them, else the largest."""
    sets = {(cell.server, cell.workload) for cell in made.cells if cell.storage == storage}
    if study.data_place(storage).keeps_data_sets:
        return sum(study.load(workload).held_bytes for _, workload in sets)
    return max(study.load(workload).data_bytes for _, workload in sets)


def _given(study: Study, made: Plan) -> "dict[str, GivenServer]":
    """Return the servers that are there already, each with a connection that was made."""
    used = dict.fromkeys(cell.server for cell in made.cells if cell.has_server)
    names = [name for name in used if study.servers[name].is_given]
    if not names:
        return {}
    from diskproof.server.given import find_given  # noqa: PLC0415 - it loads a driver

    return {name: find_given(name, study.servers[name]) for name in names}


def _found_servers(study: Study, made: Plan) -> dict[str, ServerKind]:
    """Return the servers that are installed; say which are not."""
    found = {}
    for name in dict.fromkeys(cell.server for cell in made.cells if cell.has_server):
        try:
            found[name] = find_chosen(name, study.servers[name], study.program)
        except ServerNotFoundError as error:
            if study.servers[name].basedir is not None or study.servers[name].image is not None:
                raise
            say(f"server `{name}`: {error}")
    return found


def _where(study: Study, made: Plan) -> list[str]:
    """Say on which file system each directory lies: one that is not mounted shows at once."""
    on: dict[str, list[str]] = {}
    for name in dict.fromkeys(cell.storage for cell in made.cells):
        for role, choice in study.places(name).items():
            if choice.directory is not None and (role == "data" or choice != study.data_place(name)):
                mount = mount_of(nearest(choice.directory.expanduser()))
                where = f"{mount.mount_point} ({mount.filesystem}, {mount.source})"
                on.setdefault(where, []).append(name if role == "data" else f"{role} of {name}")
    return [f"on {where}: {', '.join(names)}" for where, names in on.items()]


def _cell_table(made: Plan) -> Table:
    """Return a table of the cells with the position that each has in every block."""
    positions = {(trial.block, trial.cell): trial.position for trial in made.trials}
    table = Table(box=None, pad_edge=False)
    table.add_column("cell", overflow="fold")
    shown = made.blocks()[:10]  # more columns than that say nothing more about the order
    for block in shown:
        table.add_column(f"block {block}" if block == 1 else str(block), justify="right")
    for cell in made.cells:
        table.add_row(cell.id, *(str(positions[block, cell.id]) for block in shown))
    return table
