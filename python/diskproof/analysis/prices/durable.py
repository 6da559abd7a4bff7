"""Whether the transactions of a cell would have outlived a power cut, as far as its record can tell."""

from collections.abc import Iterator

from diskproof.analysis.gather import Audited, Gathered
from diskproof.analysis.words import listed
from diskproof.results.machine import Machine, Place
from diskproof.results.plan import Cell
from diskproof.server.durability import at_risk, roles_needed


def why_not_durable(gathered: Gathered, machine: Machine | None, cell: Cell) -> str | None:
    """Return why acknowledged commits of a cell may be lost in a power cut, or None where nothing says so.

    What counts is what the running servers answered, where the files lay and what the checks found, not
    the tuning's name. That the disk keeps what it has flushed is taken on trust: only a power cut tells.
    """
    for one in gathered.valid(cell):
        reason = next(_reasons(one, machine, cell), None)
        if reason:
            return reason
    return None


def _reasons(one: Audited, machine: Machine | None, cell: Cell) -> Iterator[str]:
    if one.load.writes == 0:
        yield "nothing is committed: it only reads"
    server = (
        next((server for server in machine.servers if server.name == cell.server), None) if machine else None
    )
    if server is None:
        yield "what the server is was not recorded"
        return
    observed = {setting.name: setting.observed for setting in one.trial.settings}
    needed = roles_needed(server.family, observed)
    everywhere = one.trial.places or (machine.places if machine else [])
    places = [at for at in everywhere if at.storage == cell.storage and at.role in needed]
    if in_memory := [str(at.role) for at in places if _in_memory(at)]:
        yield f"main memory: {listed(in_memory)} lost with the power"
    if unflushed := [f"{at.role} (`{at.barriers_off}`)" for at in places if at.barriers_off]:
        yield f"commits may be lost: no flush reaches the disk of {listed(unflushed)}"
    engine = one.trial.data.engine if one.trial.data else None
    if server.family == "mysql" and engine and engine.lower() != "innodb":
        yield f"{engine} has no durable commits"
    loose = at_risk(server.family, observed)
    if loose:
        yield "commits may be lost: " + ", ".join(f"{name} is {value}" for name, value in loose.items())
    if any(found.check == "physics" and found.severity != "note" for found in one.findings):
        yield "commits may be lost: see the finding `physics`"


def _in_memory(place: Place) -> bool:
    return place.in_memory or (place.virtual is not None and place.virtual.model == "memory")
